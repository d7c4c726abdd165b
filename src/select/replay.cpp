#include "wisecrowd/replay.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>

#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "select/replay_run.hpp"
#include "select/savings.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

/// Rounds of a whole replay when nothing else is said, and answers per task in a world that never ends.
constexpr std::size_t kRounds = 50;
constexpr std::size_t kSimulatedAnswersPerTask = 10;

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::bad_input, message); }

void check(const ReplayWorld& world, std::span<const Policy> policies, const ReplayOptions& options) {
  const CategoryAnswers& answers = world.answers;
  const std::size_t cells = answers.class_count() * answers.class_count();
  if (policies.empty()) throw Error(ErrorCode::bad_parameter, "a replay needs at least one policy");
  if (options.seeds == 0) throw Error(ErrorCode::bad_parameter, "a replay needs at least one seed");
  for (const Policy& policy : policies) {
    const SelectorInfo& info = selector(policy.selector);
    if (info.needs_passes || info.needs_reliability) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("{} needs features, which a replay of answers does not have", info.name));
    }
  }
  if (world.truth.size() != answers.task_count() ||
      std::all_of(world.truth.begin(), world.truth.end(), [](ClassId k) { return k == kNoClass; })) {
    refuse("no task of the answers has a known truth: a replay needs gold to measure accuracy");
  }
  if (world.is_simulated()) {
    if (world.tables.size() != answers.worker_count() * cells) refuse("the tables do not fit the workers and classes");
    if (std::count(world.truth.begin(), world.truth.end(), kNoClass) > 0) {
      refuse("a simulated world must know the truth of every task");
    }
  } else if (answers.answer_count() == 0) {
    refuse("there are no answers to replay");
  } else if (answers.has_repeats()) {
    refuse("a worker answered a task more than once: keep the last answer only");
  }
  if (!options.offers.empty() && options.offers.size() != answers.worker_count()) {
    refuse(
        fmt::format("there are offers for {} workers, but {} workers", options.offers.size(), answers.worker_count()));
  }
}

/// Runs of one policy on one axis: those that stopped early keep their last value.
ReplayCurve curve_of(const std::string& name, std::span<selecting::RunTrace> runs, const ReplayOptions& options) {
  ReplayCurve curve;
  curve.policy = name;
  std::size_t points = 0;
  for (const auto& run : runs) points = std::max(points, run.accuracy.size());
  curve.cost.assign(points, 0);
  for (auto& run : runs) {
    curve.stopped += run.stopped ? 1 : 0;
    for (auto* values : {&run.answers, &run.cost, &run.accuracy}) values->resize(points, values->back());
    for (std::size_t p = 0; p < points; ++p) curve.cost[p] += run.cost[p] / static_cast<double>(runs.size());
    curve.by_seed.push_back(std::move(run.accuracy));
    curve.answers_by_seed.push_back(std::move(run.answers));
  }
  selecting::summarise(curve, options.confidence_level);
  return curve;
}

/// Runs are independent, so each has one thread and a context of its own, whose seed is that of its repetition.
RunOptions repetition(const RunContext& context, std::size_t seed, const std::atomic<bool>* cancel) {
  RunOptions own;
  own.seed = context.rng("replay: repetition", seed).next();
  own.threads = 1;
  own.cancel = cancel;
  return own;
}

/// Where each repetition ends. An aggregator that draws at random has another end in each, and curves that are means
/// over repetitions are compared with the mean of these: one fit alone may lie a task above all of them, or below.
std::vector<double> targets_of(const ReplayWorld& world, const ReplayCurve& first, std::span<const std::size_t> seeds,
                               const Refit& refit, const RunContext& context) {
  std::vector<double> targets(seeds.size());
  for (std::size_t s = 0; s < seeds.size() && world.is_simulated(); ++s) targets[s] = first.by_seed[s].back();
  if (world.is_simulated()) return targets;
  CategoryData data;
  data.answers = world.answers;
  context.pool().for_each_block(seeds.size(), [&](std::size_t s, unsigned) {
    const RunContext inner(repetition(context, seeds[s], nullptr));
    targets[s] = selecting::accuracy_of(refit(data, {}, inner).posterior, world.truth, world.answers.class_count());
  });
  return targets;
}

}  // namespace

Replay replay(const ReplayWorld& world, std::span<const Policy> policies, const ReplayOptions& options,
              const Refit& refit, const RunContext& context) {
  check(world, policies, options);
  Replay result;
  const std::size_t everything =
      world.is_simulated() ? world.answers.task_count() * world.answers.worker_count() : world.answers.answer_count();
  const std::size_t usual = world.is_simulated() ? world.answers.task_count() * kSimulatedAnswersPerTask : everything;
  result.all_answers = std::min(options.most_answers == 0 ? usual : options.most_answers, everything);
  result.answers_per_round = options.answers_per_round != 0
                                 ? options.answers_per_round
                                 : std::max<std::size_t>(1, (result.all_answers + kRounds - 1) / kRounds);
  result.scored_tasks =
      world.truth.size() - static_cast<std::size_t>(std::count(world.truth.begin(), world.truth.end(), kNoClass));
  std::vector<selecting::RunTrace> runs(policies.size() * options.seeds);
  std::atomic<bool> cancel{false};
  std::atomic<std::size_t> done{0};
  context.pool().for_each_block(runs.size(), [&](std::size_t block, unsigned thread) {
    if (context.cancelled()) cancel = true;
    if (cancel) return;
    const RunContext inner(repetition(context, block / policies.size(), &cancel));
    const Refit watched = [&](const CategoryData& data, const CategoryStart& start, const RunContext& run_context) {
      if (context.cancelled()) cancel = true;
      return refit(data, start, run_context);
    };
    runs[block] = selecting::run_policy(world, policies[block % policies.size()], options, result.answers_per_round,
                                        result.all_answers, watched, inner);
    ++done;
    if (thread == 0) {
      context.report({"replaying", static_cast<double>(done.load()), static_cast<double>(runs.size()), 0, false});
    }
  });
  // Only repetitions that every policy finished can be compared.
  std::vector<std::size_t> whole;
  for (std::size_t s = 0; s < options.seeds; ++s) {
    const auto begin = runs.begin() + static_cast<std::ptrdiff_t>(s * policies.size());
    if (std::all_of(begin, begin + static_cast<std::ptrdiff_t>(policies.size()),
                    [](const auto& run) { return run.finished; })) {
      whole.push_back(s);
    }
  }
  result.seeds = whole.size();
  if (context.cancelled()) result.status = Status::cancelled;
  if (whole.empty()) return result;
  for (std::size_t p = 0; p < policies.size(); ++p) {
    std::vector<selecting::RunTrace> own;
    for (const std::size_t s : whole) own.push_back(std::move(runs[s * policies.size() + p]));
    result.curves.push_back(curve_of(policies[p].name, own, options));
  }
  if (!world.is_simulated()) result.all_answers = world.answers.answer_count();
  const std::vector<double> targets = targets_of(world, result.curves.front(), whole, refit, context);
  for (const double target : targets) result.target += target / static_cast<double>(targets.size());
  result.savings = selecting::savings_of(result.curves, targets, options, context);
  return result;
}

}  // namespace wisecrowd
