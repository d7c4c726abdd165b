#pragma once

#include "aggregate/categories/shared/moments.hpp"
#include "aggregate/categories/shared/table_model.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::cnmf {

enum class Solver { em, mirror_descent };
enum class Weights {
  tasks,  ///< a pair counts as much as it has common tasks: a composite likelihood
  equal,  ///< every pair counts the same, as in the paper
};
enum class Begin { multispa, votes, random };

struct SolverOptions {
  Solver solver = Solver::em;
  Weights weights = Weights::tasks;
  std::size_t max_iterations = 500;
  double tolerance = 1e-7;
  double pseudo_count = 0.1;
};

struct Path {
  std::vector<double> trace;  ///< Σ_pairs w Σ R log model, plus the pseudo-counts' part
  Status status = Status::iteration_limit;
  double divergence = 0;  ///< Σ_pairs w KL(R ‖ model) / Σ w at the end
};

/// Moves the model to a local minimum of Σ_pairs w KL(R_jj' ‖ th_jᵀ D th_j'). The tables of a gold worker stay.
Path factorise(const PairMoments& pairs, const RunContext& context, TableModel& model, const SolverOptions& options);

struct Options {
  SolverOptions solver;
  std::size_t min_common = 0;
  Begin start = Begin::multispa;
  double column_shrinkage = 2;
  TieRule ties = TieRule::lowest;
};

/// Coupled non-negative factorisation of all pairs of workers under the Kullback–Leibler divergence.
class Cnmf final : public CategoryAggregator {
 public:
  explicit Cnmf(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::cnmf
