#pragma once

#include "aggregate/numbers/shared/precision_em.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::worker_types {

struct Options {
  std::size_t types = 3;
  double ratio = 4;
  bool learn_shares = true;
  std::size_t max_iterations = 50;
  double tolerance = 1e-4;
};

/// Every worker is of one of a few types, each with its variance; messages between tasks and workers find out which.
class WorkerTypes final : public Aggregator<Numbers> {
 public:
  explicit WorkerTypes(Options options = {}) : options_(options) {}
  [[nodiscard]] NumberFit fit(const NumberData& data, const RunContext& context,
                              const NumberStart& start = {}) const override;
  [[nodiscard]] std::vector<double> log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  Options options_;
};

/// Beliefs after the last message, in standard units. Dimensions without scatter are left out.
struct TypeModel {
  std::vector<std::size_t> dimensions;           ///< those that took part
  std::vector<numbers::StandardColumn> columns;  ///< of these
  std::vector<numbers::Truth> truth;             ///< of these
  std::vector<double> variances;                 ///< of the types
  std::vector<double> shares;                    ///< of the types among workers
  std::vector<double> worker_types;              ///< workers × types
  std::vector<double> log_messages;              ///< answers × types
  std::size_t approximate_tasks = 0;             ///< with too many answers to sum over all combinations
  std::size_t iterations = 0;
  Status status = Status::converged;
};
/// `shares` empty for equal ones; `truth` empty to estimate it by moments.
[[nodiscard]] TypeModel fit_types(const NumberData& data, const numbers::Spread& spread, const Options& options,
                                  std::vector<double> shares, std::vector<numbers::Truth> truth,
                                  const RunContext& context);

}  // namespace wisecrowd::worker_types
