#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wisecrowd/features.hpp"
#include "wisecrowd/learn.hpp"
#include "wisecrowd/similarity_fit.hpp"

namespace wisecrowd {

/// How a network learns clusters from pairs.
struct SimilarityLearningOptions {
  std::size_t clusters = 10;  ///< outputs of the network; some may stay unused
  std::size_t epochs = 30;
  std::size_t batch = 256;         ///< answers per step
  double learning_rate = 1e-3;     ///< of Adam
  double collapse_penalty = 0.02;  ///< weight of −ln det of the mean of f fᵀ, which keeps outputs from being all alike
  std::size_t restarts = 3;
  double hidden_share = 0.1;  ///< of the pairs; epoch and restart are chosen by them
};

/// The parameters of the above, for the command line.
[[nodiscard]] const std::vector<ParameterSpec>& similarity_learning_parameters();
[[nodiscard]] SimilarityLearningOptions similarity_learning_options(const Parameters& parameters);

/// The name under which such a run is recorded.
inline constexpr const char* kPairNetwork = "pair_network";

struct SimilarityLearned {
  SimilarityFit fit;
  std::vector<double> row_probabilities;  ///< rows × clusters, in the order of fit.cluster_names
  std::size_t chosen_epoch = 0;           ///< from 1
};

/// Trains a network f on answers that say same or different: P(same) = f(x_i) · f(x_i'), seen through each worker's
/// error rates. Items without a row (kNoRow) take no part; they get the cluster that most items have.
[[nodiscard]] SimilarityLearned learn_similarities(const SimilarityData& data, const Features& features,
                                                   std::span<const std::uint32_t> row_of_item,
                                                   const NetworkSpec& network, const SimilarityLearningOptions& options,
                                                   const RunContext& context);

}  // namespace wisecrowd
