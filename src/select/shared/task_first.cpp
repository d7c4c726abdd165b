#include "select/shared/task_first.hpp"

#include "base/parallel.hpp"

namespace wisecrowd::selecting {
namespace {

constexpr std::size_t kTasksPerBlock = 1024;

}  // namespace

void task_first_parameters(ParameterVisitor& v, TaskFirstOptions& options) {
  worker_rule_parameters(v, options.worker);
  limit_parameters(v, options.limits);
}

Selection pick_by_score(const CrowdView& crowd, const SelectionRequest& request, const TaskScore& score,
                        const TaskFirstOptions& options, const RunContext& context) {
  TaskOrder order{TaskOrder::Kind::scores, std::vector<double>(crowd.task_count())};
  const Blocks blocks{crowd.task_count(), kTasksPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t i = blocks.begin(block); i < blocks.end(block); ++i) order.scores[i] = score(crowd, TaskId(i));
  });
  const PairRule rule(crowd, request, worker_rule(options.worker), context);
  return pick(rule, crowd.posterior, order, options.limits, context);
}

std::vector<double> mean_pass(const CrowdView& crowd, TaskId task) {
  std::vector<double> mean(crowd.class_count, 0);
  for (std::size_t pass = 0; pass < crowd.pass_count; ++pass) {
    const auto p = pass_of(crowd, pass, task);
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += p[k] / static_cast<double>(crowd.pass_count);
  }
  return mean;
}

}  // namespace wisecrowd::selecting
