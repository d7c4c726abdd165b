#pragma once

#include <span>
#include <vector>

#include "wisecrowd/fairness.hpp"

namespace wisecrowd::fairness {

/// EM over workers × groups. One object holds one crowd; `run` may be called again for another kappa or with other
/// answers hidden.
class GroupEm {
 public:
  GroupEm(const CategoryData& data, const TaskGroups& groups, const GroupTableOptions& options);

  struct State {
    std::vector<double> posterior;    // tasks × classes
    std::vector<double> pooled;       // workers × truth × label, rows sum to 1
    std::vector<double> counts;       // blocks × truth × label
    std::vector<double> tables;       // likewise, rows sum to 1
    std::vector<double> group_prior;  // (groups + 1) × classes; the last for tasks without a group
    std::size_t iterations = 0;
    double log_likelihood = 0;
    Status status = Status::converged;
  };
  /// `hidden` marks answers (in task order) that are left out; empty: none. An empty start means vote shares.
  [[nodiscard]] State run(double kappa, std::span<const double> start, std::span<const char> hidden,
                          const RunContext& context) const;

  /// ln P(answer) of each hidden answer by what was learned from the others, summed; and their number.
  struct HiddenScore {
    double log_probability = 0;
    std::size_t answers = 0;
  };
  [[nodiscard]] HiddenScore score(const State& state, std::span<const char> hidden) const;

  [[nodiscard]] const GroupTables& layout() const noexcept { return layout_; }

 private:
  void lay_out_blocks();
  [[nodiscard]] std::vector<double> vote_shares(std::span<const char> hidden) const;
  void pin_gold(std::vector<double>& posterior) const;
  /// Expected answers of a worker by group, from the posterior.
  void count_worker(std::size_t worker, std::span<const char> hidden, State& state) const;
  /// Tables and class shares from the counts and the posterior.
  void learn_tables(double kappa, State& state, const RunContext& context) const;
  void learn_worker(std::size_t worker, double kappa, State& state) const;
  void learn_priors(State& state) const;
  /// The posterior from tables and class shares, and on the way the counts. Returns the largest change of a
  /// probability.
  double infer_truth(std::span<const char> hidden, State& state, const RunContext& context) const;

  const CategoryData& data_;
  const TaskGroups& groups_;
  const GroupTableOptions& options_;
  std::size_t classes_;
  GroupTables layout_;                          // blocks and first_block alone
  std::vector<std::uint32_t> block_of_answer_;  // in task order
};

}  // namespace wisecrowd::fairness
