#include <fmt/core.h>

#include <memory>

#include "simulate/crowd.hpp"
#include "simulate/honest_workers.hpp"
#include "wisecrowd/error.hpp"

// Tasks belong to groups. Some workers treat the last group otherwise: with probability |bias| they say the last class
// (or, for a negative bias, the first one) of its tasks, whatever they would have said.
namespace wisecrowd::group_bias_crowd {

SimulationInfo info() {
  SimulationInfo info;
  info.summary = "Tasks in groups, and workers who are biased against the last one; tasks.csv names the groups.";
  info.parameters = {
      ParameterSpec::integer("groups", 2, 1, 1000, "number of groups of tasks"),
      ParameterSpec::real("last_group", 0.4, 0, 1, "share of the tasks in the last group; the others share the rest"),
      ParameterSpec::real("biased", 0.3, 0, 1, "share of the workers who are biased"),
      ParameterSpec::real("bias", 0.4, -1, 1,
                          "how often a biased worker says the last class of tasks of the last group without looking; "
                          "below 0, the first class"),
      ParameterSpec::real("class_gap", 0, -1, 1, "how much more often the last class is the truth in the last group"),
      honest_level_parameter()};
  return info;
}

namespace {

/// P(last group | truth = last class) and P(last group | another truth), so that class shares differ by the gap.
struct GroupOdds {
  double last_class, others;
};

GroupOdds odds_of(const Parameters& parameters, double share_of_class) {
  const double group = parameters.real("last_group");
  const double gap = parameters.real("class_gap");
  const double in_group = share_of_class + (1 - group) * gap;  // P(last class | last group)
  const double elsewhere = share_of_class - group * gap;
  if (in_group < 0 || in_group > 1 || elsewhere < 0 || elsewhere > 1) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("class_gap={} does not fit a class whose share is {:.3g}: take a smaller gap", gap,
                            share_of_class));
  }
  const double rest = 1 - share_of_class;
  return {share_of_class > 0 ? in_group * group / share_of_class : group,
          rest > 0 ? (1 - in_group) * group / rest : group};
}

}  // namespace

Crowd draw(const CrowdRequest& request) {
  const std::size_t classes = request.size.classes;
  const std::size_t workers = request.size.workers;
  const std::size_t cells = classes * classes;
  const auto groups = static_cast<std::size_t>(request.parameters.integer("groups"));
  const double bias = request.parameters.real("bias");
  const GroupOdds odds = odds_of(request.parameters, request.world.class_prior.back());

  Crowd crowd = honest_workers(request);
  std::vector<std::string> names;
  for (std::size_t g = 0; g < groups; ++g) names.push_back(fmt::format("group_{}", g + 1));
  crowd.groups.names = NameTable(names);
  crowd.groups.of_task.resize(request.world.tasks);
  Rng rng = request.rng.fork("groups of tasks");
  for (std::size_t t = 0; t < request.world.tasks; ++t) {
    const double last = index(request.world.truth[t]) + 1 == classes ? odds.last_class : odds.others;
    const double u = rng.uniform();
    const std::uint64_t other = groups > 1 ? rng.below(groups - 1) : 0;
    crowd.groups.of_task[t] = GroupId(groups > 1 && u >= last ? other : groups - 1);
  }

  struct State {
    std::vector<double> fair, biased;  // workers × truth × label: elsewhere, and in the last group
    std::vector<GroupId> group;
    GroupId last;
    PairDraws answers;
    std::size_t classes;
  };
  State state{crowd.confusion,
              crowd.confusion,
              crowd.groups.of_task,
              GroupId(groups - 1),
              PairDraws(request.rng.fork("answers")),
              classes};
  const std::size_t said = bias >= 0 ? classes - 1 : 0;
  const double strength = bias >= 0 ? bias : -bias;
  for (const std::uint32_t w :
       choose_workers(workers, share_of(request.parameters.real("biased"), workers), request.rng.fork("biased"))) {
    crowd.kinds[w] = "biased";
    for (std::size_t c = 0; c < cells; ++c) {
      double& cell = state.biased[w * cells + c];
      cell = (1 - strength) * cell + (c % classes == said ? strength : 0);
      const double in_last = c / classes + 1 == classes ? odds.last_class : odds.others;
      double& alone = crowd.confusion[w * cells + c];
      alone = (1 - in_last) * alone + in_last * cell;
    }
  }
  crowd.answer = [state = std::make_shared<const State>(std::move(state))](std::uint64_t task, std::size_t truth,
                                                                           std::size_t worker) {
    const auto& tables = state->group[task] == state->last ? state->biased : state->fair;
    return pick(std::span(tables).subspan((worker * state->classes + truth) * state->classes, state->classes),
                state->answers(task, worker));
  };
  return crowd;
}

}  // namespace wisecrowd::group_bias_crowd
