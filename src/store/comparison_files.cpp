#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/csv_text.hpp"
#include "base/output_folder.hpp"
#include "base/rows_writer.hpp"
#include "store/category_tables.hpp"
#include "store/run_record.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd {
namespace {

/// Unknown numbers are left blank.
void append_figures(TextBuffer& text, std::initializer_list<double> values) {
  for (const double value : values) {
    text.append(',');
    if (value == value) text.append_number(value);
  }
}

bool write_ranking(OutputFile& file, const ComparisonResult& result, const RunContext& context) {
  const ComparisonFit& fit = result.fit;
  const std::vector<ItemId> order = ranking(fit);
  std::string header = "item,score,deviation,low,high,rank,rank_low,rank_high";
  for (std::size_t g = 0; g < fit.group_count; ++g) header += fmt::format(",score_group{}", g + 1);
  file.append(header + '\n');
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t r = begin; r < end; ++r) {
      const std::size_t i = index(order[r]);
      text.append_field(result.data.answers.item_names()[i]);
      append_figures(text, {fit.score[i], fit.deviation[i], fit.low[i], fit.high[i], fit.rank[i], fit.rank_low[i],
                            fit.rank_high[i]});
      for (std::size_t g = 0; g < fit.group_count; ++g) append_figures(text, {fit.group_score[g * fit.item_count + i]});
      text.append('\n');
    }
  };
  return write_rows(file, {order.size(), 8, "writing the ranking"}, format, context);
}

bool write_comparison_workers(OutputFile& file, const ComparisonResult& result, const RunContext& context) {
  const ComparisonFit& fit = result.fit;
  const bool gold = !result.data.gold.empty();
  std::string header = "worker,answers,reliability,side_bias,tie_rate,left_share,agreement";
  if (gold) header += ",gold_answers,gold_accuracy";
  for (std::size_t g = 0; g < fit.group_count; ++g) header += fmt::format(",p_group{}", g + 1);
  file.append(header + '\n');
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t w = begin; w < end; ++w) {
      const ComparisonWorkerSummary& worker = result.workers[w];
      text.append_field(result.data.answers.worker_names()[w]);
      text.append(',');
      text.append_count(worker.answers);
      append_figures(text,
                     {worker.reliability, worker.side_bias, worker.tie_rate, worker.left_share, worker.agreement});
      if (gold) {
        text.append(',');
        text.append_count(worker.gold_answers);
        append_figures(text, {worker.gold_accuracy});
      }
      for (std::size_t g = 0; g < fit.group_count; ++g) {
        append_figures(text, {fit.group_of_worker[w * fit.group_count + g]});
      }
      text.append('\n');
    }
  };
  return write_rows(file, {result.workers.size(), 6, "writing workers"}, format, context);
}

bool write_pairs(OutputFile& file, const ComparisonResult& result, const RunContext& context) {
  const ComparisonAnswers& answers = result.data.answers;
  const NameTable& names = answers.item_names();
  file.append("left,right,label,probability,p_left,p_right,p_tie,answers\n");
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t t = begin; t < end; ++t) {
      const ItemPair pair = answers.pairs()[t];
      const auto p = result.fit.posterior_of(TaskId(t));
      const Outcome label = result.fit.label_of(TaskId(t));
      text.append_field(names[index(pair.first)]);
      text.append(',');
      text.append_field(names[index(pair.second)]);
      text.append(',');
      text.append(to_string(label));
      for (const double value : {p[static_cast<std::size_t>(label)], p[0], p[1], p[2]}) {
        text.append(',');
        text.append_probability(value);
      }
      text.append(',');
      text.append_count(answers.workers_of(TaskId(t)).size());
      text.append('\n');
    }
  };
  return write_rows(file, {answers.task_count(), 6, "writing pairs"}, format, context);
}

/// Every row that has features, from the best to the worst.
bool write_scores(OutputFile& file, const ComparisonLearnResult& result, const RunContext& context) {
  std::vector<std::size_t> order(result.row_names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return result.row_score[a] > result.row_score[b]; });
  file.append("item,score,comparisons\n");
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t r = begin; r < end; ++r) {
      text.append_field(result.row_names[order[r]]);
      append_figures(text, {result.row_score[order[r]]});
      text.append(',');
      text.append_count(result.row_comparisons[order[r]]);
      text.append('\n');
    }
  };
  return write_rows(file, {order.size(), 4, "writing scores"}, format, context);
}

bool add_comparison_tables(OutputFolder& folder, const ComparisonResult& result, const RunContext& context) {
  return add_file(folder, "ranking.csv", [&](OutputFile& file) { return write_ranking(file, result, context); }) &&
         add_file(folder, "workers.csv",
                  [&](OutputFile& file) { return write_comparison_workers(file, result, context); }) &&
         add_file(folder, "pairs.csv", [&](OutputFile& file) { return write_pairs(file, result, context); });
}

}  // namespace

Status write_result(const ComparisonResult& result, const std::string& directory, const RunContext& context) {
  OutputFolder folder(directory, store::kRunRecord);
  if (!add_comparison_tables(folder, result, context)) return Status::cancelled;
  folder.commit(store::record_json(store::stored_record(result)));
  return Status::converged;
}

Status write_result(const ComparisonLearnResult& result, const std::string& directory, const RunContext& context) {
  OutputFolder folder(directory, store::kRunRecord);
  const bool complete =
      add_comparison_tables(folder, result.crowd, context) &&
      add_file(folder, "scores.csv", [&](OutputFile& file) { return write_scores(file, result, context); });
  if (!complete) return Status::cancelled;
  folder.fill("model", [&](const std::string& path) { result.scorer->save(path); });
  if (context.cancelled()) return Status::cancelled;
  folder.commit(store::record_json(store::stored_record(result.crowd)));
  return Status::converged;
}

std::string run_json(const ComparisonResult& result) {
  return json_text(store::record_json(store::stored_record(result)));
}

}  // namespace wisecrowd
