#pragma once

#include "aggregate/categories/shared/moments.hpp"
#include "aggregate/categories/shared/table_model.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::coupled_tensor {

enum class Begin { votes, random };

struct SolverOptions {
  double pull = 5;  ///< towards the first tables, in common tasks
  std::size_t max_iterations = 500;
  double tolerance = 1e-5;  ///< stop when no cell moves by more
};

struct Path {
  std::vector<double> trace;  ///< minus the mean squared residual, pull included
  Status status = Status::iteration_limit;
};

/// Lowers Σ n_j ‖μ_j − A_j π‖² + Σ n_jj' ‖R_jj' − A_j D A_j'ᵀ‖² + Σ n_jj'j'' ‖T − [[A_j D, A_j', A_j'']]‖² over
/// tables with rows on the simplex (A_j = th_jᵀ), one worker after the other, then the class prior. The table of a gold
/// worker stays.
Path factorise(const PairMoments& pairs, const TripleMoments& triples, const RunContext& context, TableModel& model,
               const SolverOptions& options);

struct Options {
  SolverOptions solver;
  std::size_t min_common = 0;
  std::size_t triples_per_worker = 40;
  std::size_t most_triple_cells = std::size_t{1} << 26;  ///< doubles that all triples may take: 512 MB
  Begin start = Begin::votes;
  double pseudo_count = 0.1;
  TieRule ties = TieRule::lowest;
};

/// Coupled factorisation of first, second and third moments (Traganitis, Pagès-Zamora and Giannakis 2018).
class CoupledTensor final : public CategoryAggregator {
 public:
  explicit CoupledTensor(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::coupled_tensor
