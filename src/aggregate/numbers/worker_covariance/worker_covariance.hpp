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

/// Two workers whose errors go together in one dimension, beyond what the truth explains.
struct CorrelatedWorkers {
  WorkerId first, second;
  std::size_t dimension = 0;
  double correlation = 0;   ///< of their errors
  std::uint64_t tasks = 0;  ///< that both answered
};

/// The covariances of all workers, split into what the truth explains and a few pairs whose errors go together.
class WorkerCovariance final : public Aggregator<Numbers> {
 public:
  explicit WorkerCovariance(Options options = {}) : options_(options) {}
  [[nodiscard]] NumberFit fit(const NumberData& data, const RunContext& context,
                              const NumberStart& start = {}) const override;
  /// Pairs of workers whose errors go together, the strongest first; a fit names them in a warning.
  [[nodiscard]] std::vector<CorrelatedWorkers> correlated_workers(const NumberData& data,
                                                                  const RunContext& context) const;
  [[nodiscard]] std::vector<double> log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::worker_covariance
