#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ingest/byte_source.hpp"
#include "ingest/chunk.hpp"
#include "ingest/delimited.hpp"
#include "ingest/rows.hpp"
#include "ingest/tuning.hpp"
#include "ingest/windows.hpp"
#include "wisecrowd/ingest.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd::ingest {

/// What becomes of the rows of one stretch of a table that holds no answers. Stretches are parsed side by side and
/// gathered in file order; an object is used again for later ones.
class RowHandler : public CountedRows<RowHandler> {
 public:
  RowHandler(const TableContext& table, Chunk& chunk) : CountedRows(table, chunk, false) {}
  virtual ~RowHandler() = default;
  void expect(bool suspicious) { suspicious_ = suspicious; }
  virtual void clear() = 0;
  /// False when the row has a problem, which is then noted, and nothing of it was kept.
  virtual bool take(const DelimitedRow& row, std::uint64_t line) = 0;
};

/// Reads CSV and TSV tables of any columns, in parallel.
class RowScan {
 public:
  /// Reads the header. Rows with problems are left out and noted in `report`, which the caller settles.
  RowScan(const Input& input, const Tuning& tuning, const RunContext& context, DataReport& report);

  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return plan_.names; }
  /// Header names as they are compared: lower case, blanks and hyphens as underscores. kNoColumn when there is none.
  [[nodiscard]] std::size_t find(std::string_view name) const;
  /// The column of the task, by the aliases; kNoColumn when there is none.
  [[nodiscard]] std::size_t find_task() const;
  /// "'task', 'x' and 3 more"
  [[nodiscard]] std::string shown_header() const;
  [[noreturn]] void refuse_missing_task(const std::string& remedy) const;

  using Make = std::function<std::unique_ptr<RowHandler>(const TableContext& table, Chunk& chunk)>;
  /// Handlers come in file order; lines in them count from `first_line`.
  using Gather = std::function<void(RowHandler& handler, std::uint64_t first_line)>;
  void scan(const Make& make, const Gather& gather);

 private:
  void parse(Chunk& chunk, RowHandler& handler) const;

  std::string file_;
  const Tuning& tuning_;
  const RunContext& context_;
  DataReport& report_;
  std::unique_ptr<ByteSource> source_;
  WindowReader window_;
  ColumnPlan plan_;
  ClassColumn classes_{{}};
  KeyTable no_names_{0};
  std::uint64_t line_ = 1;
};

}  // namespace wisecrowd::ingest
