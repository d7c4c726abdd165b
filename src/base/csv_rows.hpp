#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wisecrowd {

/// A whole file. Throws io that names it.
[[nodiscard]] std::string read_text_file(const std::string& path);

/// Goes through the records of CSV text as we write it (RFC 4180): quoted fields may hold commas, quotes and line
/// breaks. For files of our own; answers are read by src/ingest.
class CsvRows {
 public:
  explicit CsvRows(std::string_view text) : rest_(text) {}
  /// The next record, or false at the end. The fields stay valid until the next call.
  bool next();
  [[nodiscard]] const std::vector<std::string>& fields() const noexcept { return fields_; }
  /// Where column `name` is in the current record; fields().size() if nowhere.
  [[nodiscard]] std::size_t column(std::string_view name) const;
  /// A field as a number; NaN when it is blank or none.
  [[nodiscard]] double number(std::size_t column) const;
  [[nodiscard]] std::size_t row() const noexcept { return row_; }  ///< from 1, the header included

 private:
  std::string_view rest_;
  std::vector<std::string> fields_;
  std::size_t row_ = 0;
};

}  // namespace wisecrowd
