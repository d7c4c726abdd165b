#pragma once

#include <utility>
#include <variant>

#include "support.hpp"
#include "wisecrowd/trust_study.hpp"

namespace wisecrowd::python {

/// What a data frame takes for a column of a table.
inline py::object column_of(TableColumn& column) {
  struct Visitor {
    py::object operator()(const std::vector<std::string>& list) const {
      py::list texts;
      for (const std::string& text : list) texts.append(to_str(text));
      return texts;
    }
    py::object operator()(std::vector<double>& list) const { return to_array(std::move(list)); }
    py::object operator()(std::vector<std::uint64_t>& list) const { return to_array(std::move(list)); }
    py::object operator()(const std::vector<bool>& list) const { return py::cast(list); }
  };
  return std::visit(Visitor{}, column.values);
}

/// Columns by name, by table.
inline py::dict tables_by_name(std::vector<wisecrowd::ValueTable> tables) {
  py::dict out;
  for (auto& table : tables) {
    py::dict columns;
    for (TableColumn& column : table.columns) columns[to_str(column.name)] = column_of(column);
    out[to_str(table.name)] = columns;
  }
  return out;
}

}  // namespace wisecrowd::python
