#include "wisecrowd/read_features.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/parallel.hpp"
#include "data/interner.hpp"
#include "ingest/feature_rows.hpp"
#include "ingest/npy.hpp"
#include "ingest/problems.hpp"
#include "ingest/read.hpp"
#include "ingest/text_features.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

bool named_npy(std::string_view name) {
  for (const std::string_view packed : {".gz", ".zst", ".zstd"}) {
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  }
  return name.ends_with(".npy") || name.ends_with(".NPY");
}

/// Reports of several files, one after the other.
void append(const DataReport& part, DataReport& whole) {
  whole.rows_dropped += part.rows_dropped;
  whole.problem_count += part.problem_count;
  whole.problems.insert(whole.problems.end(), part.problems.begin(), part.problems.end());
  if (whole.problems.size() > kMostProblemsShown) whole.problems.resize(kMostProblemsShown);
  whole.warnings.insert(whole.warnings.end(), part.warnings.begin(), part.warnings.end());
}

/// Runs a reader with a report of its own, which is handed on whatever happens.
template <class Read>
auto with_own_report(DataReport& whole, const Read& read) {
  DataReport part;
  try {
    auto result = read(part);
    append(part, whole);
    return result;
  } catch (...) {
    append(part, whole);
    throw;
  }
}

NameTable numbers_as_names(std::size_t count) {
  std::string characters;
  std::vector<std::uint64_t> offsets{0};
  for (std::size_t i = 0; i < count; ++i) {
    fmt::format_to(std::back_inserter(characters), "{}", i);
    offsets.push_back(characters.size());
  }
  return {std::move(characters), std::move(offsets)};
}

/// For each row of the array the entry of the list that names it, or kNoRow.
std::vector<std::uint32_t> entries_by_row(const TaskList& list, std::size_t rows, const std::string& file, bool lenient,
                                          DataReport& report) {
  std::vector<std::uint32_t> entry_of(rows, kNoRow);
  if (list.rows.empty()) {
    if (list.tasks.size() != rows) {
      throw Error(
          ErrorCode::bad_input,
          fmt::format("{}: it names {} tasks, but {} has {} rows: name them all in order, or add a column 'row'",
                      list.file, list.tasks.size(), file, rows));
    }
    for (std::size_t i = 0; i < rows; ++i) entry_of[i] = static_cast<std::uint32_t>(i);
    return entry_of;
  }
  const auto problem = [&](std::size_t entry, const std::string& message) {
    ++report.problem_count;
    ++report.rows_dropped;
    if (report.problems.size() < kMostProblemsShown) {
      report.problems.push_back({list.file, list.lines[entry], "row", fmt::format("{}", list.rows[entry]), message});
    }
  };
  report.rows = list.rows.size();
  for (std::size_t i = 0; i < list.rows.size(); ++i) {
    if (list.rows[i] >= rows) {
      problem(i, fmt::format("there is no such row: {} has rows 0 to {}", file, rows - 1));
      continue;
    }
    std::uint32_t& entry = entry_of[list.rows[i]];
    if (entry != kNoRow) {
      problem(i, fmt::format("line {} gives this row to another task already", list.lines[entry]));
      continue;
    }
    entry = static_cast<std::uint32_t>(i);
  }
  settle_problems(list.file, lenient, report);
  return entry_of;
}

/// Names the rows of an array; rows that the list leaves out are dropped.
void name_rows(const TaskList& list, const std::string& file, bool lenient, FeatureTable& table, DataReport& report) {
  Features& features = table.features;
  const auto entry_of = with_own_report(
      report, [&](DataReport& part) { return entries_by_row(list, features.rows, file, lenient, part); });
  const std::size_t columns = features.columns();
  std::vector<std::string> names;
  std::size_t kept = 0;
  for (std::size_t r = 0; r < features.rows; ++r) {
    if (entry_of[r] == kNoRow) continue;
    names.emplace_back(list.tasks[entry_of[r]]);
    table.split.push_back(list.split[entry_of[r]]);
    if (kept != r) std::copy_n(features.dense.data() + r * columns, columns, features.dense.data() + kept * columns);
    ++kept;
  }
  if (kept < features.rows) {
    report.warnings.push_back({"rows_without_task",
                               fmt::format("{}: {} of its {} rows are in no line of {} and are left out", file,
                                           features.rows - kept, features.rows, list.file),
                               "", Severity::note});
    features.dense.resize(kept * columns);
    features.rows = kept;
  }
  table.names = NameTable(names);
}

/// A table names its rows itself; the list says to which part of an experiment they belong.
void assign_splits(const TaskList& list, const std::string& file, const NameTable& names, std::vector<Split>& split,
                   DataReport& report) {
  Interner rows;
  for (std::size_t r = 0; r < names.size(); ++r) rows.intern(names[r]);
  if (split.empty()) split.assign(names.size(), Split::train);
  std::size_t absent = 0;
  std::string example;
  for (std::size_t i = 0; i < list.tasks.size(); ++i) {
    const std::uint32_t row = rows.find(list.tasks[i]);
    if (row == Interner::kAbsent) {
      if (absent++ == 0) example = printable(list.tasks[i]);
      continue;
    }
    split[row] = list.split[i];
  }
  if (absent > 0) {
    report.warnings.push_back({"listed_without_features",
                               fmt::format("{}: {} of its {} tasks, for example '{}', have no row in {}", list.file,
                                           absent, list.tasks.size(), example, file),
                               absent == list.tasks.size() ? "are they spelled alike?" : ""});
  }
}

