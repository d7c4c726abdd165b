#include "wisecrowd/report.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/output_folder.hpp"
#include "deliver/report/embed.hpp"
#include "deliver/report/sections.hpp"
#include "deliver/report/template.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd {
namespace {

using report::Json;

/// The last two parts of a path: "bluebird/labels.csv".
std::string short_path(const std::string& path) {
  const std::filesystem::path whole(path);
  const std::filesystem::path folder = whole.parent_path().filename();
  return (folder.empty() || folder == "." || folder == ".." ? whole.filename() : folder / whole.filename()).string();
}

std::string title_of(const RunRecord& record, const ReportOptions& options) {
  if (!options.title.empty()) return report::shown_words(options.title, 300);
  for (const auto& [role, path] : record.inputs) {
    if ((role == "answers" || role == "state") && path != "-") return report::shown_words(short_path(path), 300);
  }
  return "Answers of a crowd";
}

/// What the answered tasks score, if that was measured.
const Evaluation* evaluation_of(const Result& result, const ReportOptions& options) {
  if (result.record.evaluation) return &*result.record.evaluation;
  if (!options.learned) return nullptr;
  for (const LearnScore& score : options.learned->scores) {
    if (score.part == "answered_tasks") return &score.chosen;
  }
  return nullptr;
}

Json document_of(const Result& given, const ReportOptions& options, const RunContext& context) {
  context.report({.stage = "writing the report"});
  const Result result = rounded_for_files(given, context);
  const ReportFacts facts = report_facts(result, evaluation_of(result, options), context);
  report::Source source{.result = result,
                        .options = options,
                        .context = context,
                        .facts = facts,
                        .classes = report::ShownClasses(result),
                        .labels = delivered_labels(result.aggregation, result.record.abstain_below),
                        .worker_order = {},
                        .workers_chosen_by = {},
                        .advice = {},
                        .sampling = {}};
  report::choose_workers(source);
  Json document = {{"schema", 1},
                   {"program", {{"name", "wisecrowd"}, {"version", WISECROWD_VERSION}}},
                   {"kind", options.learned ? "learn" : "aggregate"},
                   {"title", title_of(result.record, options)}};
  for (const auto add :
       {report::add_run, report::add_counts, report::add_warnings, report::add_headlines, report::add_classes,
        report::add_workers, report::add_tasks, report::add_graph, report::add_convergence, report::add_comparison,
        report::add_gold, report::add_learning, report::add_savings}) {
    if (context.cancelled()) throw Cancelled();
    add(source, document);
  }
  document["sampling"] = source.sampling;
  return document;
}

std::string text_of(const Json& document) {
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

ReportOptions with_learning(const LearnResult& result, ReportOptions options) {
  options.learned = summary_of(result);
  return options;
}

}  // namespace

std::string report_json(const Result& result, const ReportOptions& options, const RunContext& context) {
  return text_of(document_of(result, options, context));
}

std::string report_json(const LearnResult& result, const ReportOptions& options, const RunContext& context) {
  return report_json(result.crowd, with_learning(result, options), context);
}

void check_report_page() {
  if (report_template().empty()) {
    throw Error(
        ErrorCode::unsupported,
        "this wisecrowd was built without the report's page: `./run report` builds it, or install nodejs and npm and "
        "configure again (cmake says WISECROWD_REPORT); or take the data alone (a file name that ends with .json)");
  }
}

std::string report_page(const std::string& json, const std::string& page) {
  if (page.empty()) check_report_page();
  // The title is in the document already.
  const std::string title = Json::parse(json).value("title", "");
  return report::fill_page(page.empty() ? report_template() : std::string_view(page),
                           fmt::format("{} – wisecrowd", title), json);
}

std::string report_html(const Result& result, const ReportOptions& options, const RunContext& context) {
  if (options.page.empty()) check_report_page();
  return report_page(report_json(result, options, context), options.page);
}

std::string report_html(const LearnResult& result, const ReportOptions& options, const RunContext& context) {
  return report_html(result.crowd, with_learning(result, options), context);
}

Status write_report(const Result& result, const ReportOptions& options, const std::string& path,
                    const RunContext& context) {
  std::string text;
  try {
    text =
        path.ends_with(".json") ? report_json(result, options, context) + "\n" : report_html(result, options, context);
  } catch (const Cancelled&) {
    return Status::cancelled;
  }
  if (context.cancelled()) return Status::cancelled;
  write_file_whole(path, text);
  return Status::converged;
}

Status write_report(const LearnResult& result, const ReportOptions& options, const std::string& path,
                    const RunContext& context) {
  return write_report(result.crowd, with_learning(result, options), path, context);
}

}  // namespace wisecrowd
