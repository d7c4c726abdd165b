#pragma once

#include "aggregate/categories/shared/moments.hpp"
#include "aggregate/categories/shared/table_model.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd {
class Rng;
}

namespace wisecrowd::symmetric_nmf {

enum class Loss { squares, absolute };
enum class Begin { votes, imputation, random };

/// Workers × label × component: H_j[l][k] = th_j[k][l] √π_k up to a rotation of the components.
using Factor = std::vector<double>;

[[nodiscard]] Factor factor_of(const TableModel& model);

struct CoupleOptions {
  Loss loss = Loss::squares;
  double pull = 5;
  std::size_t max_iterations = 500;
  double tolerance = 1e-8;
};

struct Path {
  std::vector<double> trace;  ///< minus the mean loss per pair, weighted by common tasks
  Status status = Status::iteration_limit;
};

/// Lowers Σ n_jj' ‖R_jj' − U_j U_j'ᵀ‖² (or the sum of norms) + pull Σ_j ‖U_j − guide_j‖², worker by worker, over the
/// pairs that are there: no block needs to be filled in.
Path couple(const PairMoments& pairs, const RunContext& context, const Factor& guide, Factor& factor,
            const CoupleOptions& options);

/// The factor after filling in absent blocks, those of workers with themselves above all, through others:
/// R_mn = R_ma R_ba⁻¹ R_bn. Dense in (workers · K)²; `guide` is where the subspace iteration begins.
[[nodiscard]] Factor impute(const PairMoments& pairs, const Factor& guide);

/// The rotation that makes the factor non-negative, beginning with the one nearest to `guide`; `starts` random ones
/// must do clearly better to be preferred. Returns the share of squared mass that stays negative.
double rotate(const PairMoments& pairs, const Factor& guide, std::size_t starts, Rng rng, Factor& factor);

/// Tables and class prior of a non-negative factor; workers without pairs keep the tables of `fallback`.
[[nodiscard]] TableModel read_off(const PairMoments& pairs, const Factor& factor, const TableModel& fallback);

struct Options {
  CoupleOptions couple;
  std::size_t min_common = 0;
  Begin start = Begin::votes;
  std::size_t rotations = 10;
  double pseudo_count = 0.1;
  TieRule ties = TieRule::lowest;
};

/// Symmetric non-negative factorisation of the matrix of all pairs of workers.
class SymmetricNmf final : public CategoryAggregator {
 public:
  explicit SymmetricNmf(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::symmetric_nmf
