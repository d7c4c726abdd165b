#include "wisecrowd/report.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/output_folder.hpp"
#include "deliver/report/embed.hpp"
#include "deliver/report/shared.hpp"
#include "deliver/report/template.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

using report::Json;

std::string text_of(const Json& document) {
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

ReportOptions with_learning(const LearnResult& result, ReportOptions options) {
  options.learned = summary_of(result);
  return options;
}

}  // namespace

std::string report_json(ResultView result, const ReportOptions& options, const RunContext& context) {
  context.report({.stage = "writing the report"});
  if (const CategoryResult* categories = result.categories()) {
    return text_of(report::categories_document(*categories, options, context));
  }
  if (const ComparisonResult* comparisons = result.comparisons()) {
    return text_of(report::comparisons_document(*comparisons, options, context));
  }
  if (const SimilarityResult* similarities = result.similarities()) {
    return text_of(report::similarities_document(*similarities, options, context));
  }
  if (const SetResult* sets = result.sets()) return text_of(report::sets_document(*sets, options, context));
  if (const SequenceResult* sequences = result.sequences()) {
    return text_of(report::sequences_document(*sequences, options, context));
  }
  return text_of(report::numbers_document(*result.numbers(), options, context));
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

std::string report_html(ResultView result, const ReportOptions& options, const RunContext& context) {
  if (options.page.empty()) check_report_page();
  return report_page(report_json(result, options, context), options.page);
}

std::string report_html(const LearnResult& result, const ReportOptions& options, const RunContext& context) {
  return report_html(result.crowd, with_learning(result, options), context);
}

Status write_report(ResultView result, const ReportOptions& options, const std::string& path,
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
