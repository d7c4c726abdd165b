#include "store/value_tables.hpp"

#include <fmt/core.h>

#include "base/csv_text.hpp"

namespace wisecrowd::store {
namespace {

constexpr std::size_t kRowsAtOnce = 4096;

void append_cell(TextBuffer& text, const TableColumn& column, std::size_t row) {
  struct Visitor {
    TextBuffer& text;
    std::size_t row;
    void operator()(const std::vector<std::string>& list) const { text.append_field(list[row]); }
    void operator()(const std::vector<double>& list) const { text.append_number(list[row]); }
    void operator()(const std::vector<std::uint64_t>& list) const { text.append_count(list[row]); }
    void operator()(const std::vector<bool>& list) const { text.append(list[row] ? "yes" : "no"); }
  };
  std::visit(Visitor{text, row}, column.values);
}

}  // namespace

bool write_value_table(OutputFile& file, const ValueTable& table, const RunContext& context) {
  TextBuffer text;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    text.append(fmt::format("{}{}", c == 0 ? "" : ",", table.columns[c].name));
  }
  text.append('\n');
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (c > 0) text.append(',');
      append_cell(text, table.columns[c], row);
    }
    text.append('\n');
    if (row % kRowsAtOnce != kRowsAtOnce - 1) continue;
    if (context.cancelled()) return false;
    file.append(text.text());
    text.clear();
  }
  file.append(text.text());
  return true;
}

}  // namespace wisecrowd::store
