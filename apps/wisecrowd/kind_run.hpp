#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "aggregate_run.hpp"
#include "failure.hpp"
#include "kind_commands.hpp"
#include "screen_text.hpp"
#include "shared_json.hpp"
#include "table.hpp"
#include "wisecrowd/held_out.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/version.hpp"

// aggregate, describe and compare, for every kind of answers but categories. A kind says what differs in a `Surface`:
//
//   struct NumberSurface {
//     using Kind = Numbers;
//     static Data read(const KindRequest&, const RunContext&, DataReport&);
//     static std::vector<Warning> warnings(const Data&);             what a look at the data tells
//     static std::uint64_t known(const Data&);                       how much gold there is
//     static void forget_gold(Data&);
//     static Evaluation evaluate(const Data& with_gold, const Fit&);
//     static double badness(const Evaluation&);                      orders the methods of a comparison
//     static std::string data_line(const Data&, const Screen&);
//     static std::string summary(const Result&, bool is_default, double seconds, const Screen&);
//     static std::string score_lines(const Evaluation&, const Data&, const Screen&);
//     static Json score_json(const Evaluation&, const Data&);
//     static std::string description_text(const Data&, const Screen&);
//     static Json description_json(const Data&, const std::vector<Warning>&);
//     static constexpr const char* kGoldUnit = "task", * kScore = "log density", * kScoreKey = "log_density";
//     static constexpr const char* kAboutScore = "...";              what the score of hidden answers means
//     static constexpr const char* kFiles = "  estimates.csv  ...";  lines about the files
//   };

namespace wisecrowd::app {

using Json = nlohmann::ordered_json;

template <class Surface>
using DataOf = typename Surface::Kind::Data;

template <class Surface>
[[nodiscard]] const MethodInfo& method_of_kind(const std::string& name) {
  try {
    return method_of<typename Surface::Kind>(name);
  } catch (const Error& error) {
    throw usage_error(error.what());
  }
}

template <class Surface>
[[nodiscard]] DataOf<Surface> read_kind(const KindRequest& request, Work& work, DataReport& report) {
  DataOf<Surface> data = at_stage(Stage::reading, [&] { return Surface::read(request, work.context(), report); });
  work.check_stopped();
  return data;
}

/// What is recorded before the answers are read.
[[nodiscard]] RunRecord record_before(const KindRequest& request, const MethodInfo& info, const Parameters& parameters,
                                      const Session& session, const RunContext& context);
/// The last lines: how to keep what was not written, or what was.
[[nodiscard]] std::string what_was_kept(const KindRequest& request, const char* files, const Session& session);
void show_hidden_scores(std::vector<HeldOutScore> scores, std::size_t hidden, std::size_t folds, const char* score,
                        const char* about, const Screen& screen, Session& session);
[[nodiscard]] Json hidden_scores_json(std::string_view kind, const std::vector<HeldOutScore>& scores,
                                      std::size_t hidden, std::size_t folds, const char* key);

template <class Surface>
void aggregate_kind(const KindRequest& request, Session& session) {
  Work work(session, request.run);
  using Kind = typename Surface::Kind;
  const MethodInfo& info =
      method_of_kind<Surface>(request.method.empty() ? std::string(default_method_of<Kind>()) : request.method);
  const Parameters parameters = parameters_from(info.parameters, request.settings, info.name);
  if (!request.out.empty()) at_stage(Stage::creating, [&] { check_output_directory(request.out); });
  check_report(request.report);
  RunRecord record = record_before(request, info, parameters, session, work.context());
  Stopwatch watch;
  DataReport report;
  DataOf<Surface> data = read_kind<Surface>(request, work, report);
  record.timings.emplace_back("read", watch.lap());
  record.data_warnings = report.warnings;
  add_new(record.data_warnings, Surface::warnings(data));
  record.timings.emplace_back("describe", watch.lap());
  record.gold_tasks = Surface::known(data);
  if (data.has_gold()) record.gold_use = request.gold_for_evaluation ? "evaluation" : "inference";
  DataOf<Surface> seen = data;
  if (record.gold_use != "inference") Surface::forget_gold(seen);
  auto fit = aggregate(seen, info.name, parameters, work.context());
  work.check_stopped();
  const double seconds = watch.lap();
  record.timings.emplace_back("fit", seconds);
  std::erase_if(fit.warnings, [&](const Warning& warning) {
    return std::any_of(record.data_warnings.begin(), record.data_warnings.end(),
                       [&](const Warning& known) { return known.code == warning.code; });
  });
  const bool scored = record.gold_use == "evaluation" && record.gold_tasks > 0;
  auto result = make_result(std::move(data), std::move(fit), std::move(record));
  if (scored) {
    result.evaluation = Surface::evaluate(result.data, result.fit);
    result.record.timings.emplace_back("evaluate", watch.lap());
  }
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
  session.out.add(Surface::summary(result, request.method.empty(), seconds, screen));
  if (!report_path.empty()) session.out.add(report_line(report_path, bytes, screen));
  session.out.add(what_was_kept(request, Surface::kFiles, session));
}

template <class Surface>
void describe_kind(const KindRequest& request, Session& session) {
  Work work(session, request.run);
  DataReport report;
  const DataOf<Surface> data = read_kind<Surface>(request, work, report);
  std::vector<Warning> warnings = report.warnings;
  add_new(warnings, Surface::warnings(data));
  session.warn(warnings);
  if (request.json) {
    session.out.add_json(Surface::description_json(data, warnings));
    return;
  }
  session.out.add(Surface::description_text(data, session.out_screen));
  if (request.answers == "-") return;
  session.out.add(fmt::format("\nTo aggregate these answers:\n  wisecrowd aggregate {}{} --out result\n",
                              shell_word(request.answers), request.read.words(false)));
}

template <class Surface>
void compare_by_gold(const std::vector<MethodStage>& entrants, const DataOf<Surface>& data, const KindRequest& request,
                     Session& session, Work& work) {
  struct Row {
    std::string method;
    decltype(Surface::evaluate(data, {})) evaluation;
    double seconds = 0;
  };
  DataOf<Surface> seen = data;
  Surface::forget_gold(seen);
  std::vector<Row> rows;
  for (const MethodStage& entrant : entrants) {
    Stopwatch watch;
    const auto fit = aggregate(seen, entrant.method, entrant.parameters, work.context());
    work.check_stopped();
    const double seconds = watch.lap();
    rows.push_back({entrant.method, Surface::evaluate(data, fit), seconds});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return Surface::badness(a.evaluation) < Surface::badness(b.evaluation);
  });
  if (request.json) {
    Json json = {{"answers_kind", Surface::Kind::name},
                 {fmt::format("gold_{}s", Surface::kGoldUnit), Surface::known(data)},
                 {"methods", Json::array()}};
    for (const Row& row : rows) {
      Json entry = Surface::score_json(row.evaluation, data);
      entry["method"] = row.method;
      entry["seconds"] = row.seconds;
      json["methods"].push_back(std::move(entry));
    }
    session.out.add_json(json);
    return;
  }
  const Screen& screen = session.out_screen;
  session.out.add(Surface::data_line(data, screen));
  session.out.add(fmt::format("{}   against gold of {}\n", screen.bold("Scored"),
                              counted(Surface::known(data), Surface::kGoldUnit)));
  for (const Row& row : rows) {
    session.out.add(fmt::format("\n  {} ({})\n", screen.bold(row.method), duration(row.seconds)));
    session.out.add(Surface::score_lines(row.evaluation, data, screen));
  }
}

