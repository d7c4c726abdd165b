#include <fmt/core.h>

#include <optional>

#include "base/csv_rows.hpp"
#include "base/csv_text.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd {
namespace {

using Reading = std::vector<std::pair<std::string, std::string>>;

constexpr auto kLayoutNames = enum_names<TableLayout>(
    {{TableLayout::automatic, "automatic"}, {TableLayout::long_rows, "long"}, {TableLayout::wide, "wide"}});

/// Records what is not as usual.
class ReadingWriter {
 public:
  explicit ReadingWriter(Reading& reading) : reading_(reading) {}
  void text(const char* name, const std::string& value) {
    if (!value.empty()) reading_.emplace_back(name, value);
  }
  template <class Enum, std::size_t n>
  void choice(const char* name, const EnumNames<Enum, n>& names, Enum value) {
    if (value != names[0].value) reading_.emplace_back(name, name_in(names, value));
  }
  void flag(const char* name, bool value) {
    if (value) reading_.emplace_back(name, "yes");
  }
  void names(const char* name, const std::vector<std::string>& values) {
    std::string rows;
    for (const std::string& value : values) rows += csv_field(value) + "\n";
    text(name, rows);
  }
  void merges(const char* name, const std::vector<WorkerMerge>& values) { pairs(name, values); }
  void groups(const char* name, const std::vector<WorkerGroup>& values) { pairs(name, values); }

 private:
  template <class Pair>
  void pairs(const char* name, const std::vector<Pair>& values) {
    std::string rows;
    for (const auto& [first, second] : values) rows += csv_field(first) + "," + csv_field(second) + "\n";
    text(name, rows);
  }

  Reading& reading_;
};

class ReadingReader {
 public:
  explicit ReadingReader(const Reading& reading) : reading_(reading) {}
  void text(const char* name, std::string& value) const {
    if (const std::string* found = find(name)) value = *found;
  }
  template <class Enum, std::size_t n>
  void choice(const char* name, const EnumNames<Enum, n>& names, Enum& value) const {
    const std::string* found = find(name);
    if (found == nullptr) return;
    const std::optional<Enum> known = find_in(names, *found);
    if (!known) throw Error(ErrorCode::bad_input, fmt::format("unknown way of reading '{}'", *found));
    value = *known;
  }
  void flag(const char* name, bool& value) const {
    if (const std::string* found = find(name)) value = *found == "yes";
  }
  void names(const char* name, std::vector<std::string>& values) const {
    const std::string* found = find(name);
    CsvRows rows(found == nullptr ? std::string_view() : *found);
    while (rows.next()) values.push_back(rows.fields().at(0));
  }
  void merges(const char* name, std::vector<WorkerMerge>& values) const { pairs(name, values); }
  void groups(const char* name, std::vector<WorkerGroup>& values) const { pairs(name, values); }

 private:
  template <class Pair>
  void pairs(const char* name, std::vector<Pair>& values) const {
    const std::string* found = find(name);
    CsvRows rows(found == nullptr ? std::string_view() : *found);
    while (rows.next()) values.push_back({rows.fields().at(0), rows.fields().at(1)});
  }
  [[nodiscard]] const std::string* find(std::string_view name) const {
    for (const auto& [key, value] : reading_) {
      if (key == name) return &value;
    }
    return nullptr;
  }
  const Reading& reading_;
};

/// What is recorded of how tables were read. Names of workers stand there themselves, as CSV: the files that named
/// them may be gone when the answers are read again.
template <class Io>
void reading_fields(Io& io, ReadOptions& options) {
  bool without_models = !options.platform.models;
  io.text("task_column", options.task_column);
  io.text("worker_column", options.worker_column);
  io.text("label_column", options.label_column);
  io.text("time_column", options.time_column);
  io.names("value_columns", options.value_columns);
  io.text("gold_task_column", options.gold_task_column);
  io.text("gold_label_column", options.gold_label_column);
  io.names("gold_value_columns", options.gold_value_columns);
  io.choice("format", kTableFormatNames, options.format);
  io.text("platform", options.platform.name);
  io.text("question", options.platform.question);
  io.flag("without_models", without_models);
  io.choice("layout", kLayoutNames, options.layout);
  io.choice("duplicates", kDuplicatePolicyNames, options.duplicates);
  io.text("set_separator", options.sets.separator);
  io.text("empty_set", options.sets.empty);
  io.flag("blank_is_empty", options.sets.blank_is_empty);
  io.choice("set_rows", kSetRowRuleNames, options.sets.rows);
  io.text("no_answer", options.no_answer);
  io.flag("lenient", options.lenient);
  io.flag("safe_names", options.safe_names);
  io.names("exclude_workers", options.exclude_workers);
  io.merges("merge_workers", options.merge_workers);
  io.names("trusted_workers", options.trusted_workers);
  io.groups("worker_groups", options.worker_groups);
  options.platform.models = !without_models;
}

}  // namespace

ReadOptions read_options(const Reading& reading) {
  ReadOptions options;
  ReadingReader reader(reading);
  reading_fields(reader, options);
  return options;
}

Reading reading_record(const ReadOptions& options) {
  Reading reading;
  ReadingWriter writer(reading);
  ReadOptions copy = options;
  reading_fields(writer, copy);
  return reading;
}

}  // namespace wisecrowd
