#pragma once

#include "aggregate/numbers/worker_covariance/low_rank_sparse.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::worker_covariance {

struct Options {
  double prior_tasks = 2;
  double strictness = 1;
  std::size_t max_iterations = 1000;
};

inline constexpr std::size_t kMostWorkers = 3000;

/// The covariances of all workers, split into what the truth explains and a few pairs whose errors go together
/// (`NumberFit::correlated`), which a warning names, too.
class WorkerCovariance final : public Aggregator<Numbers> {
 public:
  explicit WorkerCovariance(Options options = {}) : options_(options) {}
  [[nodiscard]] NumberFit fit(const NumberData& data, const RunContext& context,
                              const NumberStart& start = {}) const override;
  [[nodiscard]] std::vector<double> log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::worker_covariance
