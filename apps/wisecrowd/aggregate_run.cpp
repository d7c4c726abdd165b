#include "aggregate_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "failure.hpp"
#include "screen_text.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::app {
namespace {

/// Adds warnings whose code is not there yet: data and method may notice the same thing.
void add_new(std::vector<Warning>& warnings, const std::vector<Warning>& more) {
  for (const Warning& warning : more) {
    const bool known =
        std::any_of(warnings.begin(), warnings.end(), [&](const Warning& w) { return w.code == warning.code; });
    if (!known) warnings.push_back(warning);
  }
}

std::uint64_t known_truths(const Dataset& data) {
  return static_cast<std::uint64_t>(
      std::count_if(data.gold.begin(), data.gold.end(), [](ClassId k) { return k != kNoClass; }));
}

}  // namespace

AggregateOutcome run_aggregate(const AggregateRequest& request, Session& session, Work& work) {
  // Everything that can be refused is refused before the long work.
  const std::string method = request.method.empty() ? std::string(default_aggregation_method()) : request.method;
  const MethodInfo& info = method_named(method);
  const Parameters parameters = parameters_from(info.parameters, request.settings, method);
  if (request.out) at_stage(Stage::creating, [&] { check_output_directory(*request.out); });

  RunRecord record;
  record.version = WISECROWD_VERSION;
  record.command = session.typed;
  record.method = method;
  record.parameters = as_list(parameters);
  record.seed = work.context().seed();
  record.threads = work.context().threads();
  record.inputs.emplace_back("answers", request.labels);
  if (request.gold) record.inputs.emplace_back("gold", *request.gold);

  Stopwatch watch;
  DataReport report;
  Dataset data = at_stage(Stage::reading, [&] {
    return read_dataset(request.labels, request.gold, request.read, work.context(), &report);
  });
  work.check_stopped();
  record.timings.emplace_back("read", watch.lap());
  record.data_warnings = report.warnings;
  add_new(record.data_warnings, describe(data.answers).warnings);
  record.timings.emplace_back("describe", watch.lap());
  work.check_stopped();

  record.gold_tasks = known_truths(data);
  if (data.has_gold()) record.gold_use = request.gold_for_evaluation ? "evaluation" : "inference";
  if (record.gold_use == "inference" && !info.uses_gold) {
    record.gold_use = "evaluation";
    record.data_warnings.push_back(
        {"gold_not_used", fmt::format("{} cannot use gold inside inference, so the gold tasks "
                                      "were kept for scoring.",
                                      method)});
  }
  // Copies share the answers; only the gold is withheld.
  Dataset seen = data;
  if (record.gold_use != "inference") seen.gold.clear();
  Aggregation fit = aggregate(seen, method, parameters, work.context());
  work.check_stopped();
  AggregateOutcome outcome;
  outcome.fit_seconds = watch.lap();
  record.timings.emplace_back("fit", outcome.fit_seconds);
  std::erase_if(fit.warnings, [&](const Warning& warning) {
    return std::any_of(record.data_warnings.begin(), record.data_warnings.end(),
                       [&](const Warning& known) { return known.code == warning.code; });
  });

  if (record.gold_use == "evaluation" && record.gold_tasks > 0) {
    record.evaluation = evaluate(fit.labels, fit.posterior, data.gold, data.answers.class_count(),
                                 {.tie_rule = fit.tie_rule}, work.context());
    record.timings.emplace_back("evaluate", watch.lap());
    work.check_stopped();
  }
  outcome.result = make_result(std::move(data), std::move(fit), std::move(record), work.context());
  outcome.result.record.timings.emplace_back("summarise", watch.lap());
  work.check_stopped();

  if (request.out) {
    session.interrupts.writes_to(*request.out);
    const Status status =
        at_stage(Stage::writing, [&] { return write_result(outcome.result, *request.out, work.context()); });
    session.interrupts.writes_to("");
    outcome.result.record.timings.emplace_back("write", watch.lap());
    if (status == Status::cancelled) throw Stopped();
  }
  return outcome;
}

}  // namespace wisecrowd::app
