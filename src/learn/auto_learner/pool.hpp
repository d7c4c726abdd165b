#pragma once

#include <span>
#include <vector>

#include "learn/shared/training_set.hpp"
#include "wisecrowd/network_spec.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd::auto_learner {

/// A judge of classifiers that needs no gold and no tables of theirs: what all answers to a task say of it, without its
/// features.
class CrowdJudge {
 public:
  /// `hidden` are tasks of `all` by their number in the data.
  CrowdJudge(const TrainingSet& all, std::span<const TaskId> hidden, const RunContext& context);
  /// Per hidden task Σ_k f_k g_k/π_k: how much likelier these answers are given what the classifier says of the row
  /// than without. `probabilities` is hidden tasks × classes.
  [[nodiscard]] std::vector<double> ratios(std::span<const double> probabilities) const;

 private:
  std::size_t classes_ = 0;
  std::vector<double> weights_;  ///< g_k/π_k, hidden tasks × classes
};

/// Weights of members in a mixture that makes the answers to hidden tasks likeliest (by EM), each with `prior` tasks
/// that speak for it beforehand. They sum to 1.
[[nodiscard]] std::vector<double> mixture_weights(std::span<const std::vector<double>> ratios, double prior);

/// A fully connected network of the pool.
struct DensePart {
  std::span<const float> weights;     ///< layer by layer: weights (inputs × outputs, row-major), then biases
  std::vector<std::size_t> class_of;  ///< of each output
  double weight = 1;
};

/// Whether several such networks can be written as one.
[[nodiscard]] bool can_merge(const NetworkSpec& network, std::size_t members);
/// `network` made wide enough for so many.
[[nodiscard]] NetworkSpec wide(NetworkSpec network, std::size_t members);
/// The numbers of one network whose outputs are the weighted sum of what all of them give: the hidden layers side by
/// side.
[[nodiscard]] std::vector<float> merged(std::span<const DensePart> parts, const NetworkSpec& network,
                                        std::size_t inputs, std::size_t classes);

}  // namespace wisecrowd::auto_learner
