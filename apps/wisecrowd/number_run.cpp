#include "number_run.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "aggregate_run.hpp"
#include "failure.hpp"
#include "number_text.hpp"
#include "shared_json.hpp"
#include "table.hpp"
#include "wisecrowd/held_out.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::app {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> dimension_list(const NumberAnswers& answers) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < answers.dimensions(); ++d) names.emplace_back(answers.dimension_names()[d]);
  return names;
}

NumberData read_number_answers(const NumberRequest& request, Work& work, DataReport& report) {
  const std::optional<std::string> gold = request.gold.empty() ? std::nullopt : std::optional(request.gold);
  NumberData data = at_stage(Stage::reading, [&] {
    return read_numbers(request.answers, gold, request.read.options(), work.context(), &report);
  });
  work.check_stopped();
  return data;
}

const MethodInfo& number_method_named(const std::string& name) {
  try {
    return number_method(name);
  } catch (const Error& error) {
    throw usage_error(error.what());
  }
}

std::uint64_t known_numbers(const NumberData& data) {
  std::uint64_t known = 0;
  for (std::size_t t = 0; t < data.answers.task_count(); ++t) known += data.has_gold(TaskId(t)) ? 1 : 0;
  return known;
}

/// One method of a comparison, scored against gold.
struct NumberRow {
  std::string method;
  Parameters parameters;
  NumberEvaluation evaluation;
  double seconds = 0;
};

void compare_by_gold(const std::vector<MethodStage>& entrants, const NumberData& data, const NumberRequest& request,
                     Session& session, Work& work) {
  NumberData seen = data;
  seen.gold.clear();
  std::vector<NumberRow> rows;
  for (const MethodStage& entrant : entrants) {
    Stopwatch watch;
    const NumberFit fit = aggregate(seen, entrant.method, entrant.parameters, work.context());
    work.check_stopped();
    rows.push_back({entrant.method, entrant.parameters,
                    evaluate_numbers(fit.estimate, fit.low, fit.high, data.gold, fit.dimensions), watch.lap()});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const NumberRow& a, const NumberRow& b) {
    return a.evaluation.dimensions[0].absolute_error.value < b.evaluation.dimensions[0].absolute_error.value;
  });
  const std::vector<std::string> names = dimension_list(data.answers);
  if (request.json) {
    Json json = {{"answers_kind", "numbers"}, {"gold_tasks", known_numbers(data)}, {"methods", Json::array()}};
    for (const NumberRow& row : rows) {
      Json entry = number_evaluation_json(row.evaluation, names);
      entry["method"] = row.method;
      entry["seconds"] = row.seconds;
      json["methods"].push_back(std::move(entry));
    }
    session.out.add_json(json);
    return;
  }
  const Screen& screen = session.out_screen;
  session.out.add(number_data_line(data.answers, screen));
  session.out.add(
      fmt::format("{}   against gold of {}\n", screen.bold("Scored"), counted(known_numbers(data), "task")));
  for (const NumberRow& row : rows) {
    session.out.add(fmt::format("\n  {} ({})\n", screen.bold(row.method), duration(row.seconds)));
    session.out.add(number_score_lines(row.evaluation, names, screen));
  }
}

void compare_by_hidden_answers(const std::vector<MethodStage>& entrants, const NumberData& data,
                               const NumberRequest& request, Session& session, Work& work) {
  const HeldOut held_out(data, {.folds = request.folds, .share = request.share}, work.context());
  if (held_out.hidden_count() == 0) {
    throw Failure(EX_DATAERR, "no answer can be hidden, because each task has one at most: give --gold to score on");
  }
  auto scores = score_by_held_out_answers(held_out, entrants, work.context());
  work.check_stopped();
  std::stable_sort(scores.begin(), scores.end(), [](const HeldOutScore& a, const HeldOutScore& b) {
    return a.log_probability.value > b.log_probability.value;
  });
  if (request.json) {
    Json json = {{"answers_kind", "numbers"},
                 {"hidden_answers", held_out.hidden_count()},
                 {"folds", held_out.folds()},
                 {"methods", Json::array()}};
    for (const HeldOutScore& score : scores) {
      json["methods"].push_back({{"method", score.method},
                                 {"log_density", estimate_json(score.log_probability)},
                                 {"behind_best", estimate_json(score.behind_best)},
                                 {"seconds", score.seconds}});
    }
    session.out.add_json(json);
    return;
  }
  const Screen& screen = session.out_screen;
  session.out.add(number_data_line(data.answers, screen));
  session.out.add(fmt::format("{}   by {} that the methods did not see, in {}\n\n", screen.bold("Scored"),
                              counted(held_out.hidden_count(), "answer"), counted(held_out.folds(), "fold")));
  Table table({{"method", Column::Side::left}, {"log density"}, {"95 %"}, {"behind the best"}, {"95 %"}, {"time"}}, 1);
  for (const HeldOutScore& score : scores) {
    const bool best = score.behind_best.value == 0;
    const auto interval = [](const Estimate& m) { return fmt::format("{} to {}", fixed(m.low, 3), fixed(m.high, 3)); };
    table.add({score.method, fixed(score.log_probability.value, 4), interval(score.log_probability),
               best ? "best" : fixed(score.behind_best.value, 4), best ? "" : interval(score.behind_best),
               duration(score.seconds)});
  }
  session.out.add(table.text(screen.width, screen.dim_on(), screen.off()));
  session.out.add(
      "\n  " +
      wrapped("log density is the mean logarithm of the density that a method, fitted to the other answers, "
              "gives to a hidden one: higher is better. A difference whose interval contains 0 means "
              "nothing.",
              screen.width, 2) +
      "\n");
}

}  // namespace

