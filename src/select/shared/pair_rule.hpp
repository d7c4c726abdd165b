#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "select/shared/worker_tables.hpp"
#include "wisecrowd/select.hpp"

namespace wisecrowd::selecting {

/// Whom to ask on a task.
enum class WorkerRule {
  random,
  accuracy,           ///< most likely right on this task
  information,        ///< expected information per cost
  thompson,           ///< most likely right by tables drawn from what is known of them
  ucb,                ///< most likely right, with a bonus for workers who are little known
  epsilon_greedy,     ///< as accuracy, but now and then anyone
  kube,               ///< fractional KUBE: accuracy plus bonus, per cost, the same on all tasks
  reliability,        ///< most likely right by a model of features
  drawn_information,  ///< information per cost, by drawn tables
};

/// What the rules need beyond the tables.
struct WorkerRuleOptions {
  WorkerRule rule = WorkerRule::random;
  double epsilon = 0.5;               ///< epsilon_greedy: chance of anyone at first
  double epsilon_later = 0.05;        ///< and later
  std::uint64_t epsilon_until = 100;  ///< answers after which it is later
};

/// Values of pairs under a worker rule, for one batch. Higher is better; only the order matters, and equal values are
/// settled by a random tie-break. Gains are in nats for every rule.
class PairRule {
 public:
  /// `indirect`: workers × truth, what an answer tells of other tasks, which information and gains count; empty:
  /// nothing.
  PairRule(const CrowdView& crowd, const SelectionRequest& request, const WorkerRuleOptions& options,
           const RunContext& context, std::vector<double> indirect = {});

  [[nodiscard]] double value(std::size_t task, std::span<const double> posterior, std::size_t worker) const noexcept;
  [[nodiscard]] double gain(std::size_t task, std::span<const double> posterior, std::size_t worker) const noexcept;
  /// P(label | truth) of this worker on this task, at the mean table.
  [[nodiscard]] double answer_probability(std::size_t task, std::size_t worker, std::size_t truth,
                                          std::size_t label) const noexcept;
  /// True when this pick is to go to a random worker; `turn` counts the picks of the task.
  [[nodiscard]] bool at_random(std::size_t task, std::size_t turn) const noexcept;
  [[nodiscard]] double cost(std::size_t worker) const noexcept {
    return request_.offers.empty() ? 1 : request_.offers[worker].cost;
  }
  /// An even number in [0, 1) for ties and lots, the same whenever it is asked for.
  [[nodiscard]] double tie_break(std::size_t task, std::size_t worker) const noexcept;
  [[nodiscard]] const CrowdView& crowd() const noexcept { return crowd_; }
  [[nodiscard]] const SelectionRequest& request() const noexcept { return request_; }
  /// True when values depend on the task by more than its posterior, so that short lists of workers make no sense.
  [[nodiscard]] bool depends_on_task() const noexcept { return options_.rule == WorkerRule::reliability; }

 private:
  [[nodiscard]] double indirect(std::span<const double> posterior, std::size_t worker) const noexcept;

  const CrowdView& crowd_;
  const SelectionRequest& request_;
  WorkerRuleOptions options_;
  double epsilon_ = 0;
  std::uint64_t key_ = 0;
  WorkerTables means_;
  std::optional<WorkerTables> drawn_;
  std::vector<double> indirect_;
  std::vector<double> bonus_;  // per worker: ucb's, or the whole index of kube
};

/// How often anyone is asked.
[[nodiscard]] std::vector<ParameterSpec> epsilon_parameters(const WorkerRuleOptions& usual);
void read_epsilon(const Parameters& parameters, WorkerRuleOptions& options);

/// The `worker` parameter and what belongs to it.
[[nodiscard]] std::vector<ParameterSpec> worker_rule_parameters(const std::string& usual);
[[nodiscard]] WorkerRuleOptions worker_rule_from(const Parameters& parameters);

}  // namespace wisecrowd::selecting
