#pragma once

#include <string>

#include "wisecrowd/judge_files.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// Everything that the page of a look at judges shows, as one JSON object (docs/REPORT.md).
[[nodiscard]] std::string judge_report_json(const JudgeRun& run, const std::string& title);

/// Writes the page, or the data alone if the path ends with .json, to a file that appears whole or not at all. Throws
/// unsupported when the program was built without the page.
void write_judge_report(const JudgeRun& run, const std::string& title, const std::string& path);

}  // namespace wisecrowd
