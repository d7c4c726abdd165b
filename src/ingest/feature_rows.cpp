#include "ingest/feature_rows.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ingest/problems.hpp"
#include "ingest/row_scan.hpp"
#include "ingest/text_features.hpp"
#include "ingest/word_rows.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

constexpr std::uint64_t kNoNumber = ~std::uint64_t{0};

std::optional<Split> split_of(std::string_view text) {
  const std::string name = normalised(text);
  if (name == "train" || name == "training") return Split::train;
  if (name == "valid" || name == "validation" || name == "val" || name == "dev") return Split::valid;
  if (name == "test" || name == "testing") return Split::test;
  return std::nullopt;
}

/// Where the common columns stand.
struct NamedColumns {
  std::size_t task = kNoColumn;
  std::size_t split = kNoColumn;
};

/// Rows that belong to a task each.
class NamedRows : public RowHandler {
 public:
  NamedRows(const TableContext& table, Chunk& chunk, const NamedColumns& columns)
      : RowHandler(table, chunk), columns_(columns) {}

  struct Entry {
    std::size_t name_end;
    std::uint64_t line;
    Split split;
  };
  std::string characters;
  std::vector<Entry> entries;

  void clear() override {
    characters.clear();
    entries.clear();
  }

 protected:
  bool take(const DelimitedRow& row, std::uint64_t line) final {
    const Field task = row.field(columns_.task);
    bool good = usable(task, columns_.task, line);
    Split split = Split::train;
    if (columns_.split != kNoColumn) good = take_split(row.field(columns_.split), line, split) && good;
    good = take_rest(row, line, good) && good;
    if (!good) return false;
    characters += task.text;
    entries.push_back({characters.size(), line, split});
    return true;
  }
  /// Keeps what else is in the row, if it and what came before is `good`.
  virtual bool take_rest(const DelimitedRow& row, std::uint64_t line, bool good) = 0;

 private:
  bool take_split(const Field& field, std::uint64_t line, Split& split) {
    if (!usable(field, columns_.split, line)) return false;
    const auto known = split_of(field.text);
    if (!known) {
      problem(line, table_.plan.names[columns_.split], field.text, "is none of train, valid and test");
      return false;
    }
    split = *known;
    return true;
  }
  const NamedColumns& columns_;
};

/// Names of rows as they come in, each of them once.
class NameList {
 public:
  explicit NameList(const std::string& file) : file_(file) {}

  /// Adds the entries of a stretch; `keep(i)` is called for those that are new.
  template <class Keep>
  void add(const NamedRows& rows, std::uint64_t first_line, DataReport& report, const Keep& keep) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < rows.entries.size(); ++i) {
      const auto& entry = rows.entries[i];
      const std::string_view name = std::string_view(rows.characters).substr(begin, entry.name_end - begin);
      begin = entry.name_end;
      const std::uint32_t id = names.intern(name);
      if (id < lines.size()) {
        ++report.problem_count;
        ++report.rows_dropped;
        if (report.problems.size() < kMostProblemsShown) {
          report.problems.push_back({file_, first_line + entry.line, "", printable(name),
                                     fmt::format("this task is in line {} already: keep one of them", lines[id])});
        }
        continue;
      }
      lines.push_back(first_line + entry.line);
      split.push_back(entry.split);
      keep(i);
    }
  }

  Interner names;
  std::vector<std::uint64_t> lines;
  std::vector<Split> split;

 private:
  const std::string& file_;
};

void settle(const std::string& file, bool lenient, std::size_t kept, DataReport& report) {
  sort_problems(report);
  settle_problems(file, lenient, report);
  if (kept == 0) refuse_all_rows(file, report);
}

class TaskRows final : public NamedRows {
 public:
  TaskRows(const TableContext& table, Chunk& chunk, const NamedColumns& columns, std::size_t row_column)
      : NamedRows(table, chunk, columns), row_column_(row_column) {}
  std::vector<std::uint64_t> rows;
  void clear() override {
    NamedRows::clear();
    rows.clear();
  }

