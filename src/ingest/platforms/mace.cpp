#include <fmt/core.h>

#include "base/csv_rows.hpp"
#include "ingest/platforms/platform.hpp"

namespace wisecrowd::ingest::mace {
namespace {

/// One row per task, one column per worker, no header: both go by their number.
void read(const PlatformFile& file, Collected& into) {
  into.rows_are_lines = true;
  std::size_t columns = 0;
  const auto source = open_input(file.input, file.context);
  read_lines(*source, file, [&](std::string_view line, std::uint64_t number) {
    CsvRows row(line);
    if (!row.next()) return;
    const auto& fields = row.fields();
    if (columns == 0) columns = fields.size();
    if (fields.size() != columns) {
      return into.problem(
          {.row = number}, "", "",
          fmt::format("has {} fields, and the first row {}: one for each worker", fields.size(), columns));
    }
    for (std::size_t worker = 0; worker < fields.size(); ++worker) {
      if (fields[worker].empty()) continue;
      into.say(into.submit(fmt::format("{}", number), fmt::format("{}", worker + 1), {.row = number}), "label",
               Shape::label, fields[worker]);
    }
  });
}

/// A label per line, in the order of the tasks; blank where the truth is not known.
void read_gold(const PlatformFile& file, Collected& into) {
  into.rows_are_lines = true;
  const auto source = open_input(file.input, file.context);
  read_lines(*source, file, [&](std::string_view line, std::uint64_t number) {
    into.say(into.submit(fmt::format("{}", number), "gold", {.row = number}), "label", Shape::label, line);
  });
}

}  // namespace

Platform platform() {
  return {.info = {.title = "MACE", .summary = "a CSV without a header, one row per task, one column per worker"},
          .read = read,
          .read_gold = read_gold};
}

}  // namespace wisecrowd::ingest::mace
