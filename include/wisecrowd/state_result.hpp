#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/category_result.hpp"
#include "wisecrowd/state.hpp"

namespace wisecrowd {

/// True when the file is a SQLite database, as states are.
[[nodiscard]] bool is_state_file(const std::string& path);

/// What a look at all answers tells that a fit does not see (what no method can learn from them, workers who answer as
/// one): for CrowdState::create and refit.
[[nodiscard]] std::vector<Warning> inspect_answers(const CategoryAnswers& answers, const RunContext& context);

/// All that a state knows, as a result: what export writes and reports show. `path` and `command` are for the record.
/// Gold that the fit does not see scores the labels.
[[nodiscard]] CategoryResult state_result(const CrowdState& state, const std::string& path, const std::string& command,
                                          const RunContext& context);

/// Something about a state that somebody should see to.
struct Alert {
  /// Stable and short: "refit_due", "worker_stop", "worker_worse", "no_agreement", "gold_contradicted", or the code of
  /// a warning.
  std::string code;
  bool urgent = true;                       ///< false: good to know
  std::string message;                      ///< a sentence, with a remedy
  std::vector<std::string> workers, tasks;  ///< whom and what it is about; tasks: the first of them
  std::uint64_t count = 0;                  ///< how many workers or tasks there are, 0 if it is about the whole
};

struct AlertOptions {
  double agreed = 0.6;              ///< no agreement: no class has this probability …
  std::uint64_t least_answers = 5;  ///< … after so many answers
  std::size_t most_named = 20;      ///< tasks that are named in one alert
};

/// What needs attention, the urgent first: a model that is stale, workers to stop, to retrain or to check, those who
/// got worse (of `alarms`, the state's, those that last), tasks without agreement, gold that nobody agrees with, and
/// the warnings of the last fit. Reads everything.
[[nodiscard]] std::vector<Alert> state_alerts(const CategoryResult& result, const AlertOptions& options,
                                              const RunContext& context, const std::vector<WorkerAlarm>& alarms = {});

}  // namespace wisecrowd
