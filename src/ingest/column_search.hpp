#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/columns.hpp"

namespace wisecrowd::ingest {

// How columns are found by their names, for the plans of all kinds of tables.

/// A column that a table must have: by the name that was given, else by the known aliases.
struct Wanted {
  std::string role;
  std::string given;
  std::span<const std::string_view> aliases;
  std::size_t* place;
};

/// The first alias that is among the names, or kNoColumn.
[[nodiscard]] std::size_t find_alias(const std::vector<std::string>& names, std::span<const std::string_view> aliases);

/// Positions instead of names: all of them numbers, none of them in the header.
[[nodiscard]] bool take_positions(ColumnPlan& plan, const std::string& file, std::span<const Wanted> wanted);

/// Sets the places; kNoColumn where no alias is there. A name that was given and is not there is an error.
void find_columns(ColumnPlan& plan, const std::string& file, std::span<const Wanted> wanted);

/// Throws bad_input that names the columns without a place, the header, the aliases and the remedy.
[[noreturn]] void fail_missing(const ColumnPlan& plan, const std::string& file, std::span<const Wanted> wanted,
                               std::string_view remedy);

/// Throws bad_input if a planned column, or with `all` any column, has the name of another.
void refuse_repeated_names(const ColumnPlan& plan, const std::string& file, bool all);

/// Wide tables: columns that are not the task, nor beside it, name workers. Throws bad_input if one cannot.
void check_worker_columns(const ColumnPlan& plan, const std::string& file);

/// A further column of numbers, by name, or by position in a file without a header.
[[nodiscard]] std::size_t value_column(const ColumnPlan& plan, const std::string& file, const std::string& wanted,
                                       std::string_view role = "");

/// "'task', 'x' and 3 more"
[[nodiscard]] std::string shown_header(const ColumnPlan& plan);
/// Guesses why a header makes no sense.
[[nodiscard]] std::string hint(const ColumnPlan& plan);

}  // namespace wisecrowd::ingest
