#pragma once

#include <optional>
#include <string>

#include "common_options.hpp"
#include "wisecrowd/report.hpp"

namespace wisecrowd::app {

/// What a report is made of besides the result.
struct ReportRequest {
  std::string path;      ///< a file that ends with .json gets the data alone
  std::string title;     ///< empty: the name of the answers
  std::string replay;    ///< a folder of select --replay or dalc-loop, or empty
  std::string compare;   ///< what compare --json printed, "none", or empty to run some quick methods
  std::string fairness;  ///< a folder that fairness wrote, or empty
  bool force = false;    ///< replace a file at `path` that we did not write
};

/// Adds --title, --replay, --fairness and --compare.
void add_report_flags(Command& command, ReportRequest& request);

/// Refuses before any work what could not be written or read.
void check_report(const ReportRequest& request);

/// What the report shows besides the result; runs the quick methods if they are wanted and there are some for its kind.
[[nodiscard]] ReportOptions report_options(ResultView result, const std::optional<LearnSummary>& learned,
                                           const ReportRequest& request, Work& work);

/// What a command found besides, and is no file yet.
struct FoundBesides {
  std::string fairness;             ///< the record of a look at it
  std::optional<TrustStudy> trust;  ///< of the workers
};

/// Makes and writes it; returns how many bytes it has.
std::size_t write_run_report(ResultView result, const std::optional<LearnSummary>& learned,
                             const ReportRequest& request, Work& work, FoundBesides besides = {});

/// "Report  report.html (812 kB)"
[[nodiscard]] std::string report_line(const std::string& path, std::size_t bytes, const Screen& screen);

}  // namespace wisecrowd::app
