#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wisecrowd {

/// In bytes.
inline constexpr std::size_t kLongestName = 0xFFFF;

/// The one rule for names of tasks, workers and classes, wherever they come from (tables, states, models, callers): not
/// empty, at most kLongestName bytes, UTF-8, and no NUL. Other control characters are data; printable() spells them out
/// where they are shown. Returns what is wrong with the name and the remedy, "is empty: …", or nothing.
[[nodiscard]] std::string_view name_problem(std::string_view name) noexcept;

/// Throws bad_input that begins with `where` and shows the name, unless the rule holds: "crowd.state: worker 'a\x00b'
/// holds a NUL …".
void require_name(std::string_view name, std::string_view where);

/// A name that spreadsheets take for text: one that begins with =, +, -, @, a tab or a carriage return and is no number
/// gets an apostrophe in front. Different names stay different.
[[nodiscard]] std::string spreadsheet_safe(std::string_view name);

/// Untrusted text (names, paths) as it may be shown on a terminal: control characters (also U+0080 to U+009F), bytes
/// that are not UTF-8, and characters that change the direction of writing are spelled out.
[[nodiscard]] std::string printable(std::string_view text);
/// The same for messages of several lines: line breaks stay.
[[nodiscard]] std::string printable_lines(std::string_view text);

}  // namespace wisecrowd
