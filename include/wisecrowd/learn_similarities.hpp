#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wisecrowd/features.hpp"
#include "wisecrowd/learn.hpp"
#include "wisecrowd/similarity_fit.hpp"

namespace wisecrowd {

/// How networks learn clusters from pairs.
struct SimilarityLearningOptions {
  std::size_t clusters = 10;    ///< outputs of the networks; some may stay unused
  std::size_t rounds = 40;      ///< of networks and beliefs by turns, at most
  std::size_t epochs = 10;      ///< passes over the items, of each network of a round
  double learning_rate = 1e-3;  ///< of Adam
  std::size_t restarts = 3;
  std::size_t start_steps = 700;  ///< by which the network of a start is trained on the answers alone
  std::size_t batch = 256;        ///< answers per step of a start
  double collapse_penalty = 0.02;  ///< weight of −ln det of the mean of f fᵀ, which keeps outputs from being all alike
  double hidden_share = 0.1;       ///< of the pairs; round, start and whether features help are judged by them
};

/// Its name, under which such a run is recorded, what it is, and the parameters of the above.
[[nodiscard]] const LearnerInfo& similarity_learner();
[[nodiscard]] SimilarityLearningOptions similarity_learning_options(const Parameters& parameters);

struct SimilarityLearned {
  SimilarityFit fit;
  std::vector<double> row_probabilities;  ///< rows × clusters, in the order of fit.cluster_names
  std::size_t chosen_round = 0;           ///< from 1
  bool by_features = true;                ///< false where answers alone foretell hidden pairs better
};

/// Clusters of items from answers that say same or different, and from what is known of each item. Networks learn to
/// tell an item's cluster from its features; what they say of items that they were not trained on is the prior with
/// which the answers are weighed, through each worker's error rates; the beliefs that follow train the next networks.
/// Where the default method for answers alone foretells hidden pairs better, its clusters are the result.
[[nodiscard]] SimilarityLearned learn_similarities(const SimilarityData& data, const Features& features,
                                                   std::span<const std::uint32_t> row_of_item,
                                                   const NetworkSpec& network, const SimilarityLearningOptions& options,
                                                   const RunContext& context);

}  // namespace wisecrowd
