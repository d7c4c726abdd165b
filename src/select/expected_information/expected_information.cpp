#include "select/expected_information/expected_information.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "select/expected_information/pilot.hpp"
#include "select/shared/believable.hpp"
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
  double doubt = 1;     ///< weight of what posteriors are too sure of, as a share of the batch
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
  v.real(
      "doubt", o.doubt, 0, 10,
      "where posteriors predict the answers at hand best at a power p below 1, this many times 1 - p of a batch go "
      "to random workers on the most uncertain tasks, because then those who look best may share a mistake; 0: none");
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
        indirect_(options.indirect),
        doubt_(options.doubt) {
    pilot_.delta = limits_.delta;
  }

  Selection choose(const CrowdView& crowd, const SelectionRequest& request, const RunContext& context) const override {
    const double believable = doubt_ > 0 || limits_.delta > 0 ? selecting::believable_power(crowd, context) : 1;
    const double usual = crowd.posterior_is_averaged ? 1 : kTemperOfEstimates;
    const double power = temper_ > 0 ? temper_ : usual;
    std::vector<double> cooled;
    if (power != 1) cooled = tempered(crowd.posterior, crowd.class_count, power, context);
    selecting::PickLimits limits = limits_;
    limits.power = believable;
    Parts parts(crowd, request, cooled.empty() ? crowd.posterior : cooled, limits, context);
    // The pilot may end within this batch: the rest of the batch goes to other tasks.
    Pilot pilot = pilot_;
    pilot.power = believable;
    PilotPlan plan = plan_pilot(crowd, request, pilot, context);
    if (plan.pairs > 0) parts.anyone(std::vector<double>(crowd.task_count(), 0), plan.pairs, plan.rooms, pilot.depth);
    const double share = std::clamp(doubt_ * (1 - believable / usual), 0.0, 1.0);
    const auto doubted = static_cast<std::size_t>(std::llround(share * static_cast<double>(parts.left())));
    if (doubted > 0) parts.anyone(entropies(crowd), doubted, {}, limits_.per_task);
    if (parts.left() > 0) parts.best(rule_, indirect_);
    return std::move(parts).done();
  }

 private:
  /// A batch that is made in parts, each on tasks that those before it left alone.
  class Parts {
   public:
    Parts(const CrowdView& crowd, const SelectionRequest& request, std::span<const double> posterior,
          const selecting::PickLimits& limits, const RunContext& context)
        : crowd_(crowd),
          request_(request),
          posterior_(posterior),
          limits_(limits),
          context_(context),
          offers_(request.offers.begin(), request.offers.end()) {
      request_.offers = offers_;
    }

    /// Pairs that are still to be chosen.
    [[nodiscard]] std::size_t left() const { return context_.cancelled() ? 0 : request_.pairs; }

    /// `pairs` of them: anyone, on the tasks of the highest scores, each in turn. `rooms`: for these tasks alone.
    void anyone(std::vector<double> scores, std::size_t pairs, const std::vector<std::uint32_t>& rooms,
                std::size_t per_task) {
      selecting::PickLimits limits = limits_;
      limits.per_task = per_task;
      SelectionRequest own = request_;
      own.pairs = pairs;
      const selecting::PairRule rule(crowd_, own, {selecting::WorkerRule::random}, context_);
      take(
          selecting::pick(rule, posterior_,
                          {selecting::TaskOrder::Kind::scores, std::move(scores), rooms.empty() ? rooms_left() : rooms},
                          limits, context_));
      if (!rooms.empty()) close(rooms);
    }

    /// All that is left: the pairs that tell most.
    void best(const selecting::WorkerRuleOptions& worker_rule, double indirect) {
      std::vector<double> others;
      if (indirect > 0) others = selecting::indirect_information(crowd_, posterior_);
      for (double& nats : others) nats *= indirect;
      const selecting::PairRule rule(crowd_, request_, worker_rule, context_, std::move(others));
      take(selecting::pick(rule, posterior_, {selecting::TaskOrder::Kind::pairs, {}, rooms_left()}, limits_, context_));
    }

    [[nodiscard]] Selection done() && { return std::move(all_); }

   private:
    void take(Selection part) {
      if (!part.choices.empty() && closed_.empty()) closed_.assign(crowd_.task_count(), false);
      request_.pairs -= part.choices.size();
      request_.budget -= part.cost();
      for (const Choice& choice : part.choices) {
        closed_[index(choice.task)] = true;
        if (!offers_.empty() && offers_[index(choice.worker)].capacity != kUnlimited)
          --offers_[index(choice.worker)].capacity;
      }
      all_.choices.insert(all_.choices.end(), part.choices.begin(), part.choices.end());
      // The last part has seen all tasks that are not closed, and those before it the same ones.
      all_.settled = part.settled;
      all_.not_worth_cost = part.not_worth_cost;
      all_.exhausted = part.exhausted;
    }

    void close(const std::vector<std::uint32_t>& rooms) {
      closed_.resize(crowd_.task_count(), false);
      for (std::size_t i = 0; i < rooms.size(); ++i) closed_[i] = closed_[i] || rooms[i] > 0;
    }

    /// As many as usual on tasks that are not closed; empty while all are open.
    [[nodiscard]] std::vector<std::uint32_t> rooms_left() const {
      if (closed_.empty()) return {};
      const std::size_t usual = limits_.per_task == 0 ? kUnlimited : limits_.per_task;
      std::vector<std::uint32_t> rooms(closed_.size());
      for (std::size_t i = 0; i < rooms.size(); ++i) rooms[i] = closed_[i] ? 0 : static_cast<std::uint32_t>(usual);
      return rooms;
    }

    const CrowdView& crowd_;
    SelectionRequest request_;
    std::span<const double> posterior_;
    selecting::PickLimits limits_;
    const RunContext& context_;
    std::vector<WorkerOffer> offers_;
    std::vector<bool> closed_;
    Selection all_;
  };

  static std::vector<double> entropies(const CrowdView& crowd) {
    std::vector<double> values(crowd.task_count());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = entropy(crowd.posterior_of(TaskId(i)));
    return values;
  }

  selecting::WorkerRuleOptions rule_;
  selecting::PickLimits limits_;
  Pilot pilot_;
  double temper_;
  double indirect_;
  double doubt_;
};

}  // namespace

std::vector<double> tempered(std::span<const double> posterior, std::size_t classes, double power,
                             const RunContext& context) {
  std::vector<double> out(posterior.begin(), posterior.end());
  const Blocks blocks{out.size() / classes, kTasksPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t i = blocks.begin(block); i < blocks.end(block); ++i) {
      const auto row = std::span(out).subspan(i * classes, classes);
      for (double& p : row) p = math::pow(p, power);
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
