#include "select/expected_information/expected_information.hpp"

#include <cmath>

#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "select/expected_information/pilot.hpp"
#include "select/shared/indirect_information.hpp"
#include "select/shared/picker.hpp"

namespace wisecrowd::expected_information_selector {
namespace {

constexpr std::size_t kTasksPerBlock = 1024;
/// The power on posteriors that stand on an estimate of the tables.
constexpr double kTemperOfEstimates = 0.5;

class ExpectedInformation final : public Selector {
 public:
  explicit ExpectedInformation(const Parameters& parameters)
      : limits_(selecting::limits_from(parameters)),
        temper_(parameters.real("temper")),
        indirect_(parameters.real("indirect")) {
    rule_.rule = parameters.choice("tables") == "drawn" ? selecting::WorkerRule::drawn_information
                                                        : selecting::WorkerRule::information;
    selecting::read_epsilon(parameters, rule_);
    pilot_.per_worker = parameters.real("pilot");
    pilot_.delta = limits_.delta;
    pilot_.depth = static_cast<std::size_t>(parameters.integer("pilot_depth"));
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

SelectorInfo info() {
  SelectorInfo info;
  info.title = "Expected information";
  info.summary = "Chooses task and worker together: the pairs whose answer is expected to tell most for its price.";
  info.when_to_use = "The default. Open tasks go to the workers who tell most about just them, for their price.";
  info.reference = "D. V. Lindley, On a measure of the information provided by an experiment, 1956";
  info.parameters = {
      ParameterSpec::choice(
          "tables", "mean", {"mean", "drawn"},
          "what is taken for a worker's table: mean, the best guess, in which a worker who is little known "
          "counts as average; drawn, a draw from what is known of it, anew in every round (Thompson), "
          "which tries workers out more"),
      ParameterSpec::real("temper", 0, 0, 1,
                          "power on the posteriors: below 1 settled tasks are trusted less, because answers that share "
                          "a mistake look like agreement; 0: a half where posteriors stand on an estimate of the "
                          "tables, 1 where they are averaged over draws of them"),
      ParameterSpec::real("indirect", 1, 0, 1e6,
                          "weight of what an answer tells of other tasks, by telling how much to make of what its "
                          "worker said there; 0: an answer counts for its own task alone"),
      ParameterSpec::real("pilot", Pilot{}.per_worker, 0, 1e9,
                          "the first answers of all, so many per worker, go to random workers on few tasks (a tenth of "
                          "them at most), because only workers who answered the same tasks can be compared; 0: none"),
      ParameterSpec::integer("pilot_depth", static_cast<std::int64_t>(Pilot{}.depth), 1, 1e6,
                             "how often each of those tasks is asked, per_task notwithstanding"),
  };
  selecting::WorkerRuleOptions never;
  never.epsilon = never.epsilon_later = 0;
  never.epsilon_until = 0;
  for (ParameterSpec& spec : selecting::epsilon_parameters(never)) info.parameters.push_back(std::move(spec));
  for (ParameterSpec& spec : selecting::limit_parameters(1, 4)) info.parameters.push_back(std::move(spec));
  return info;
}

std::unique_ptr<Selector> make(const Parameters& parameters) {
  return std::make_unique<ExpectedInformation>(parameters);
}

}  // namespace wisecrowd::expected_information_selector
