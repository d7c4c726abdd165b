#include "aggregate_run.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "failure.hpp"
#include "screen_text.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::app {

void add_new(std::vector<Warning>& warnings, const std::vector<Warning>& more) {
  for (const Warning& warning : more) {
    const bool known =
        std::any_of(warnings.begin(), warnings.end(), [&](const Warning& w) { return w.code == warning.code; });
    if (!known) warnings.push_back(warning);
  }
}

void leave_out(const CleaningRequest& without, CategoryData& data, RunRecord& record, Work& work) {
  if (!without.any()) return;
  Cleaned rest = cleaned(data, without, work.context());
  work.check_stopped();
  data = std::move(rest.data);
  record.data_warnings.push_back(cleaning_note(rest.cleaning, data.answers.worker_count()));
  record.cleaning = std::move(rest.cleaning);
}

void complete_cleaned_fit(const CategoryData& all, const CategoryData& seen, const RunRecord& record, CategoryFit& fit,
                          Work& work) {
  if (!record.cleaning || record.cleaning->workers.empty()) return;
  describe_left_out(all, *record.cleaning, fit);
  // Copies that were left out deceive nobody any more.
  if (!fit.dependence) {
    fit.dependence = find_dependence({.answers = seen.answers, .trusted = seen.trusted}, {}, work.context());
  }
}

namespace {

std::uint64_t known_truths(const CategoryData& data) {
  return static_cast<std::uint64_t>(
      std::count_if(data.gold.begin(), data.gold.end(), [](ClassId k) { return k != kNoClass; }));
}

/// The settings of one stage: "init.name=value" belongs to init, "finish.name=value" to finish, others to the method.
std::vector<std::string> settings_of(const std::string& role, const std::vector<std::string>& settings) {
  std::vector<std::string> own;
  for (const std::string& setting : settings) {
    const std::string prefix = setting.substr(0, setting.find('='));
    const auto dot = prefix.find('.');
    const std::string whose = dot == std::string::npos ? "" : prefix.substr(0, dot);
    if (whose == role) own.push_back(dot == std::string::npos ? setting : setting.substr(dot + 1));
  }
  return own;
}

/// Init, method and finish in the order in which they run.
std::vector<MethodStage> stages_of(const AggregateRequest& request, RunRecord& record) {
  std::vector<MethodStage> stages;
  const auto add = [&](const std::string& role, const std::string& name) {
    const MethodInfo& info = method_named(name);
    if (!stages.empty() && !info.uses_start) {
      throw usage_error(
          fmt::format("{} does not iterate, so it cannot start from {}", info.name, stages.back().method));
    }
    const Parameters parameters = parameters_from(info.parameters, settings_of(role, request.settings), info.name);
    stages.push_back({info.name, parameters});
    if (role.empty()) {
      record.method = info.name;
      record.parameters = as_list(parameters);
    } else {
      record.stages.push_back({role, info.name, {}, as_list(parameters)});
    }
  };
  if (!request.init.empty()) {
    add("init", request.init);
    if (request.init_from_tables) stages.back().handoff = MethodStage::Handoff::tables;
    record.stages.back().handoff = request.init_from_tables ? "tables" : "posterior";
  }
  add("", request.method.empty() ? std::string(default_aggregation_method()) : request.method);
  if (!request.finish.empty()) add("finish", request.finish);
  for (const std::string& setting : request.settings) {
    const std::string name = setting.substr(0, setting.find('='));
    const auto whose = name.substr(0, name.find('.'));
    if (name.find('.') == std::string::npos || (whose == "init" && !request.init.empty()) ||
        (whose == "finish" && !request.finish.empty())) {
      continue;
    }
    throw usage_error(fmt::format("--set {}: {}", printable(setting),
                                  whose == "init" || whose == "finish"
                                      ? fmt::format("there is no --{} whose parameter it could be", whose)
                                      : "before the dot may stand init or finish"));
  }
  return stages;
}

/// How good the labels are that would be delivered.
Evaluation evaluate_delivered(const CategoryFit& fit, const CategoryData& data, double abstain_below,
                              const RunContext& context) {
  const auto labels = delivered_labels(fit, abstain_below);
  const bool all_abstained = std::none_of(labels.begin(), labels.end(), [&](const ClassId& label) {
    return label != kNoClass && data.gold[static_cast<std::size_t>(&label - labels.data())] != kNoClass;
  });
  if (all_abstained) {
    throw Failure(EX_DATAERR, fmt::format("no gold task is labelled with probability {} or more, so there is nothing "
                                          "to score: lower --abstain-below",
                                          abstain_below));
  }
  return evaluate(labels, fit.posterior, data.gold, data.answers.class_count(), {.tie_rule = fit.tie_rule}, context);
}

/// The answers, and when they were given if a column tells.
CategoryData read_answers(const AggregateRequest& request, AnswerTimes& times, Work& work, DataReport& report) {
  CategoryData data;
  if (request.read.time_column.empty()) {
    data = read_dataset(request.labels, request.gold, request.read, work.context(), &report);
  } else {
    TimedCategoryData timed = read_timed_dataset(request.labels, request.gold, request.read, work.context(), &report);
    times = std::move(timed.times);
    data = std::move(timed.data);
  }
  request.structure.apply(data, request.labels, request.read, work.context(), report.warnings);
  return data;
}

void look_at_pairs(const CategoryData& data, CategoryFit& fit, Work& work) {
  if (fit.dependence) return;
  fit.dependence = find_dependence({.answers = data.answers, .trusted = data.trusted},
                                   {.only_where_pairs_stand_out = true}, work.context());
}

}  // namespace

