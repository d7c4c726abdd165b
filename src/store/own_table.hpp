#pragma once

#include <fmt/core.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/csv_rows.hpp"
#include "store/read_result.hpp"

namespace wisecrowd::store {

/// Goes through a table of ours, row by row, with columns that must be there.
class OwnTable {
 public:
  OwnTable(std::string path, std::initializer_list<const char*> columns)
      : path_(std::move(path)), text_(read_text_file(path_)), rows_(text_) {
    if (!rows_.next()) refuse_file(path_, "is empty");
    for (const char* name : columns) {
      at_.push_back(rows_.column(name));
      if (at_.back() == rows_.fields().size()) refuse_file(path_, fmt::format("has no column '{}'", name));
    }
  }
  bool next() { return rows_.next(); }
  [[nodiscard]] const std::string& text(std::size_t column) const {
    if (at_[column] >= rows_.fields().size()) {
      refuse_file(path_, fmt::format("has too few fields in record {}", rows_.row()));
    }
    return rows_.fields()[at_[column]];
  }
  void require(std::size_t column, std::string_view name) const {
    if (text(column) != name) {
      refuse_file(path_, fmt::format("has another name than expected in record {}", rows_.row()));
    }
  }
  [[nodiscard]] double share(std::size_t column) const { return number(column, 0, 1); }
  /// A number from `least` to `most`.
  [[nodiscard]] double number(std::size_t column, double least, double most) const {
    const double value = rows_.number(at_[column]);
    if (!(value >= least && value <= most)) {
      refuse_file(
          path_, fmt::format("has something other than a number from {} to {} in record {}", least, most, rows_.row()));
    }
    return value;
  }
  /// The place of a name among those that are known.
  [[nodiscard]] std::size_t place(std::size_t column,
                                  const std::unordered_map<std::string_view, std::size_t>& known) const {
    const auto at = known.find(text(column));
    if (at == known.end()) refuse_file(path_, fmt::format("has an unknown name in record {}", rows_.row()));
    return at->second;
  }
  void require_rows(std::size_t found, std::size_t wanted) const {
    if (found != wanted) refuse_file(path_, fmt::format("has {} rows, not {}", found, wanted));
  }

 private:
  std::string path_, text_;
  CsvRows rows_;
  std::vector<std::size_t> at_;
};

}  // namespace wisecrowd::store
