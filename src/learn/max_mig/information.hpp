#pragma once

#include <span>

#include "learn/shared/answer_model.hpp"

namespace wisecrowd::max_mig {

/// How far the joint law of two forecasts lies from the product of their laws.
enum class Divergence { kl, pearson, js };

/// The information that two forecasts f (from the row) and g (from the answers) share, for a prior of the classes: with
/// S = Σ_k f_k g_k / π_k, the mean of on_pair(S) where f and g speak of the same task, less the mean of on_product(S)
/// where they speak of two. It never exceeds the f-mutual information of rows and answers; exact posteriors attain it.
[[nodiscard]] double on_pair(Divergence divergence, double ratio);
[[nodiscard]] double on_product(Divergence divergence, double ratio);

/// Minus the information in a batch of at least two tasks (rows of f and g), and its gradients at f and g, which are
/// overwritten. O(BK) for kl, O(BK²) for pearson, O(B²K) for js.
double information_loss(Divergence divergence, MatrixView<const double> f, MatrixView<const double> g,
                        std::span<const double> prior, MatrixView<double> f_gradients, MatrixView<double> g_gradients);

}  // namespace wisecrowd::max_mig
