#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace wisecrowd::app {

struct Column {
  std::string title;
  enum class Side { left, right } side = Side::right;
  bool spare = false;  ///< left out where the table would not fit
};

/// A table for people: columns as wide as their widest cell. When it would not fit, spare columns are left out, the
/// first of them first; then cells of the first column are shortened.
class Table {
 public:
  explicit Table(std::vector<Column> columns, std::size_t indent = 2) : columns_(std::move(columns)), indent_(indent) {}
  /// Cells are shown as they are: pass untrusted names through printable().
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
  /// Indented lines, each with a line break. `dim_on`/`dim_off` surround the titles.
  [[nodiscard]] std::string text(std::size_t width, const std::string& dim_on = {},
                                 const std::string& dim_off = {}) const;

 private:
  std::vector<Column> columns_;
  std::size_t indent_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace wisecrowd::app
