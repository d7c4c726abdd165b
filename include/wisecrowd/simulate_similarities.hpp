#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "wisecrowd/parameters.hpp"
#include "wisecrowd/run_context.hpp"
#include "wisecrowd/similarity_data.hpp"

namespace wisecrowd {

struct SimilaritySimulationSize {
  std::size_t items = 500;
  std::size_t workers = 30;
  std::size_t clusters = 5;
  std::size_t answers_per_item = 100;  ///< in the mean: each answer is about two items
};

/// Answers that say same or different, whose truth is known, and how they were made.
struct SimilaritySimulation {
  SimilarityData data;                              ///< answers, and the cluster of every item
  std::vector<double> false_different, false_same;  ///< per worker
  std::vector<std::string> worker_kind;             ///< "honest" or "guesser"

  SimilaritySimulationSize size;
  std::vector<std::pair<std::string, ParameterValue>> parameters;
  std::uint64_t seed = 0;
  Status status = Status::converged;  ///< or cancelled: then data are empty
};

/// The name of this kind of simulation on the command line, what it draws, and its parameters.
inline constexpr const char* kSimilaritySimulation = "noisy_clusters";
[[nodiscard]] std::string similarity_simulation_summary();
[[nodiscard]] const std::vector<ParameterSpec>& similarity_simulation_parameters();

/// Items belong to clusters; pairs and workers are drawn at random, and a worker errs at rates of its own. With
/// `given`, items and their clusters are those of its gold, and `size` says the rest. The same size, parameters and
/// seed give the same crowd, whatever the number of threads.
[[nodiscard]] SimilaritySimulation simulate_similarities(const SimilaritySimulationSize& size,
                                                         const Parameters& parameters, const RunContext& context,
                                                         const SimilarityData* given = nullptr);

}  // namespace wisecrowd
