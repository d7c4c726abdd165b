#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/dataset.hpp"
#include "wisecrowd/parameters.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// A kind of simulated crowd and its own parameters.
struct SimulationInfo {
  std::string name;  ///< as on the command line
  std::string summary;
  std::vector<ParameterSpec> parameters;
};

struct SimulationSize {
  std::size_t tasks = 1000;
  std::size_t workers = 50;
  std::size_t classes = 2;
  std::size_t answers_per_task = 5;
};

/// A crowd whose truth is known.
struct Simulation {
  Dataset data;                          ///< answers and the gold of every task
  std::vector<double> class_prior;       ///< the one that drew the truth
  std::vector<double> confusion;         ///< workers × truth × label: the true tables
  std::vector<std::string> worker_kind;  ///< "honest", "spammer", "copy of w3", …
};

[[nodiscard]] std::span<const SimulationInfo> simulation_kinds();
/// Throws bad_parameter that lists the candidates when there is no such kind.
[[nodiscard]] const SimulationInfo& simulation_kind(std::string_view name);

/// Draws a crowd. The same kind, size, parameters and seed give the same crowd, whatever the number of threads.
[[nodiscard]] Simulation simulate(std::string_view kind, const SimulationSize& size, const Parameters& parameters,
                                  const RunContext& context);

}  // namespace wisecrowd