AggregateOutcome run_aggregate(const AggregateRequest& request, Session& session, Work& work) {
  // Everything that can be refused is refused before the long work.
  RunRecord record;
  const std::vector<MethodStage> stages = stages_of(request, record);
  for (const MethodStage& stage : stages) warn_of_former_names(session, stage.parameters);
  const MethodInfo& info = method_named(record.method);
  if (request.out) at_stage(Stage::creating, [&] { check_output_directory(*request.out); });

  record.version = WISECROWD_VERSION;
  record.reading = reading_record(request.read);
  record.command = session.typed;
  record.seed = work.context().seed();
  record.threads = work.context().threads();
  record.inputs.emplace_back("answers", request.labels);
  if (request.gold) record.inputs.emplace_back("gold", *request.gold);
  request.structure.record(record);

  Stopwatch watch;
  DataReport report;
  AnswerTimes times;
  CategoryData data = at_stage(Stage::reading, [&] { return read_answers(request, times, work, report); });
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
        {"gold_not_used",
         fmt::format("{} cannot use gold inside inference, so the gold tasks were kept for scoring.", record.method),
         "To let gold take part, choose a method that can use it (wisecrowd methods says which).", Severity::caution});
  }
  // Copies share the answers; only the gold is withheld.
  CategoryData seen = data;
  if (record.gold_use != "inference") seen.gold.clear();
  leave_out(request.without, seen, record, work);
  if (record.cleaning) record.timings.emplace_back("clean", watch.lap());
  CategoryFit fit = aggregate(seen, stages, work.context());
  work.check_stopped();
  complete_cleaned_fit(data, seen, record, fit, work);
  AggregateOutcome outcome;
  outcome.fit_seconds = watch.lap();
  record.timings.emplace_back("fit", outcome.fit_seconds);
  std::erase_if(fit.warnings, [&](const Warning& warning) {
    return std::any_of(record.data_warnings.begin(), record.data_warnings.end(),
                       [&](const Warning& known) { return known.code == warning.code; });
  });

  record.abstain_below = request.abstain_below;
  if (record.gold_use == "evaluation" && record.gold_tasks > 0) {
    record.evaluation = evaluate_delivered(fit, data, request.abstain_below, work.context());
    record.timings.emplace_back("evaluate", watch.lap());
    work.check_stopped();
  }
  if (request.look_at_pairs_only) look_at_pairs(data, fit, work);
  outcome.result = make_result(std::move(data), std::move(fit), std::move(record), work.context());
  outcome.result.times = std::move(times);
  outcome.result.record.timings.emplace_back("summarise", watch.lap());
  session.warn(outcome.result.record.data_warnings);
  session.warn(outcome.result.aggregation.warnings);
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
