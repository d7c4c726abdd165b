#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "wisecrowd/parameters.hpp"
#include "wisecrowd/run_context.hpp"
#include "wisecrowd/set_data.hpp"

namespace wisecrowd {

struct SetSimulationSize {
  std::size_t tasks = 1000;
  std::size_t workers = 50;
  std::size_t answers_per_task = 5;
  std::size_t classes = 10;
};

/// Answers that are sets of classes, whose truth is known, and how they were made.
struct SetSimulation {
  SetData data;                          ///< answers, and the gold of every task
  std::vector<double> sensitivity;       ///< workers × classes
  std::vector<double> specificity;       ///< workers × classes
  std::vector<std::string> worker_kind;  ///< "honest" or "guesser"

  SetSimulationSize size;
  std::vector<std::pair<std::string, ParameterValue>> parameters;
  std::uint64_t seed = 0;
  Status status = Status::converged;  ///< or cancelled: then data are empty
};

/// The name of this kind of simulation on the command line, what it draws, and its parameters.
inline constexpr const char* kSetSimulation = "profile_sets";
[[nodiscard]] std::string set_simulation_summary();
[[nodiscard]] const std::vector<ParameterSpec>& set_simulation_parameters();

/// Tasks fall into profiles, in each of which other classes are frequent, so that classes occur together. A worker
/// names a true class with its sensitivity and leaves out another with its specificity; guessers name classes whatever
/// the task. The same size, parameters and seed give the same crowd, whatever the number of threads.
[[nodiscard]] SetSimulation simulate_sets(const SetSimulationSize& size, const Parameters& parameters,
                                          const RunContext& context);

}  // namespace wisecrowd
