#pragma once

#include <string>
#include <string_view>

#include "wisecrowd/fit_summary.hpp"

// Messages of the engine name options by their own names between backticks, `lenient` or `duplicates=repeat`, because
// every surface spells them in its own way: a keyword in Python, a flag on the command line.

namespace wisecrowd {

/// A message for the command line: `duplicates=repeat` becomes --duplicates repeat, and `gold_columns` --gold-columns.
[[nodiscard]] std::string with_flags(std::string_view message);

/// Message and remedy as one text.
[[nodiscard]] std::string full_text(const Warning& warning);

/// "note", "caution" or "serious".
[[nodiscard]] std::string_view to_string(Severity severity) noexcept;
/// Throws bad_parameter that lists the names when there is none such.
[[nodiscard]] Severity severity_named(std::string_view name);

}  // namespace wisecrowd