 private:
  bool take_rest(const DelimitedRow& row, std::uint64_t line, bool good) override {
    if (row_column_ == kNoColumn) return true;
    const Field field = row.field(row_column_);
    if (!usable(field, row_column_, line)) return false;
    std::uint64_t number = 0;
    const auto [end, code] = std::from_chars(field.text.data(), field.text.data() + field.text.size(), number);
    if (code != std::errc() || end != field.text.data() + field.text.size() || number == kNoNumber) {
      problem(line, table_.plan.names[row_column_], field.text, "is no number of a row: they count from 0");
      return false;
    }
    if (good) rows.push_back(number);
    return true;
  }
  std::size_t row_column_;
};

class NumberRows final : public NamedRows {
 public:
  NumberRows(const TableContext& table, Chunk& chunk, const NamedColumns& columns,
             const std::vector<std::size_t>& numbers)
      : NamedRows(table, chunk, columns), numbers_(numbers) {}
  std::vector<float> values;
  void clear() override {
    NamedRows::clear();
    values.clear();
  }

 private:
  bool take_rest(const DelimitedRow& row, std::uint64_t line, bool good) override {
    const std::size_t before = values.size();
    bool fine = true;
    for (const std::size_t column : numbers_) {
      const Field field = row.field(column);
      if (!usable(field, column, line)) {
        fine = false;
        continue;
      }
      std::string_view text = field.text;
      while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
      while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
      if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
      float value = 0;
      const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
      const bool whole = end == text.data() + text.size() && !text.empty();
      if (whole && code == std::errc() && std::isfinite(value)) {
        values.push_back(value);
        continue;
      }
      // Numbers too small for single precision are zero; too large ones are refused like infinity.
      double wide = 0;
      if (whole && code == std::errc::result_out_of_range &&
          std::from_chars(text.data(), text.data() + text.size(), wide).ec == std::errc() && std::abs(wide) < 1) {
        values.push_back(0.0F);
        continue;
      }
      fine = false;
      problem(line, table_.plan.names[column], field.text,
              whole && (code == std::errc() || code == std::errc::result_out_of_range)
                  ? "is not a finite number of single precision: fill it in or remove the row"
                  : "is no number: features are numbers; leave other columns out, or turn categories into one column "
                    "of 0 and 1 each");
    }
    if (!fine || !good) values.resize(before);
    return fine;
  }
  const std::vector<std::size_t>& numbers_;
};

class TextRows final : public NamedRows {
 public:
  TextRows(const TableContext& table, Chunk& chunk, const NamedColumns& columns, std::size_t text)
      : NamedRows(table, chunk, columns), text_(text) {}
  WordCounts counts;
  void clear() override {
    NamedRows::clear();
    counts.clear();
  }

 private:
  bool take_rest(const DelimitedRow& row, std::uint64_t line, bool good) override {
    const Field field = row.field(text_);  // may be long, and may be empty: then nothing is known of the task
    if (field.state != Field::State::ok) return refuse_field(field, table_.plan.names[text_], line);
    if (good) counter_.count(field.text, counts);
    return true;
  }
  std::size_t text_;
  WordCounter counter_;
};

constexpr const char* kTaskRemedy = "A column 'task' must say which task each row belongs to";

FeatureTable read_numbers(RowScan& scan, const NamedColumns& columns, const FeatureOptions& options,
                          DataReport& report) {
  FeatureTable table;
  table.recipe.kind = FeatureRecipe::Kind::columns;
  std::vector<std::size_t> numbers;
  if (options.recipe == nullptr) {
    for (std::size_t c = 0; c < scan.names().size(); ++c) {
      if (c == columns.task || c == columns.split) continue;
      numbers.push_back(c);
      table.recipe.columns.push_back(scan.names()[c]);
    }
  } else {
    table.recipe.columns = options.recipe->columns;
    for (const std::string& name : table.recipe.columns) {
      const auto found = std::find(scan.names().begin(), scan.names().end(), name);
      if (found == scan.names().end()) {
        throw Error(ErrorCode::bad_input,
                    fmt::format("{}: there is no column '{}', which the model was trained with. Found: {}", scan.file(),
                                printable(name), scan.shown_header()));
      }
      numbers.push_back(static_cast<std::size_t>(found - scan.names().begin()));
    }
  }
  if (numbers.empty()) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: there is no column of features beside {}: add numeric columns, or a column 'text'",
                            scan.file(), scan.shown_header()));
  }
  NameList list(scan.file());
  Features& features = table.features;
  features.shape = {numbers.size()};
  scan.scan([&](const TableContext& context,
                Chunk& chunk) { return std::make_unique<NumberRows>(context, chunk, columns, numbers); },
            [&](RowHandler& handler, std::uint64_t first_line) {
              const auto& rows = static_cast<const NumberRows&>(handler);
              list.add(rows, first_line, report, [&](std::size_t i) {
                const auto begin = rows.values.begin() + static_cast<std::ptrdiff_t>(i * numbers.size());
                features.dense.insert(features.dense.end(), begin, begin + static_cast<std::ptrdiff_t>(numbers.size()));
              });
            });
  settle(scan.file(), options.lenient, list.lines.size(), report);
  features.rows = list.lines.size();
  table.names = std::move(list.names).release();
  if (columns.split != kNoColumn) table.split = std::move(list.split);
  return table;
}

