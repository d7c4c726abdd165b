#pragma once

#include "aggregate/categories/shared/moments.hpp"
#include "aggregate/categories/shared/worker_links.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::eigen_ratio {

/// What stands on the diagonal of the agreement matrix, where no pair is.
enum class Diagonal { filled, ones };

struct Options {
  Diagonal diagonal = Diagonal::filled;
  std::size_t min_common = 1;
  TieRule ties = TieRule::lowest;
};

/// w_j with agreement_jj' = w_j w_j' (answers coded ±1): the top eigenvector of the agreements divided by that of the
/// pattern of who shares tasks with whom. Zero for workers without partners.
[[nodiscard]] std::vector<double> ratios(const PairMoments& pairs, const WorkerLinks& links, Diagonal diagonal,
                                         const RunContext& context);

/// Ratio of eigenvectors, two classes.
class EigenRatio final : public CategoryAggregator {
 public:
  explicit EigenRatio(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::eigen_ratio
