#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace wisecrowd::service {

/// What an entry of a journal says. The numbers stand in files.
enum class EntryKind : std::int64_t { answer = 0, withdrawal = 1, gold = 2, task = 3 };

/// One thing that somebody told the service.
struct Entry {
  EntryKind kind = EntryKind::answer;
  std::string task, worker, label;
  double time = std::numeric_limits<double>::quiet_NaN();     ///< when it was given, seconds since 1970
  double seconds = std::numeric_limits<double>::quiet_NaN();  ///< how long the worker took
  std::string link;                                           ///< where people see the task
  std::string assignment;                                     ///< what a platform calls this piece of work
  std::int64_t position = 0;                                  ///< in the journal, from 1
};

struct RowError {
  std::size_t row = 0;  ///< from 1
  std::string field, message;
};

/// The rows of a body, or what is wrong with them.
struct Rows {
  std::vector<Entry> entries;
  std::vector<RowError> errors;  ///< the first hundred
  std::size_t error_count = 0;
};

inline constexpr std::size_t kMostRows = 100'000;
inline constexpr std::size_t kMostShownErrors = 100;
/// In bytes. Names travel in URLs and lists, so they are held shorter than a state would.
inline constexpr std::size_t kLongestServiceName = 1024;

enum class RowFormat { ndjson, json };

/// Answers {"task", "worker", "label", "seconds"?, "time"?, "assignment"?}; a label that is null takes the answer back.
[[nodiscard]] Rows parse_answers(std::string_view body, RowFormat format);
/// Known truths {"task", "label"}.
[[nodiscard]] Rows parse_gold(std::string_view body, RowFormat format);
/// Tasks to be asked about {"task", "link"?}.
[[nodiscard]] Rows parse_tasks(std::string_view body, RowFormat format);

/// One JSON value of untrusted text: not nested too deep, UTF-8. Throws Refusal 400 that says what is wrong.
[[nodiscard]] nlohmann::json parse_json(std::string_view body);
/// What is wrong with a name, or nothing.
[[nodiscard]] std::string service_name_problem(std::string_view name);
/// A link that a page may show: http or https, no blanks, not too long.
[[nodiscard]] bool is_plain_link(std::string_view link) noexcept;

}  // namespace wisecrowd::service
