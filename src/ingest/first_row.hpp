#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/tuning.hpp"
#include "ingest/windows.hpp"
#include "wisecrowd/ingest.hpp"

namespace wisecrowd::ingest {

/// What the first row of a file says about the rest.
struct FirstRow {
  TableFormat format = TableFormat::csv;  ///< never automatic
  std::vector<std::string> names;         ///< fields, or keys of the first object
  std::size_t bytes = 0;                  ///< without the line end
  char separator = ',';                   ///< of CSV
};

/// Finds the first row that is not blank and leaves the window at its start; `line` counts the lines before it. Throws
/// when there is none, or when it is no text.
[[nodiscard]] FirstRow read_first_row(WindowReader& window, const std::string& file, TableFormat asked,
                                      const Tuning& tuning, std::uint64_t& line);
/// Moves the window to the line after it.
void skip_first_row(WindowReader& window, const FirstRow& row, const Tuning& tuning, std::uint64_t& line);

/// True for a row whose fields are all empty or blanks, as spreadsheets write empty lines.
[[nodiscard]] bool is_blank_row(std::string_view raw, char delimiter) noexcept;

[[noreturn]] void refuse_long_row(const std::string& file, std::uint64_t line, const Tuning& tuning, bool quotes);

}  // namespace wisecrowd::ingest
