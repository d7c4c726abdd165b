#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/ingest.hpp"

namespace wisecrowd::ingest {

inline constexpr std::size_t kMostProblemsShown = 20;

/// The text as it may be shown on a terminal: control characters and bytes that are not UTF-8 are spelled out, and what
/// is too long is cut.
[[nodiscard]] std::string printable(std::string_view value, std::size_t most_characters = 60);

/// A list with commas, shortened: "a, b, c and 12 more".
[[nodiscard]] std::string shortened_list(const std::vector<std::string>& items, std::size_t most);

/// A problem whose line is counted from the start of a stretch of text.
struct Problem {
  std::uint64_t line;
  std::string column;
  std::string value;
  std::string message;
};

/// Problems of one stretch in file order: the first ones in full, the rest as a number.
struct ProblemList {
  std::uint64_t count = 0;
  std::vector<Problem> first;

  /// True when the next one will be kept in full; spares the making of a message that nobody sees.
  [[nodiscard]] bool wants_text() const noexcept { return first.size() < kMostProblemsShown; }
  void add(Problem problem);
  void add_without_text() noexcept { ++count; }
  void clear() noexcept;
};

/// Appends the problems of a stretch that begins at `first_line` to the report.
void add_problems(const ProblemList& list, const std::string& file, std::uint64_t first_line, DataReport& report);

/// Brings problems that were found in several passes over a file into its order.
void sort_problems(DataReport& report);

/// Strict: throws bad_input with the listed problems if there are any. Lenient: adds a warning.
void settle_problems(const std::string& file, bool lenient, DataReport& report);

/// Throws bad_input: nothing of the file can be used, with its first problem.
[[noreturn]] void refuse_all_rows(const std::string& file, const DataReport& report);

}  // namespace wisecrowd::ingest