/// Throws for the first number that is not finite, with its row, place and task.
void require_finite(const FeatureTable& table, const std::string& file, const RunContext& context) {
  const auto& values = table.features.dense;
  const Blocks blocks{values.size(), std::size_t{1} << 16};
  std::atomic<std::size_t> first{values.size()};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t i = blocks.begin(block); i < blocks.end(block); ++i) {
      if (std::isfinite(values[i])) continue;
      std::size_t known = first.load();
      while (i < known && !first.compare_exchange_weak(known, i)) {
      }
      return;
    }
  });
  if (first.load() == values.size()) return;
  const std::size_t columns = table.features.columns();
  const std::size_t row = first.load() / columns;
  const auto& shape = table.features.shape;
  std::string place = fmt::format("column {}", first.load() % columns);
  if (shape.size() > 1) {
    const std::size_t channels = shape.size() > 2 ? shape[2] : 1;
    const std::size_t pixel = first.load() % columns / channels;
    place = fmt::format("pixel ({}, {})", pixel / shape[1], pixel % shape[1]);
    if (channels > 1) place += fmt::format(", channel {}", first.load() % channels);
  }
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: row {} (task '{}'), {}: value {}: features must be finite numbers: fill it in, or leave "
                          "the row out",
                          file, row, printable(table.names[row]), place, values[first.load()]));
}

void warn_of_channels_first(const Features& features, const std::string& file, DataReport& report) {
  const auto& shape = features.shape;
  if (shape.size() != 3 || shape[2] <= 4 || (shape[0] != 1 && shape[0] != 3)) return;
  report.warnings.push_back(
      {"channels_first",
       fmt::format("{}: the array of shape ({}, {}, {}, {}) looks like rows × channels × height × width; "
                   "here channels come last",
                   file, features.rows, shape[0], shape[1], shape[2]),
       "use array.transpose(0, 2, 3, 1)"});
}

FeatureTable weighed(const TextTable& texts, const FeatureOptions& options) {
  FeatureTable table;
  if (options.recipe != nullptr) {
    table.recipe = *options.recipe;
  } else {
    table.recipe.kind = FeatureRecipe::Kind::text;
    choose_words(texts.counts, texts.split, options.text_columns, table.recipe);
  }
  table.features = weigh_words(texts.counts, table.recipe);
  table.names = texts.names;
  table.split = texts.split;
  return table;
}

const char* kind_text(FeatureRecipe::Kind kind) {
  switch (kind) {
    case FeatureRecipe::Kind::array: return "an .npy array";
    case FeatureRecipe::Kind::columns: return "a table of numbers";
    case FeatureRecipe::Kind::text: return "a table of texts";
  }
  return "";
}

}  // namespace

FeatureTable read_features(const Input& features, const std::optional<Input>& tasks, const FeatureOptions& options,
                           const Tuning& tuning, const RunContext& context, DataReport* report) {
  DataReport own;
  DataReport& notes = report != nullptr ? *report : own;
  notes = {};
  if (tasks && tasks->name == "-" && features.name == "-" && !tasks->memory) {
    throw Error(ErrorCode::bad_parameter,
                "features and tasks cannot both come from standard input: name a file for one");
  }
  const std::string file = display_name(features);
  const bool array = named_npy(features.name);
  if (options.recipe != nullptr && array != (options.recipe->kind == FeatureRecipe::Kind::array)) {
    throw Error(ErrorCode::bad_input, fmt::format("{}: the model was trained on {}: give the same kind of file", file,
                                                  kind_text(options.recipe->kind)));
  }
  std::optional<TaskList> list;
  if (tasks) {
    list = with_own_report(
        notes, [&](DataReport& part) { return read_task_list(*tasks, options.lenient, tuning, context, part); });
  }
  FeatureTable table;
  if (array) {
    table.features = read_npy(features, tuning, context);
    if (list) {
      name_rows(*list, file, options.lenient, table, notes);
    } else {
      table.names = numbers_as_names(table.features.rows);
      table.names_are_numbers = true;
    }
    require_finite(table, file, context);
    warn_of_channels_first(table.features, file, notes);
  } else {
    FeatureRows rows = with_own_report(
        notes, [&](DataReport& part) { return read_feature_rows(features, options, tuning, context, part); });
    std::visit(
        [&](auto& read) {
          if (list) assign_splits(*list, file, read.names, read.split, notes);
          if (read.split.empty()) read.split.assign(read.names.size(), Split::train);
        },
        rows);
    if (const auto* texts = std::get_if<TextTable>(&rows)) {
      table = weighed(*texts, options);
    } else {
      table = std::move(std::get<FeatureTable>(rows));
    }
  }
  if (table.split.empty()) table.split.assign(table.names.size(), Split::train);
  return table;
}

}  // namespace wisecrowd::ingest

namespace wisecrowd {

FeatureTable read_features(const std::string& features_path, const std::optional<std::string>& tasks_path,
                           const FeatureOptions& options, const RunContext& context, DataReport* report) {
  std::optional<ingest::Input> tasks;
  if (tasks_path) tasks = ingest::Input{*tasks_path, std::nullopt};
  return ingest::read_features({features_path, std::nullopt}, tasks, options, ingest::Tuning{}, context, report);
}

}  // namespace wisecrowd
