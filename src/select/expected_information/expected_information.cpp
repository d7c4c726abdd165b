#include "select/expected_information/expected_information.hpp"

#include <cmath>

#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "select/expected_information/pilot.hpp"
#include "select/shared/indirect_information.hpp"
#include "select/shared/picker.hpp"
#include "select/shared/selector_entry.hpp"

namespace wisecrowd::expected_information_selector {
namespace {

constexpr std::size_t kTasksPerBlock = 1024;
/// The power on posteriors that stand on an estimate of the tables.
constexpr double kTemperOfEstimates = 0.5;

struct Options {
  selecting::WorkerRuleOptions rule{
      .rule = selecting::WorkerRule::information, .epsilon = 0, .epsilon_later = 0, .epsilon_until = 0};
  selecting::PickLimits limits{.spread = 4};
  Pilot pilot;
  double temper = 0;    ///< power on the posteriors; 0: by what they stand on
  double indirect = 1;  ///< weight of what an answer tells of other tasks
};

constexpr auto kTableNames = enum_names<selecting::WorkerRule>(
    {{selecting::WorkerRule::information, "mean"}, {selecting::WorkerRule::drawn_information, "drawn"}});

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("tables", o.rule.rule, kTableNames,
           "what is taken for a worker's table: mean, the best guess, in which a worker who is little known "
           "counts as average; drawn, a draw from what is known of it, anew in every round (Thompson), "
           "which tries workers out more");
  v.real("temper", o.temper, 0, 1,
         "power on the posteriors: below 1 settled tasks are trusted less, because answers that share "
         "a mistake look like agreement; 0: a half where posteriors stand on an estimate of the "
         "tables, 1 where they are averaged over draws of them");
  v.real("indirect", o.indirect, 0, 1e6,
         "weight of what an answer tells of other tasks, by telling how much to make of what its "
         "worker said there; 0: an answer counts for its own task alone");
  v.real("pilot", o.pilot.per_worker, 0, 1e9,
         "the first answers of all, so many per worker, go to random workers on few tasks (a tenth of "
         "them at most), because only workers who answered the same tasks can be compared; 0: none");
  v.integer("pilot_depth", o.pilot.depth, 1, 1e6, "how often each of those tasks is asked, per_task notwithstanding");
  selecting::epsilon_parameters(v, o.rule);
  selecting::limit_parameters(v, o.limits);
}

class ExpectedInformation final : public Selector {
 public:
  explicit ExpectedInformation(const Options& options)
      : rule_(options.rule),
        limits_(options.limits),
        pilot_(options.pilot),
        temper_(options.temper),
        indirect_(options.indirect) {
    pilot_.delta = limits_.delta;
  }

  Selection choose(const CrowdView& crowd, const SelectionRequest& request, const RunContext& context) const override {
    std::vector<double> cooled;
    const double usual = crowd.posterior_is_averaged ? 1 : kTemperOfEstimates;
    const double power = temper_ > 0 ? temper_ : usual;
    if (power != 1) cooled = tempered(crowd.posterior, crowd.class_count, power, context);
    const std::span<const double> posterior = cooled.empty() ? crowd.posterior : cooled;
    PilotPlan plan = plan_pilot(crowd, request, pilot_, context);
    if (plan.pairs == 0) return choose_pairs(crowd, request, posterior, {}, context);
    const std::vector<std::uint32_t> rest = rooms_besides(plan.rooms);
    Selection first = begin(crowd, request, posterior, std::move(plan), context);
    if (first.choices.size() == request.pairs || context.cancelled()) return first;
    // The pilot ends within this batch, or cannot go on: the rest of the batch goes to other tasks.
    std::vector<WorkerOffer> offers(request.offers.begin(), request.offers.end());
    SelectionRequest left = request;
    left.pairs -= first.choices.size();
    left.budget -= first.cost();
    for (const Choice& choice : first.choices) {
      if (!offers.empty() && offers[index(choice.worker)].capacity != kUnlimited)
        --offers[index(choice.worker)].capacity;
    }
    left.offers = offers;
    Selection second = choose_pairs(crowd, left, posterior, rest, context);
    first.choices.insert(first.choices.end(), second.choices.begin(), second.choices.end());
    first.settled += second.settled;
    first.not_worth_cost += second.not_worth_cost;
    first.exhausted += second.exhausted;
    return first;
  }

 private:
  Selection choose_pairs(const CrowdView& crowd, const SelectionRequest& request, std::span<const double> posterior,
                         std::vector<std::uint32_t> rooms, const RunContext& context) const {
    std::vector<double> others;
    if (indirect_ > 0) others = selecting::indirect_information(crowd, posterior);
    for (double& nats : others) nats *= indirect_;
    const selecting::PairRule rule(crowd, request, rule_, context, std::move(others));
    return selecting::pick(rule, posterior, {selecting::TaskOrder::Kind::pairs, {}, std::move(rooms)}, limits_,
                           context);
  }

  /// The pilot's part of a batch: anyone, on its tasks, each in turn.
  Selection begin(const CrowdView& crowd, const SelectionRequest& request, std::span<const double> posterior,
                  PilotPlan plan, const RunContext& context) const {
    SelectionRequest own = request;
    own.pairs = plan.pairs;
    selecting::PickLimits limits = limits_;
    limits.per_task = pilot_.depth;
    const selecting::PairRule anyone(crowd, own, {selecting::WorkerRule::random}, context);
    return selecting::pick(
        anyone, posterior,
        {selecting::TaskOrder::Kind::scores, std::vector<double>(crowd.task_count(), 0), std::move(plan.rooms)}, limits,
        context);
  }

  [[nodiscard]] std::vector<std::uint32_t> rooms_besides(const std::vector<std::uint32_t>& pilot) const {
    std::vector<std::uint32_t> rooms(pilot.size());
    const std::size_t usual = limits_.per_task == 0 ? kUnlimited : limits_.per_task;
    for (std::size_t i = 0; i < rooms.size(); ++i) rooms[i] = pilot[i] > 0 ? 0 : static_cast<std::uint32_t>(usual);
    return rooms;
  }

  selecting::WorkerRuleOptions rule_;
  selecting::PickLimits limits_;
  Pilot pilot_;
  double temper_;
  double indirect_;
};

}  // namespace

std::vector<double> tempered(std::span<const double> posterior, std::size_t classes, double power,
                             const RunContext& context) {
  std::vector<double> out(posterior.begin(), posterior.end());
  const Blocks blocks{out.size() / classes, kTasksPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t i = blocks.begin(block); i < blocks.end(block); ++i) {
      const auto row = std::span(out).subspan(i * classes, classes);
      for (double& p : row) p = std::pow(p, power);
      normalise(row);
    }
  });
  return out;
}

SelectorEntry selector() {
  SelectorInfo info;
  info.title = "Expected information";
  info.summary = "Chooses task and worker together: the pairs whose answer is expected to tell most for its price.";
  info.when_to_use = "The default. Open tasks go to the workers who tell most about just them, for their price.";
  info.reference = "D. V. Lindley, On a measure of the information provided by an experiment, 1956";
  return SelectorEntry::of<ExpectedInformation, parameters>(std::move(info));
}

}  // namespace wisecrowd::expected_information_selector
