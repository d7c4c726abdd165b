#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wisecrowd/comparison.hpp"
#include "wisecrowd/learn_result.hpp"
#include "wisecrowd/result.hpp"
#include "wisecrowd/run_context.hpp"
#include "wisecrowd/savings.hpp"
#include "wisecrowd/trust_study.hpp"

namespace wisecrowd {

struct ReportOptions {
  std::string title;  ///< empty: the recorded name of the answers
  /// What the method says of itself.
  std::string method_title, method_summary;
  std::optional<Comparison> comparison;
  std::string comparison_note;  ///< why there is no comparison, if there is none
  std::optional<Savings> savings;
  std::string fairness;                 ///< the record of a look at fairness (fairness_json, read_fairness), or empty
  std::optional<TrustStudy> trust;      ///< what trust found; without, the report looks itself
  std::optional<LearnSummary> learned;  ///< the crowd of the result was part of learning
  /// The page, with a mark for the data and one for the title; empty: the program's own.
  std::string page;
};

/// Everything that the page shows of a result of any kind, as one JSON object (docs/REPORT.md has its fields). It holds
/// at most about 1.8 MB however large the data: what does not fit is summed up or sampled, and "sampling" says how.
/// Numbers are those that the files of write_result hold, so a report made later from the folder is the same.
[[nodiscard]] std::string report_json(ResultView result, const ReportOptions& options, const RunContext& context);
[[nodiscard]] std::string report_json(const LearnResult& result, const ReportOptions& options,
                                      const RunContext& context);

/// One self-contained HTML file with the data inside. Throws unsupported when the program was built without the page.
[[nodiscard]] std::string report_html(ResultView result, const ReportOptions& options, const RunContext& context);
[[nodiscard]] std::string report_html(const LearnResult& result, const ReportOptions& options,
                                      const RunContext& context);
/// The page around a document that report_json made.
[[nodiscard]] std::string report_page(const std::string& json, const std::string& page);

/// Throws unsupported when the program was built without the page. Ask before a long computation.
void check_report_page();

/// Writes the page, or the data alone if the path ends with .json, to a file that appears whole or not at all; an
/// existing one is replaced. Status::cancelled, with nothing written, when the context is cancelled on the way.
Status write_report(ResultView result, const ReportOptions& options, const std::string& path,
                    const RunContext& context);
Status write_report(const LearnResult& result, const ReportOptions& options, const std::string& path,
                    const RunContext& context);

}  // namespace wisecrowd
