#include "learn/shared/epochs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/rng.hpp"
#include "learn/shared/finite.hpp"

namespace wisecrowd {

std::optional<HiddenTasks> hide_tasks(const TrainingSet& all, double share, const RunContext& context) {
  const auto count = static_cast<std::size_t>(std::lround(share * static_cast<double>(all.task_count())));
  if (count == 0 || count >= all.task_count()) return {};
  std::vector<std::uint32_t> order(all.task_count());
  std::iota(order.begin(), order.end(), 0U);
  context.rng("held out tasks").shuffle(std::span(order));
  HiddenTasks parts{subset(all, std::span(order).first(count)), subset(all, std::span(order).subspan(count))};
  if (parts.hidden.answer_count() == 0 || parts.seen.answer_count() == 0) return {};
  return parts;
}

EpochChoice last_epoch(const TrainingOptions& options) {
  EpochChoice choice;
  choice.epochs = choice.chosen = options.epochs;
  return choice;
}

EpochChoice choose_epoch(const HiddenTasks& parts, const Features& inputs, const NetworkSpec& network,
                         const TrainingOptions& options, const BatchModelFactory& make_model, const RunContext& context,
                         const LookAtHidden& look) {
  EpochChoice choice = last_epoch(options);
  const TrainingSet& hidden = parts.hidden;
  TrainingRun run(parts.seen, inputs, network, options, make_model, "choosing the epoch", context);
  double best = -std::numeric_limits<double>::infinity();
  std::vector<double> best_per_task;
  for (std::size_t epoch = 1; epoch <= options.epochs && !context.cancelled(); ++epoch) {
    run.epoch();
    std::vector<double> outputs, per_task;
    if (run.finite()) {
      outputs = run.outputs(hidden.row);
      per_task = run.model().answer_likelihoods(hidden, outputs);
    }
    if (!run.finite() || !all_finite(std::span<const double>(outputs)) ||
        !all_finite(std::span<const double>(per_task))) {
      choice.trouble = run.trouble();
      if (epoch == 1) throw Diverged(choice.trouble);
      choice.epochs = epoch - 1;
      break;
    }
    const double likelihood =
        std::accumulate(per_task.begin(), per_task.end(), 0.0) / static_cast<double>(hidden.answer_count());
    choice.held_out.push_back(likelihood);
    const bool improved = likelihood > best;
    if (improved) {
      best = likelihood;
      best_per_task = per_task;
    }
    if (improved || advantage(best_per_task, per_task) < 1) {
      choice.chosen = epoch;
      choice.per_task = std::move(per_task);
      choice.model = run.model().copy();
      if (look) look(run.model(), outputs);
    }
    context.report({.stage = "choosing the epoch",
                    .done = static_cast<double>(epoch),
                    .total = static_cast<double>(options.epochs),
                    .objective = likelihood,
                    .has_objective = true});
    if (options.patience > 0 && epoch >= choice.chosen + options.patience) {
      choice.epochs = epoch;
      break;
    }
  }
  return choice;
}

RunHistory run_epochs(TrainingRun& run, const EpochChoice& choice, const RunContext& context) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  const auto started = std::chrono::steady_clock::now();
  RunHistory history;
  history.trouble = choice.trouble;
  std::shared_ptr<const Snapshot> last;
  for (std::size_t epoch = 1; epoch <= choice.epochs && !context.cancelled(); ++epoch) {
    const double objective = run.epoch();
    if (!run.finite()) {
      history.trouble = run.trouble();
      if (!last) throw Diverged(history.trouble);
      run.restore(*last);
      break;
    }
    history.curve.push_back({objective, epoch <= choice.held_out.size() ? choice.held_out[epoch - 1] : kUnknown});
    last = std::make_shared<Snapshot>(run.snapshot());
    if (epoch == choice.chosen) history.chosen = last;
    context.report({.stage = "training",
                    .done = static_cast<double>(epoch),
                    .total = static_cast<double>(choice.epochs),
                    .objective = objective,
                    .has_objective = true});
  }
  const bool cut_short = !history.trouble.empty() && !context.cancelled();
  history.epochs = cut_short ? history.curve.size() : choice.epochs;
  history.chosen_epoch = std::min(choice.chosen, history.epochs);
  history.seconds_per_epoch = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count() /
                              static_cast<double>(std::max<std::size_t>(history.curve.size(), 1));
  return history;
}

void warn_of_trouble(const RunHistory& history, std::vector<Warning>& warnings) {
  if (history.trouble.empty()) return;
  warnings.push_back({"training_diverged",
                      fmt::format("{}. Epoch {}, which was finite, is kept.", history.trouble, history.chosen_epoch)});
}

}  // namespace wisecrowd
