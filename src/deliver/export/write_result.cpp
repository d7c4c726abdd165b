#include <nlohmann/json.hpp>

#include "base/csv_text.hpp"
#include "base/output_folder.hpp"
#include "base/rows_writer.hpp"
#include "deliver/export/result_files.hpp"
#include "deliver/export/run_json.hpp"
#include "wisecrowd/result.hpp"

namespace wisecrowd {
namespace {

bool write_labels(OutputFile& file, const Result& result, const RunContext& context) {
  const CategoryAnswers& answers = result.data.answers;
  const CategoryFit& fit = result.aggregation;
  std::string header = "task,label,probability" + probability_columns(answers.class_names());
  if (!fit.task_score.empty()) header += "," + csv_field(fit.task_score_name);
  header += '\n';
  file.append(header);
  const auto fields = class_fields(answers.class_names());
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t t = begin; t < end; ++t) {
      const double* row = fit.posterior.data() + t * fit.class_count;
      const std::size_t label = index(fit.labels[t]);
      text.append_field(answers.task_names()[t]);
      text.append(',');
      if (row[label] >= result.record.abstain_below) text.append(fields[label]);
      text.append(',');
      text.append_probability(row[label]);
      for (std::size_t k = 0; k < fit.class_count; ++k) {
        text.append(',');
        text.append_probability(row[k]);
      }
      if (!fit.task_score.empty()) {
        text.append(',');
        text.append_number(fit.task_score[t]);
      }
      text.append('\n');
    }
  };
  return write_rows(file, {fit.task_count, fit.class_count + 4, "writing labels"}, format, context);
}

}  // namespace

Status write_result(const Result& result, const std::string& directory, const RunContext& context) {
  const CategoryAnswers& answers = result.data.answers;
  OutputFolder folder(directory, kRunRecord);
  const bool complete =
      add_file(folder, "labels.csv", [&](OutputFile& file) { return write_labels(file, result, context); }) &&
      add_file(folder, "workers.csv", [&](OutputFile& file) { return write_workers(file, result, context); }) &&
      add_file(folder, "confusion.csv",
               [&](OutputFile& file) { return write_confusion(file, answers, result.worker_confusion, context); });
  if (!complete) return Status::cancelled;
  folder.commit(run_record_json(result));
  return Status::converged;
}

std::string run_json(const Result& result) { return json_text(run_record_json(result)); }

void check_output_directory(const std::string& directory, const std::string& record) {
  check_output_place(directory, record);
}

void remove_unfinished_output(const std::string& directory, bool own) noexcept { remove_unfinished(directory, own); }

}  // namespace wisecrowd
