#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "learn/shared/training_run.hpp"

namespace wisecrowd {

/// The tasks whose answers a first run does not see, and those that it sees.
struct HiddenTasks {
  TrainingSet hidden, seen;
};

/// Nothing if no task is to be hidden, or one of the parts would have no answer.
[[nodiscard]] std::optional<HiddenTasks> hide_tasks(const TrainingSet& all, double share, const RunContext& context);

/// Which epoch is kept, and how a run that did not see the hidden tasks came to it.
struct EpochChoice {
  std::size_t epochs = 0;             ///< to run
  std::size_t chosen = 0;             ///< to keep, from 1
  std::vector<double> held_out;       ///< by epoch: mean log probability, or density, of a hidden answer
  std::vector<double> per_task;       ///< the same at the chosen epoch, summed over the answers to each hidden task
  std::unique_ptr<BatchModel> model;  ///< at the chosen epoch, of the run that chose it; it looks at that run's tasks
  std::string trouble;                ///< of the run that chose, if it ended in numbers that are not finite
};

/// The choice where nothing is hidden.
[[nodiscard]] EpochChoice last_epoch(const TrainingOptions& options);

/// What a learner wants to know of the hidden tasks at the epoch that is the choice so far.
using LookAtHidden = std::function<void(const BatchModel& model, std::span<const double> outputs)>;

/// Trains on part of the tasks and looks when the answers to the rest are predicted best. Of epochs that chance cannot
/// tell apart it takes the latest: one standard error is given to it. Ends where the numbers are no longer finite, and
/// throws Diverged if that is the first epoch.
[[nodiscard]] EpochChoice choose_epoch(const HiddenTasks& parts, const Features& inputs, const NetworkSpec& network,
                                       const TrainingOptions& options, const BatchModelFactory& make_model,
                                       const RunContext& context, const LookAtHidden& look);

/// How a run on all tasks went.
struct RunHistory {
  std::vector<CurvePoint> curve;
  std::shared_ptr<const Snapshot> chosen;  ///< the state at the chosen epoch; null if the run did not come so far
  std::size_t epochs = 0;
  std::size_t chosen_epoch = 0;
  double seconds_per_epoch = 0;
  std::string trouble;  ///< of this run, or of the one that chose, if one ended in numbers that are not finite
};

/// Runs as many epochs as were chosen. Throws Diverged if the first one leaves the finite numbers; a later one ends the
/// run at the state before it.
[[nodiscard]] RunHistory run_epochs(TrainingRun& run, const EpochChoice& choice, const RunContext& context);

/// The warning of a run that was cut short, if it was.
void warn_of_trouble(const RunHistory& history, std::vector<Warning>& warnings);

}  // namespace wisecrowd
