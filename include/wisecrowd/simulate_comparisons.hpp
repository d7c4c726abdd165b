#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "wisecrowd/comparison_data.hpp"
#include "wisecrowd/parameters.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

struct ComparisonSimulationSize {
  std::size_t items = 50;
  std::size_t pairs = 1000;  ///< drawn at random, perhaps the same two items again
  std::size_t workers = 40;
  std::size_t answers_per_pair = 5;
};

/// Comparisons of items whose scores are known, and how they were made.
struct ComparisonSimulation {
  ComparisonData data;                   ///< answers, outcomes of pairs by the scores, and the scores as gold of items
  std::vector<double> reliability;       ///< one per worker
  std::vector<std::string> worker_kind;  ///< "honest", "adversary" or "one-sided"

  ComparisonSimulationSize size;
  std::vector<std::pair<std::string, ParameterValue>> parameters;
  std::uint64_t seed = 0;
  Status status = Status::converged;  ///< or cancelled: then data are empty
};

/// The name of this kind of simulation on the command line, what it draws, and its parameters.
inline constexpr const char* kComparisonSimulation = "compared_items";
[[nodiscard]] std::string comparison_simulation_summary();
[[nodiscard]] const std::vector<ParameterSpec>& comparison_simulation_parameters();

/// Scores are normal; honest workers follow them with a reliability of their own, adversaries say the opposite,
/// one-sided ones name the left item; ties are likelier between items that are close. The same size, parameters and
/// seed give the same crowd, whatever the number of threads.
[[nodiscard]] ComparisonSimulation simulate_comparisons(const ComparisonSimulationSize& size,
                                                        const Parameters& parameters, const RunContext& context);

}  // namespace wisecrowd