TextTable read_text(RowScan& scan, const NamedColumns& columns, std::size_t text, const FeatureOptions& options,
                    DataReport& report) {
  TextTable table;
  NameList list(scan.file());
  scan.scan([&](const TableContext& context,
                Chunk& chunk) { return std::make_unique<TextRows>(context, chunk, columns, text); },
            [&](RowHandler& handler, std::uint64_t first_line) {
              const auto& rows = static_cast<const TextRows&>(handler);
              list.add(rows, first_line, report, [&](std::size_t i) { table.counts.append_row(rows.counts, i); });
            });
  settle(scan.file(), options.lenient, list.lines.size(), report);
  table.names = std::move(list.names).release();
  if (columns.split != kNoColumn) table.split = std::move(list.split);
  return table;
}

}  // namespace

TaskList read_task_list(const Input& input, bool lenient, const Tuning& tuning, const RunContext& context,
                        DataReport& report) {
  RowScan scan(input, tuning, context, report);
  const NamedColumns columns{scan.find_task(), scan.find("split")};
  if (columns.task == kNoColumn) scan.refuse_missing_task("A list of tasks has the columns task,row,split");
  const std::size_t row_column = scan.find("row");
  TaskList tasks;
  tasks.file = scan.file();
  NameList list(tasks.file);
  scan.scan([&](const TableContext& table,
                Chunk& chunk) { return std::make_unique<TaskRows>(table, chunk, columns, row_column); },
            [&](RowHandler& handler, std::uint64_t first_line) {
              const auto& rows = static_cast<const TaskRows&>(handler);
              list.add(rows, first_line, report, [&](std::size_t i) {
                if (row_column != kNoColumn) tasks.rows.push_back(rows.rows[i]);
              });
            });
  settle(tasks.file, lenient, list.lines.size(), report);
  tasks.tasks = std::move(list.names).release();
  tasks.lines = std::move(list.lines);
  tasks.split = std::move(list.split);
  return tasks;
}

FeatureRows read_feature_rows(const Input& input, const FeatureOptions& options, const Tuning& tuning,
                              const RunContext& context, DataReport& report) {
  RowScan scan(input, tuning, context, report);
  const NamedColumns columns{scan.find_task(), scan.find("split")};
  if (columns.task == kNoColumn) scan.refuse_missing_task(kTaskRemedy);
  const std::size_t text = scan.find("text");
  const auto words = find_word_columns(scan);
  const bool is_text = text != kNoColumn || words;
  if (options.recipe != nullptr && is_text != (options.recipe->kind == FeatureRecipe::Kind::text)) {
    throw Error(ErrorCode::bad_input, fmt::format("{}: this table has {}, but the model was trained on {}", scan.file(),
                                                  words     ? "counts of words"
                                                  : is_text ? "a column 'text'"
                                                            : "no column 'text'",
                                                  is_text ? "numbers" : "text"));
  }
  if (words) return read_word_counts(scan, *words, options, report);
  if (is_text) return read_text(scan, columns, text, options, report);
  return read_numbers(scan, columns, options, report);
}

}  // namespace wisecrowd::ingest
