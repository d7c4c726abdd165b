#include "state_reading.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "failure.hpp"
#include "screen_text.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd::app {

std::vector<std::pair<std::string, std::string>> remembered_reading(const ReadOptions& options) {
  // Strictness is decided anew for every table; duplicates and classes are settings of the state.
  constexpr std::array<std::string_view, 10> kRemembered = {
      "task_column", "worker_column", "label_column", "gold_task_column", "gold_label_column",
      "format",      "layout",        "platform",     "question",         "without_models"};
  auto record = reading_record(options);
  std::erase_if(record, [&](const auto& entry) {
    return std::find(kRemembered.begin(), kRemembered.end(), entry.first) == kRemembered.end();
  });
  return record;
}

ReadOptions with_remembered(ReadOptions typed, const StateSummary& state, const std::string& file) {
  const ReadOptions usual;
  const ReadOptions then = read_options(state.reading);
  if (typed.task_column.empty() && typed.worker_column.empty() && typed.label_column.empty()) {
    typed.task_column = then.task_column;
    typed.worker_column = then.worker_column;
    typed.label_column = then.label_column;
  }
  if (typed.gold_task_column.empty() && typed.gold_label_column.empty()) {
    typed.gold_task_column = then.gold_task_column;
    typed.gold_label_column = then.gold_label_column;
  }
  if (typed.layout == usual.layout) typed.layout = then.layout;
  // The name of a file tells its format; standard input has none.
  if (typed.format == usual.format && file == "-") typed.format = then.format;
  if (typed.platform == usual.platform && typed.format == usual.format) typed.platform = then.platform;
  typed.duplicates = state.duplicates;
  if (state.classes_are_fixed) typed.classes = state.classes;
  return typed;
}

void take_truths(CategoryData& data, std::vector<KnownTruth>& truths) {
  for (std::size_t t = 0; t < data.gold.size(); ++t) {
    if (data.gold[t] == kNoClass) continue;
    truths.push_back(
        {std::string(data.answers.task_names()[t]), std::string(data.answers.class_names()[index(data.gold[t])])});
  }
  data.gold.clear();
}

std::vector<KnownTruth> read_known_truths(const std::string& path, const ReadOptions& options,
                                          const RunContext& context, std::vector<Warning>& warnings) {
  ReadOptions reading;
  reading.task_column = options.gold_task_column;
  reading.label_column = options.gold_label_column;
  reading.lenient = options.lenient;
  reading.classes = options.classes;
  DataReport report;
  const LabelTable table = at_stage(Stage::reading, [&] {
    try {
      return read_label_table(path, reading, context, &report);
    } catch (const Error&) {
      if (!options.gold_task_column.empty() || options.task_column.empty() || path == "-") throw;
    }
    reading.task_column = options.task_column;  // as in the answers
    report = {};
    return read_label_table(path, reading, context, &report);
  });
  warnings.insert(warnings.end(), report.warnings.begin(), report.warnings.end());
  std::vector<KnownTruth> truths;
  for (std::size_t t = 0; t < table.tasks.size(); ++t) {
    if (table.labels[t] == kNoClass) continue;
    truths.push_back({std::string(table.tasks[t]), std::string(table.classes[index(table.labels[t])])});
  }
  return truths;
}

}  // namespace wisecrowd::app
