#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <unordered_map>

#include "base/csv_rows.hpp"
#include "store/read_result.hpp"
#include "wisecrowd/read_comparisons.hpp"

namespace wisecrowd {
namespace {

/// A table of ours: rows by name, in any order.
class NamedFigures {
 public:
  NamedFigures(std::string path, const NameTable& names)
      : path_(std::move(path)), text_(read_text_file(path_)), rows_(text_) {
    if (!rows_.next()) store::refuse_file(path_, "is empty");
    for (std::size_t i = 0; i < names.size(); ++i) id_of_.emplace(names[i], i);
    header_ = rows_.fields();
  }
  [[nodiscard]] std::size_t column(const std::string& name) const {
    for (std::size_t c = 0; c < header_.size(); ++c) {
      if (header_[c] == name) return c;
    }
    store::refuse_file(path_, fmt::format("has no column '{}'", name));
  }
  /// Columns that begin so.
  [[nodiscard]] std::vector<std::size_t> columns(const std::string& prefix) const {
    std::vector<std::size_t> found;
    for (std::size_t c = 0; c < header_.size(); ++c) {
      if (header_[c].starts_with(prefix)) found.push_back(c);
    }
    return found;
  }
  /// The next row's name by id; false at the end, where every name must have been met.
  bool next(std::size_t& id) {
    if (!rows_.next()) {
      if (met_ != id_of_.size()) store::refuse_file(path_, fmt::format("has {} rows, not {}", met_, id_of_.size()));
      return false;
    }
    const auto at = id_of_.find(rows_.fields().front());
    if (at == id_of_.end()) {
      store::refuse_file(path_, fmt::format("has another name than expected in record {}", rows_.row()));
    }
    id = at->second;
    ++met_;
    return true;
  }
  /// Blank is unknown.
  [[nodiscard]] double figure(std::size_t column) const {
    const double value = rows_.number(column);
    const bool blank = column < rows_.fields().size() && rows_.fields()[column].empty();
    if (!std::isfinite(value) && !blank) {
      store::refuse_file(path_, fmt::format("has something other than a number in record {}", rows_.row()));
    }
    return value;
  }

 private:
  std::string path_, text_;
  CsvRows rows_;
  std::vector<std::string> header_;
  std::unordered_map<std::string_view, std::size_t> id_of_;
  std::size_t met_ = 0;
};

void read_ranking(const std::string& path, const NameTable& items, ComparisonFit& fit) {
  NamedFigures table(path, items);
  const std::vector<std::pair<std::size_t, std::vector<double>*>> figures = {
      {table.column("score"), &fit.score},
      {table.column("deviation"), &fit.deviation},
      {table.column("low"), &fit.low},
      {table.column("high"), &fit.high},
      {table.column("rank"), &fit.rank},
      {table.column("rank_low"), &fit.rank_low},
      {table.column("rank_high"), &fit.rank_high}};
  for (const auto& [column, values] : figures) values->resize(items.size());
  const auto groups = table.columns("score_group");
  fit.group_count = groups.size();
  fit.group_score.resize(groups.size() * items.size());
  std::size_t item = 0;
  while (table.next(item)) {
    for (const auto& [column, values] : figures) (*values)[item] = table.figure(column);
    for (std::size_t g = 0; g < groups.size(); ++g) fit.group_score[g * items.size() + item] = table.figure(groups[g]);
  }
}

void read_workers(const std::string& path, const NameTable& workers, ComparisonFit& fit) {
  NamedFigures table(path, workers);
  const std::vector<std::pair<std::size_t, std::vector<double>*>> figures = {
      {table.column("reliability"), &fit.reliability},
      {table.column("side_bias"), &fit.side_bias},
      {table.column("tie_rate"), &fit.tie_rate}};
  for (const auto& [column, values] : figures) values->resize(workers.size());
  const auto groups = table.columns("p_group");
  fit.group_of_worker.resize(workers.size() * groups.size());
  std::size_t worker = 0;
  while (table.next(worker)) {
    for (const auto& [column, values] : figures) (*values)[worker] = table.figure(column);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      fit.group_of_worker[worker * groups.size() + g] = table.figure(groups[g]);
    }
  }
}

void read_pairs(const std::string& path, const ComparisonAnswers& answers, ComparisonFit& fit) {
  const std::string text = read_text_file(path);
  CsvRows rows(text);
  if (!rows.next()) store::refuse_file(path, "is empty");
  const std::size_t columns[] = {rows.column("p_left"), rows.column("p_right"), rows.column("p_tie")};
  std::size_t pair = 0;
  while (rows.next()) {
    if (pair == answers.task_count() || rows.fields().size() < 7 ||
        rows.fields()[0] != answers.item_names()[index(answers.pairs()[pair].first)] ||
        rows.fields()[1] != answers.item_names()[index(answers.pairs()[pair].second)]) {
      store::refuse_file(path, fmt::format("has another pair than expected in record {}", rows.row()));
    }
    for (const std::size_t column : columns) {
      const double p = rows.number(column);
      if (!(p >= 0 && p <= 1)) {
        store::refuse_file(path, fmt::format("has something other than a probability in record {}", rows.row()));
      }
      fit.pair_posterior.push_back(p);
    }
    ++pair;
  }
  if (pair != answers.task_count()) {
    store::refuse_file(path, fmt::format("has {} rows, not {}", pair, answers.task_count()));
  }
}

}  // namespace

StoredRun store::read_comparisons(StoredRecord stored, const std::string& folder, const ReadResultOptions& options,
                                  const RunContext& context) {
  const RunInputs inputs = inputs_of(stored, folder, options);
  ComparisonData data =
      wisecrowd::read_comparisons(inputs.answers, inputs.gold, read_options(stored.record.reading), context);
  const ComparisonAnswers& answers = data.answers;
  check_same(stored, answers, answers.content_hash(), folder, inputs.answers);

  ComparisonFit fit;
  static_cast<FitSummary&>(fit) = std::move(stored.fit);
  fit.item_count = answers.item_count();
  fit.worker_count = answers.worker_count();
  fit.pair_count = answers.task_count();
  const auto file = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
  read_ranking(file("ranking.csv"), answers.item_names(), fit);
  read_workers(file("workers.csv"), answers.worker_names(), fit);
  read_pairs(file("pairs.csv"), answers, fit);

  std::optional<ComparisonEvaluation> evaluation = std::move(stored.comparison_evaluation);
  if (takes_new_gold(options, gold_count(data), stored.record))
    evaluation = evaluate_comparisons(fit.score, fit.pair_posterior, data);
  ComparisonResult result = make_result(std::move(data), std::move(fit), std::move(stored.record));
  result.evaluation = std::move(evaluation);
  StoredRun run;
  run.result = std::move(result);
  return run;
}

}  // namespace wisecrowd
