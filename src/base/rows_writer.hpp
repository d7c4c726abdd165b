#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "base/csv_text.hpp"
#include "base/output_folder.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// Appends rows [begin, end) of a table as text.
using RowFormatter = std::function<void(std::size_t begin, std::size_t end, TextBuffer& text)>;

struct RowsJob {
  std::size_t rows = 0;
  std::size_t cells_per_row = 1;  ///< to keep blocks of wide rows small
  std::string_view stage;         ///< for the progress report
};

/// Writes a table: all threads format and write blocks of rows, each at the place where it belongs. Memory stays within
/// a few megabytes per thread. False when cancelled on the way.
[[nodiscard]] bool write_rows(OutputFile& file, const RowsJob& job, const RowFormatter& format,
                              const RunContext& context);

}  // namespace wisecrowd
