#pragma once

#include "aggregate/categories/shared/moments.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::mmsr {

struct Options {
  std::int64_t trim =
      -1;  ///< F: values left out on each side; −1: half of a worker's partners less one, a quarter if pairs are thin
  std::size_t min_common = 0;  ///< pairs with fewer common tasks are left out; 0: chosen by the data
  std::size_t polish = 200;    ///< rounds of least squares at the end, at most
  std::size_t max_iterations = 10000;
  double tolerance = 1e-10;  ///< stop when the matrix s sᵀ moves by less (Frobenius norm)
  TieRule ties = TieRule::lowest;
};

/// What the iteration finds for given pairs.
struct Skills {
  std::vector<double> skill;  ///< s_j with signs; 0 for workers without partners
  std::vector<double> trace;  ///< minus the movement of s sᵀ
  std::size_t min_common = 1;
  Status status = Status::iteration_limit;
};
/// `first` are the skills to begin with, or empty. Parts are not oriented: signs are up to a turn of each part.
[[nodiscard]] Skills solve(const PairMoments& pairs, const Options& options, std::span<const double> first,
                           const RunContext& context);

/// Skills from agreements by medians instead of means, so that a minority of arbitrary workers does not matter.
class Mmsr final : public CategoryAggregator {
 public:
  explicit Mmsr(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::mmsr
