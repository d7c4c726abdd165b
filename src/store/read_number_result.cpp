#include <fmt/core.h>

#include <cmath>
#include <filesystem>

#include "base/csv_rows.hpp"
#include "store/own_table.hpp"
#include "store/read_result.hpp"

namespace wisecrowd {
namespace {

/// Columns of a table of ours that belong to one figure: "bias", or "bias_x", "bias_y".
class FigureColumns {
 public:
  FigureColumns(const CsvRows& header, const std::string& what, const NameTable& dimensions, const std::string& path) {
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      const std::string name = dimensions.size() == 1 ? what : fmt::format("{}_{}", what, dimensions[d]);
      at_.push_back(header.column(name));
      if (at_.back() == header.fields().size()) store::refuse_file(path, fmt::format("has no column '{}'", name));
    }
  }
  /// Blank is unknown.
  void read(const CsvRows& row, const std::string& path, std::vector<double>& values) const {
    for (const std::size_t column : at_) {
      const double value = row.number(column);
      const bool blank = column < row.fields().size() && row.fields()[column].empty();
      if (!std::isfinite(value) && !blank) {
        store::refuse_file(path, fmt::format("has something other than a number in record {}", row.row()));
      }
      values.push_back(value);
    }
  }

 private:
  std::vector<std::size_t> at_;
};

/// The figures of a table with a row per task, or worker, in the order of `names`; `more` rows may follow. Those that
/// not every method has are left empty where there is no such column.
struct Figure {
  const char* what;
  std::vector<double>* values;
  bool optional = false;
};
void read_figures(const std::string& path, const NameTable& names, const NameTable& dimensions, bool more,
                  std::vector<Figure> figures) {
  const std::string text = read_text_file(path);
  CsvRows rows(text);
  if (!rows.next()) store::refuse_file(path, "is empty");
  std::erase_if(figures, [&](const Figure& figure) {
    const std::string name = dimensions.size() == 1 ? figure.what : fmt::format("{}_{}", figure.what, dimensions[0]);
    return figure.optional && rows.column(name) == rows.fields().size();
  });
  std::vector<FigureColumns> columns;
  for (const Figure& figure : figures) columns.emplace_back(rows, figure.what, dimensions, path);
  std::size_t at = 0;
  while (rows.next()) {
    if (at == names.size() && more) break;
    if (at == names.size() || rows.fields().front() != names[at]) {
      store::refuse_file(path, fmt::format("has another name than expected in record {}", rows.row()));
    }
    for (std::size_t f = 0; f < figures.size(); ++f) columns[f].read(rows, path, *figures[f].values);
    ++at;
  }
  if (at != names.size()) store::refuse_file(path, fmt::format("has {} rows, not {}", at, names.size()));
}

std::unordered_map<std::string_view, std::size_t> places_of(const NameTable& names) {
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < names.size(); ++i) places.emplace(names[i], i);
  return places;
}

/// Where the method looked for pairs of workers who err together and found some, there is a table of them.
std::vector<CorrelatedWorkers> read_correlated(const std::string& path, const NumberAnswers& answers) {
  if (!std::filesystem::exists(path)) return {};
  const bool several = answers.dimensions() > 1;
  store::OwnTable table(path, {"worker_a", "worker_b", "correlation", "tasks", several ? "dimension" : "tasks"});
  const auto workers = places_of(answers.worker_names()), dimensions = places_of(answers.dimension_names());
  std::vector<CorrelatedWorkers> pairs;
  while (table.next()) {
    pairs.push_back({WorkerId(table.place(0, workers)), WorkerId(table.place(1, workers)),
                     several ? table.place(4, dimensions) : 0, table.number(2, -1, 1),
                     static_cast<std::uint64_t>(table.number(3, 0, 1e15))});
  }
  return pairs;
}

std::uint64_t gold_count(const NumberData& data) {
  std::uint64_t known = 0;
  for (std::size_t t = 0; t < data.answers.task_count(); ++t) known += data.has_gold(TaskId(t)) ? 1 : 0;
  return known;
}

}  // namespace

StoredRun store::read_numbers(StoredRecord stored, const std::string& folder, const ReadResultOptions& options,
                              const RunContext& context) {
  const RunInputs inputs = inputs_of(stored, folder, options);
  NumberData data = wisecrowd::read_numbers(inputs.answers, inputs.gold, read_options(stored.record.reading), context);
  const NumberAnswers& answers = data.answers;
  check_same(stored, answers, answers.content_hash(), folder, inputs.answers);

  NumberFit fit;
  static_cast<FitSummary&>(fit) = std::move(stored.fit);
  fit.task_count = answers.task_count();
  fit.worker_count = answers.worker_count();
  fit.dimensions = answers.dimensions();
  const auto file = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
  const bool learned = stored.learned.has_value();
  read_figures(file("estimates.csv"), answers.task_names(), answers.dimension_names(), learned,
               {{"estimate", &fit.estimate}, {"deviation", &fit.deviation}, {"low", &fit.low}, {"high", &fit.high}});
  read_figures(file("workers.csv"), answers.worker_names(), answers.dimension_names(), false,
               {{"bias", &fit.bias}, {"scale", &fit.scale}, {"slope", &fit.slope, true}});
  fit.correlated = read_correlated(file("correlated_workers.csv"), answers);

  std::optional<NumberEvaluation> evaluation = std::move(stored.number_evaluation);
  for (const NumberLearnScore& score : learned ? stored.learned->number_scores : std::vector<NumberLearnScore>{}) {
    if (score.part == "answered_tasks") evaluation = score.evaluation;
  }
  if (takes_new_gold(options, gold_count(data), stored.record))
    evaluation = evaluate_numbers(fit.estimate, fit.low, fit.high, data.gold, fit.dimensions);
  NumberResult result = make_result(std::move(data), std::move(fit), std::move(stored.record));
  result.evaluation = std::move(evaluation);
  StoredRun run;
  run.result = std::move(result);
  run.learned = std::move(stored.learned);
  return run;
}

}  // namespace wisecrowd
