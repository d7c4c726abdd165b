#pragma once

#include <vector>

#include "aggregate/categories/bp/accuracy_prior.hpp"
#include "aggregate/categories/bp/worker_messages.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::bp {

struct Options {
  enum class Model { one_coin, two_coin, tables };
  enum class Messages { quadrature, recursion, division, particles };
  enum class ClassPrior { uniform, learned };

  Model model = Model::one_coin;
  Messages messages = Messages::quadrature;
  AccuracyPrior accuracy_prior = beta_prior(2, 1);  ///< one_coin
  bool guess_by_class_count = false;  ///< the last part of the prior is a point at 1/K, whatever K the data have
  TablePrior table_prior;             ///< two_coin and tables
  std::size_t particles = 400;
  double damping = 0;
  ClassPrior class_prior = ClassPrior::uniform;
  std::size_t max_iterations = 100;
  double tolerance = 1e-4;
  TieRule ties = TieRule::lowest;
};

/// What is known of a worker in the end: mean, standard deviation and central 95% of its accuracy.
struct WorkerBelief {
  double mean = 0;
  double deviation = 0;
  double low = 0;
  double high = 1;
};

/// Sum–product on the graph of tasks and workers, workers integrated out.
class BeliefPropagation final : public CategoryAggregator {
 public:
  explicit BeliefPropagation(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;
  /// The same; with one coin, `workers` is filled too.
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context, const CategoryStart& start,
                                std::vector<WorkerBelief>& workers) const;

 private:
  Options options_;
};

}  // namespace wisecrowd::bp
