#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/parameter_visitor.hpp"
#include "select/shared/information_tables.hpp"
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

  /// Of asking: that of the answer, as far as one is to be expected.
  [[nodiscard]] double value(TaskId task, std::span<const double> posterior, WorkerId worker) const noexcept;
  [[nodiscard]] double gain(TaskId task, std::span<const double> posterior, WorkerId worker) const noexcept;
  /// P(label | truth) of this worker on this task, at the mean table.
  [[nodiscard]] double answer_probability(TaskId task, WorkerId worker, ClassId truth, ClassId label) const noexcept;
  /// True when this pick is to go to a random worker; `turn` counts the picks of the task.
  [[nodiscard]] bool at_random(TaskId task, std::size_t turn) const noexcept;
  [[nodiscard]] double cost(WorkerId worker) const noexcept {
    return request_.offers.empty() ? 1 : request_.offers[index(worker)].cost;
  }
  /// An even number in [0, 1) for ties and lots, the same whenever it is asked for. A pair has its own; other numbers
  /// than those of tasks and workers give others.
  [[nodiscard]] double tie_break(TaskId task, WorkerId worker) const noexcept {
    return tie_break(index(task), index(worker));
  }
  [[nodiscard]] double tie_break(std::uint64_t a, std::uint64_t b) const noexcept;
  [[nodiscard]] const CrowdView& crowd() const noexcept { return crowd_; }
  [[nodiscard]] const SelectionRequest& request() const noexcept { return request_; }
  /// True when values depend on the task by more than its posterior, so that short lists of workers make no sense.
  [[nodiscard]] bool depends_on_task() const noexcept { return options_.rule == WorkerRule::reliability; }

 private:
  [[nodiscard]] double value_of_answer(TaskId task, std::span<const double> posterior, WorkerId worker) const noexcept;
  [[nodiscard]] double gain_of_answer(TaskId task, std::span<const double> posterior, WorkerId worker) const noexcept;
  [[nodiscard]] double response(WorkerId worker) const noexcept {
    return request_.offers.empty() ? 1 : request_.offers[index(worker)].response;
  }
  [[nodiscard]] double indirect(std::span<const double> posterior, WorkerId worker) const noexcept;

  const CrowdView& crowd_;
  const SelectionRequest& request_;
  WorkerRuleOptions options_;
  double epsilon_ = 0;
  std::uint64_t key_ = 0;
  InformationTables means_;
  std::optional<InformationTables> drawn_;
  std::vector<double> indirect_;
  std::vector<double> bonus_;  // per worker: ucb's, or the whole index of kube
};

/// How often anyone is asked.
void epsilon_parameters(ParameterVisitor& v, WorkerRuleOptions& options);

/// The parameter `worker` and what belongs to it.
void worker_rule_parameters(ParameterVisitor& v, WorkerRuleOptions& options);
/// Of these options, those that count: as a worker rule only epsilon_greedy asks at random. (The joint selector has a
/// say of its own.)
[[nodiscard]] WorkerRuleOptions worker_rule(WorkerRuleOptions options);

}  // namespace wisecrowd::selecting
