#include "select/shared/task_first.hpp"

#include "base/parallel.hpp"
#include "select/shared/picker.hpp"

namespace wisecrowd::selecting {
namespace {

constexpr std::size_t kTasksPerBlock = 1024;

class OneSided final : public Selector {
 public:
  OneSided(const Parameters& parameters, TaskScore score)
      : worker_(worker_rule_from(parameters)), limits_(limits_from(parameters)), score_(std::move(score)) {}

  Selection choose(const CrowdView& crowd, const SelectionRequest& request, const RunContext& context) const override {
    TaskOrder order{TaskOrder::Kind::scores, std::vector<double>(crowd.task_count())};
    const Blocks blocks{crowd.task_count(), kTasksPerBlock};
    context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      for (std::size_t i = blocks.begin(block); i < blocks.end(block); ++i) order.scores[i] = score_(crowd, i);
    });
    return pick(PairRule(crowd, request, worker_, context), crowd.posterior, order, limits_, context);
  }

 private:
  WorkerRuleOptions worker_;
  PickLimits limits_;
  TaskScore score_;
};

}  // namespace

std::unique_ptr<Selector> task_first(const Parameters& parameters, TaskScore score) {
  return std::make_unique<OneSided>(parameters, std::move(score));
}

std::unique_ptr<Selector> task_first(const Parameters& parameters, double (*score)(std::span<const double> posterior)) {
  return task_first(parameters,
                    [score](const CrowdView& crowd, std::size_t task) { return score(crowd.posterior_of(task)); });
}

std::vector<ParameterSpec> one_sided_parameters(const std::string& usual_worker, std::size_t per_task) {
  std::vector<ParameterSpec> specs = worker_rule_parameters(usual_worker);
  for (ParameterSpec& spec : limit_parameters(per_task)) specs.push_back(std::move(spec));
  return specs;
}

std::vector<double> mean_pass(const CrowdView& crowd, std::size_t task) {
  std::vector<double> mean(crowd.class_count, 0);
  for (std::size_t pass = 0; pass < crowd.pass_count; ++pass) {
    const auto p = pass_of(crowd, pass, task);
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += p[k] / static_cast<double>(crowd.pass_count);
  }
  return mean;
}

}  // namespace wisecrowd::selecting
