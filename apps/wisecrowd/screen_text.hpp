#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/names.hpp"  // IWYU pragma: export

namespace wisecrowd::app {

/// Columns that a terminal uses for UTF-8 text: 0 for combining marks, 2 for wide characters.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// printable(), cut to a width with … at the end.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

/// The same with … in the middle: names of a crowd often begin alike and differ at the end.
[[nodiscard]] std::string shortened_name(std::string_view name, std::size_t width);

/// Breaks text at blanks into lines of at most `width`; every line but the first starts with `indent` blanks.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

/// A word of the command line, quoted for a shell if it must be.
[[nodiscard]] std::string shell_word(std::string_view word);

[[nodiscard]] std::string grouped(std::uint64_t number);                          ///< 1,234,567
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view thing);  ///< "1 task", "2 tasks"
[[nodiscard]] std::string percent(double share);                                  ///< "12.3 %", "–" for NaN
[[nodiscard]] std::string fixed(double number, int digits);                       ///< "–" for NaN
[[nodiscard]] std::string duration(double seconds);                               ///< "3 ms", "1.2 s", "2 min 5 s"

/// "a,b,c" into its parts; a part in double quotes may hold commas, and "" inside stands for a quote.
[[nodiscard]] std::vector<std::string> split_list(std::string_view list);

/// The candidate nearest to a mistyped word, or nothing if none is near.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& candidates);
/// "; did you mean 'x'?" or nothing.
[[nodiscard]] std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace wisecrowd::app
