#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "wisecrowd/comparison_fit.hpp"
#include "wisecrowd/features.hpp"
#include "wisecrowd/learn.hpp"
#include "wisecrowd/learn_numbers.hpp"

namespace wisecrowd {

/// How a network learns scores from comparisons.
struct ComparisonLearningOptions {
  std::size_t epochs = 100;
  std::size_t batch = 64;                      ///< comparisons per step
  double learning_rate = 1e-3;                 ///< of Adam
  double weight_decay = 1e-4;                  ///< added to the gradient: weight_decay · w
  bool reliability = true;                     ///< workers differ; without, every answer counts alike
  double prior_right = 10, prior_wrong = 1.5;  ///< Beta distribution of a worker's reliability beforehand
  double hidden_share = 0.1;                   ///< of the pairs; the epoch is chosen by them
};

/// Its name, under which such a run is recorded, what it is, and the parameters of the above.
[[nodiscard]] const LearnerInfo& comparison_learner();
[[nodiscard]] ComparisonLearningOptions comparison_learning_options(const Parameters& parameters);

struct ComparisonLearned {
  /// Scores of the compared items, with mean 0; reliabilities of the workers. A network does not say how far a score
  /// is off: deviations and intervals are NaN, and any rank is possible.
  ComparisonFit fit;
  std::vector<double> row_score;            ///< of every row, compared or not, on the same scale
  std::shared_ptr<const Regressor> scorer;  ///< gives scores to more rows
  std::size_t epochs = 0;                   ///< that were tried
  std::size_t chosen_epoch = 0;             ///< from 1
};

/// Trains a network s(x) on comparisons: worker j names the first of two items with probability
/// om σ(d) + (1 − om) σ(−d), d = s(x) − s(x') and om = its reliability; a tie is half a win for each. Every compared
/// item needs a row.
[[nodiscard]] ComparisonLearned learn_comparisons(const ComparisonData& data, const Features& features,
                                                  const FeatureRecipe& recipe,
                                                  std::span<const std::uint32_t> row_of_item,
                                                  const NetworkSpec& network, const ComparisonLearningOptions& options,
                                                  const RunContext& context);

}  // namespace wisecrowd
