#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/csv_text.hpp"
#include "base/rows_writer.hpp"
#include "store/category_tables.hpp"
#include "store/run_record.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd {
namespace {

/// Ties go to the lowest class.
std::size_t best_class(std::span<const double> row) {
  return static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

/// Tasks with answers in their order, then the rows that nobody answered in theirs.
bool write_labels(OutputFile& file, const LearnResult& result, const RunContext& context) {
  const CategoryAnswers& answers = result.crowd.data.answers;
  const CategoryFit& fit = result.crowd.aggregation;
  const bool pinned = result.crowd.record.gold_use == "inference" && result.crowd.data.has_gold();
  std::vector<bool> is_task(result.row_names.size(), false);
  for (const std::uint32_t row : result.row_of_task) {
    if (row != kNoRow) is_task[row] = true;
  }
  std::vector<std::uint32_t> rows;
  for (std::uint32_t r = 0; r < is_task.size(); ++r) {
    if (!is_task[r]) rows.push_back(r);
  }
  std::string header = "task,label,probability,source" + probability_columns(answers.class_names());
  if (!fit.task_score.empty()) header += "," + csv_field(fit.task_score_name);
  file.append(header + "\n");
  const auto fields = class_fields(answers.class_names());
  const std::size_t classes = fit.class_count;
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t i = begin; i < end; ++i) {
      const bool task = i < fit.task_count;
      const std::size_t at = task ? i : rows[i - fit.task_count];
      const std::span<const double> row =
          std::span(task ? fit.posterior : result.row_probabilities).subspan(at * classes, classes);
      const std::size_t label = task ? index(fit.labels[at]) : best_class(row);
      text.append_field(task ? answers.task_names()[at] : result.row_names[at]);
      text.append(',');
      if (row[label] >= result.crowd.record.abstain_below) text.append(fields[label]);
      text.append(',');
      text.append_probability(row[label]);
      text.append(',');
      if (!task) {
        text.append("classifier");
      } else if (pinned && result.crowd.data.gold[at] != kNoClass && row[index(result.crowd.data.gold[at])] == 1) {
        text.append("gold");
      } else if (result.row_of_task[at] == kNoRow) {
        text.append("answers");
      } else {
        text.append("answers+classifier");
      }
      for (const double p : row) {
        text.append(',');
        text.append_probability(p);
      }
      if (!fit.task_score.empty()) {
        text.append(',');
        if (task) text.append_number(fit.task_score[at]);
      }
      text.append('\n');
    }
  };
  return write_rows(file, {fit.task_count + rows.size(), classes + 5, "writing labels"}, format, context);
}

bool write_reliability(OutputFile& file, const LearnResult& result, const RunContext& context) {
  const CategoryAnswers& answers = result.crowd.data.answers;
  file.append("task,worker,label,reliability\n");
  const auto fields = class_fields(answers.class_names());
  const auto offsets = answers.task_offsets();
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t t = begin; t < end; ++t) {
      for (std::size_t a = offsets[t]; a < offsets[t + 1]; ++a) {
        text.append_field(answers.task_names()[t]);
        text.append(',');
        text.append_field(answers.worker_names()[index(answers.workers()[a])]);
        text.append(',');
        text.append(fields[index(answers.labels()[a])]);
        text.append(',');
        // Blank for an answer that the learner was not shown.
        if (!std::isnan(result.answer_reliability[a])) text.append_number(result.answer_reliability[a]);
        text.append('\n');
      }
    }
  };
  return write_rows(file, {answers.task_count(), 16, "writing reliabilities"}, format, context);
}

}  // namespace

Status write_result(const LearnResult& result, const std::string& directory, const LearnWriteOptions& options,
                    const RunContext& context) {
  const CategoryAnswers& answers = result.crowd.data.answers;
  OutputFolder folder(directory, store::kRunRecord);
  const bool complete =
      add_file(folder, "labels.csv", [&](OutputFile& file) { return write_labels(file, result, context); }) &&
      add_file(folder, "workers.csv", [&](OutputFile& file) { return write_workers(file, result.crowd, context); }) &&
      add_file(
          folder, "confusion.csv",
          [&](OutputFile& file) { return write_confusion(file, answers, result.crowd.worker_confusion, context); }) &&
      (result.answer_reliability.empty() ||
       add_file(folder, "reliability.csv", [&](OutputFile& file) { return write_reliability(file, result, context); }));
  if (!complete) return Status::cancelled;
  if (result.classifier) {
    folder.fill("model", [&](const std::string& path) {
      result.classifier->save(path);
      if (options.torchscript) result.classifier->export_torchscript(path + "/classifier.pt");
    });
  }
  if (context.cancelled()) return Status::cancelled;
  folder.commit(store::record_json(store::stored_record(result)));
  return Status::converged;
}

std::string run_json(const LearnResult& result) { return json_text(store::record_json(store::stored_record(result))); }

}  // namespace wisecrowd
