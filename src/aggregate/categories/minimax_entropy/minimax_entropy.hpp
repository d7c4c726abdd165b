#pragma once

#include "aggregate/categories/shared/decision.hpp"
#include "aggregate/categories/shared/softmax_tables.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::minimax_entropy {

struct Options {
  TableForm form = TableForm::categorical;
  Decision decision = Decision::mode;
  double worker_penalty = 0;  ///< λ_w; 0 stands for K²/4
  double task_penalty = 0;    ///< λ_t; 0 stands for λ_w × tasks / workers
  bool learn_class_prior = false;
  std::size_t max_iterations = 50;
  double tolerance = 5e-3;  ///< stop when no probability moves by more
  TieRule ties = TieRule::lowest;
};

/// Minimax conditional entropy: an answer depends on a table of the worker and a table of the task.
class MinimaxEntropy final : public CategoryAggregator {
 public:
  explicit MinimaxEntropy(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::minimax_entropy
