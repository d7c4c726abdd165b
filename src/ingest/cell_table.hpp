#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/byte_source.hpp"
#include "ingest/columns.hpp"
#include "wisecrowd/ingest.hpp"

namespace wisecrowd::ingest {

/// A table of texts, whatever its columns: CSV, TSV, JSON Lines, or a JSON list. For tables with optional columns of
/// many kinds, which are small; answers by the million are for read_table.
struct CellTable {
  std::string file;                ///< for messages
  std::vector<std::string> names;  ///< as they stand there
  std::vector<std::vector<std::string>> rows;
  std::vector<std::uint64_t> lines;  ///< of each row
  std::vector<char> listed_judge;    ///< JSON: the judge is a list, as of models with their prompt; else empty
  bool list = false;                 ///< JSON list: `lines` are places in it, from 0

  /// By its normalised name, kNoColumn if there is none.
  [[nodiscard]] std::size_t find(std::string_view name) const;
  [[nodiscard]] std::string_view at(std::size_t row, std::size_t column) const {
    return column == kNoColumn ? std::string_view() : std::string_view(rows[row][column]);
  }
  /// "'task', 'x' and 3 more"
  [[nodiscard]] std::string header() const;
  /// Notes a problem of a row.
  void problem(DataReport& report, std::size_t row, std::size_t column, const std::string& message) const;
};

/// Bad rows are left out and noted in `report`, which the caller settles.
[[nodiscard]] CellTable read_cell_table(const Input& input, const ReadOptions& options, const RunContext& context,
                                        DataReport& report);

}  // namespace wisecrowd::ingest