template <class Surface>
void compare_by_hidden_answers(const std::vector<MethodStage>& entrants, const DataOf<Surface>& data,
                               const KindRequest& request, Session& session, Work& work) {
  const HeldOut<typename Surface::Kind> held_out(data, {.folds = request.folds, .share = request.share},
                                                 work.context());
  if (held_out.hidden_count() == 0) {
    throw Failure(EX_DATAERR, "no answer can be hidden, because each task has one at most: give --gold to score on");
  }
  auto scores = score_by_held_out_answers(held_out, entrants, work.context());
  work.check_stopped();
  std::stable_sort(scores.begin(), scores.end(), [](const HeldOutScore& a, const HeldOutScore& b) {
    return a.log_probability.value > b.log_probability.value;
  });
  if (request.json) {
    session.out.add_json(
        hidden_scores_json(Surface::Kind::name, scores, held_out.hidden_count(), held_out.folds(), Surface::kScoreKey));
    return;
  }
  session.out.add(Surface::data_line(data, session.out_screen));
  show_hidden_scores(std::move(scores), held_out.hidden_count(), held_out.folds(), Surface::kScore,
                     Surface::kAboutScore, session.out_screen, session);
}

template <class Surface>
void compare_kind(const KindRequest& request, Session& session) {
  Work work(session, request.run);
  std::vector<std::string> names;
  if (request.method.empty()) {
    for (const MethodInfo& info : methods_of<typename Surface::Kind>()) names.push_back(info.name);
  } else {
    names = split_list(request.method);
  }
  const auto parameters = parameters_for_each(
      names,
      [](const std::string& name) -> const std::vector<ParameterSpec>& {
        return method_of_kind<Surface>(name).parameters;
      },
      request.settings);
  std::vector<MethodStage> entrants;
  for (std::size_t i = 0; i < names.size(); ++i) {
    entrants.push_back({method_of_kind<Surface>(names[i]).name, parameters[i]});
  }
  DataReport report;
  const DataOf<Surface> data = read_kind<Surface>(request, work, report);
  session.warn(report.warnings);
  if (data.has_gold()) {
    compare_by_gold<Surface>(entrants, data, request, session, work);
  } else {
    compare_by_hidden_answers<Surface>(entrants, data, request, session, work);
  }
}

}  // namespace wisecrowd::app
