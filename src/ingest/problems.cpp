#include "ingest/problems.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/utf8.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd {

std::string DataProblem::text() const {
  std::string out = file;
  if (line > 0) out += fmt::format(":{}", line);
  out += ": ";
  if (!column.empty()) out += fmt::format("column '{}': ", column);
  if (!value.empty()) out += fmt::format("value '{}': ", value);
  return out + message;
}

namespace ingest {

std::string printable(std::string_view value, std::size_t most_characters) {
  std::size_t at = 0;
  for (std::size_t characters = 0; at < value.size() && characters < most_characters; ++characters) {
    at += first_character(value.substr(at)).bytes;
  }
  return wisecrowd::printable(value.substr(0, at)) + (at < value.size() ? "…" : "");
}

std::string shortened_list(const std::vector<std::string>& items, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < items.size() && i < most; ++i) {
    if (i > 0) out += ", ";
    out += printable(items[i]);
  }
  if (items.size() > most) out += fmt::format(" and {} more", items.size() - most);
  return out;
}

void ProblemList::add(Problem problem) {
  ++count;
  if (wants_text()) first.push_back(std::move(problem));
}

void ProblemList::clear() noexcept {
  count = 0;
  first.clear();
}

void add_problems(const ProblemList& list, const std::string& file, std::uint64_t first_line, DataReport& report) {
  report.problem_count += list.count;
  for (const auto& problem : list.first) {
    if (report.problems.size() >= kMostProblemsShown) return;
    report.problems.push_back({file, problem.line + first_line, problem.column, problem.value, problem.message});
  }
}

void sort_problems(DataReport& report) {
  std::stable_sort(report.problems.begin(), report.problems.end(),
                   [](const auto& a, const auto& b) { return a.line < b.line; });
  if (report.problems.size() > kMostProblemsShown) report.problems.resize(kMostProblemsShown);
}

void settle_problems(const std::string& file, bool lenient, DataReport& report) {
  if (report.problem_count == 0) return;
  if (lenient) {
    report.warnings.push_back(
        {"rows_dropped", fmt::format("{}: {} of {} rows were dropped because of problems, the first one being: {}",
                                     file, report.rows_dropped, report.rows, report.problems.front().text())});
    return;
  }
  std::string message =
      fmt::format("{}: {} problem{} found", file, report.problem_count, report.problem_count == 1 ? "" : "s");
  for (const auto& problem : report.problems) message += "\n  " + problem.text();
  if (report.problem_count > report.problems.size()) {
    message += fmt::format("\n  … and {} more", report.problem_count - report.problems.size());
  }
  message += "\nCorrect the file, or read it with `lenient`, which drops such rows";
  throw Error(ErrorCode::bad_input, message);
}

void refuse_all_rows(const std::string& file, const DataReport& report) {
  throw Error(ErrorCode::bad_input, fmt::format("{}: none of its {} rows can be used. The first problem: {}", file,
                                                report.rows, report.problems.front().text()));
}

}  // namespace ingest
}  // namespace wisecrowd
