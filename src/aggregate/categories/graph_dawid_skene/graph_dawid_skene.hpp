#pragma once

#include "aggregate/categories/shared/confusion_em.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::graph_dawid_skene {

struct Options {
  enum class Inference { mean_field, bp };

  double strength = -1;  ///< δ; −1: learned by pseudo-likelihood
  bool normalise_weights = true;
  Inference inference = Inference::mean_field;
  std::size_t sweeps = 20;
  double pseudo_count = 0.01;
  bool learn_class_prior = false;
  std::size_t max_iterations = 300;
  double tolerance = 1e-4;  ///< stop when no probability moves by more
  TieRule ties = TieRule::lowest;
};

/// Dawid and Skene's model where neighbours in a graph of tasks are likely to have the same truth.
class GraphDawidSkene final : public CategoryAggregator {
 public:
  explicit GraphDawidSkene(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::graph_dawid_skene