void refuse_for_numbers(bool given, const std::string& flag) {
  if (given) throw usage_error(fmt::format("{} is for answers that are categories, not for --answers numbers", flag));
}

void aggregate_numbers(const NumberRequest& request, Session& session) {
  Work work(session, request.run);
  const MethodInfo& info =
      number_method_named(request.method.empty() ? std::string(default_number_method()) : request.method);
  const Parameters parameters = parameters_from(info.parameters, request.settings, info.name);
  if (!request.out.empty()) at_stage(Stage::creating, [&] { check_output_directory(request.out); });
  check_report(request.report);
  RunRecord record;
  record.version = WISECROWD_VERSION;
  record.command = session.typed;
  record.method = info.name;
  record.parameters = as_list(parameters);
  record.reading = reading_record(request.read.options());
  record.seed = work.context().seed();
  record.threads = work.context().threads();
  record.inputs.emplace_back("answers", request.answers);
  if (!request.gold.empty()) record.inputs.emplace_back("gold", request.gold);
  Stopwatch watch;
  DataReport report;
  NumberData data = read_number_answers(request, work, report);
  record.timings.emplace_back("read", watch.lap());
  record.data_warnings = report.warnings;
  add_new(record.data_warnings, describe(data.answers).warnings);
  record.timings.emplace_back("describe", watch.lap());
  record.gold_tasks = known_numbers(data);
  if (data.has_gold()) record.gold_use = request.gold_for_evaluation ? "evaluation" : "inference";
  NumberData seen = data;
  if (record.gold_use != "inference") seen.gold.clear();
  NumberFit fit = aggregate(seen, info.name, parameters, work.context());
  work.check_stopped();
  const double seconds = watch.lap();
  record.timings.emplace_back("fit", seconds);
  std::erase_if(fit.warnings, [&](const Warning& warning) {
    return std::any_of(record.data_warnings.begin(), record.data_warnings.end(),
                       [&](const Warning& known) { return known.code == warning.code; });
  });
  std::optional<NumberEvaluation> evaluation;
  if (record.gold_use == "evaluation" && record.gold_tasks > 0) {
    evaluation = evaluate_numbers(fit.estimate, fit.low, fit.high, data.gold, fit.dimensions);
    record.timings.emplace_back("evaluate", watch.lap());
  }
  NumberResult result = make_result(std::move(data), std::move(fit), std::move(record));
  result.evaluation = std::move(evaluation);
  session.warn(result.record.data_warnings);
  session.warn(result.fit.warnings);
  if (!request.out.empty()) {
    session.interrupts.writes_to(request.out);
    const Status status = at_stage(Stage::writing, [&] { return write_result(result, request.out, work.context()); });
    session.interrupts.writes_to("");
    if (status == Status::cancelled) throw Stopped();
  }
  const std::string& report_path = request.report.path;
  const std::size_t bytes = report_path.empty() ? 0 : write_run_report(result, std::nullopt, request.report, work);
  if (request.json) {
    auto json = Json::parse(run_json(result));
    json["out"] = request.out.empty() ? Json(nullptr) : Json(request.out);
    if (!report_path.empty()) json["report"] = report_path;
    session.out.add_json(json);
    return;
  }
  if (request.run.quiet) return;
  const Screen& screen = session.out_screen;
  session.out.add(number_summary(result, request.method.empty(), seconds, screen));
  if (!report_path.empty()) session.out.add(report_line(report_path, bytes, screen));
  if (request.out.empty() && !report_path.empty()) return;
  if (request.out.empty()) {
    session.out.add("\n" +
                    wrapped("Nothing was written. To keep the results, add --out and a folder:", screen.width, 0) +
                    fmt::format("\n  {} --out result\n", session.typed));
    return;
  }
  session.out.add(
      fmt::format("\n{} {}\n  estimates.csv  an estimate with its interval for each task\n"
                  "  workers.csv    bias and scale of each worker\n"
                  "  run.json       how it was made: parameters, seed, warnings, timings\n",
                  screen.bold("Written to"), shell_word(request.out)));
}

void describe_numbers(const NumberRequest& request, Session& session) {
  Work work(session, request.run);
  DataReport report;
  const NumberData data = read_number_answers(request, work, report);
  const NumberDescription description = describe(data.answers);
  std::vector<Warning> warnings = report.warnings;
  warnings.insert(warnings.end(), description.warnings.begin(), description.warnings.end());
  session.warn(warnings);
  if (request.json) {
    session.out.add_json(number_description_json(description, data.answers, warnings));
    return;
  }
  session.out.add(number_description_text(description, data.answers, session.out_screen));
  if (request.answers == "-") return;
  session.out.add(fmt::format("\nTo aggregate these answers:\n  wisecrowd aggregate {}{} --out result\n",
                              shell_word(request.answers), request.read.words(false)));
}

void compare_numbers(const NumberRequest& request, Session& session) {
  Work work(session, request.run);
  std::vector<std::string> names;
  if (request.method.empty()) {
    for (const MethodInfo& info : number_methods()) names.push_back(info.name);
  } else {
    names = split_list(request.method);
  }
  const auto parameters = parameters_for_each(
      names,
      [](const std::string& name) -> const std::vector<ParameterSpec>& { return number_method_named(name).parameters; },
      request.settings);
  std::vector<MethodStage> entrants;
  for (std::size_t i = 0; i < names.size(); ++i)
    entrants.push_back({number_method_named(names[i]).name, parameters[i]});
  DataReport report;
  const NumberData data = read_number_answers(request, work, report);
  session.warn(report.warnings);
  if (!request.gold.empty()) {
    compare_by_gold(entrants, data, request, session, work);
  } else {
    compare_by_hidden_answers(entrants, data, request, session, work);
  }
}

}  // namespace wisecrowd::app
