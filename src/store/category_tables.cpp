#include "store/category_tables.hpp"

#include <fmt/core.h>

#include <unordered_map>

#include "base/csv_text.hpp"
#include "base/rows_writer.hpp"

namespace wisecrowd {

std::vector<std::string> class_fields(const NameTable& classes) {
  std::vector<std::string> fields;
  for (std::size_t k = 0; k < classes.size(); ++k) fields.push_back(csv_field(classes[k]));
  return fields;
}

std::string probability_columns(const NameTable& classes) {
  std::string columns;
  for (std::size_t k = 0; k < classes.size(); ++k) {
    columns += fmt::format(",{}", csv_field(fmt::format("p_{}", classes[k])));
  }
  return columns;
}

bool write_labels(OutputFile& file, const CategoryResult& result, const RunContext& context) {
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

bool write_workers(OutputFile& file, const CategoryResult& result, const RunContext& context) {
  const bool gold = result.data.has_gold();
  const auto& skill = result.aggregation.skill;
  const auto& group = result.aggregation.worker_group;
  std::string header = "worker,answers,accuracy,accuracy_low,accuracy_high,informativeness";
  if (gold) header += ",gold_answers,gold_accuracy,gold_accuracy_low,gold_accuracy_high";
  if (!skill.empty()) header += ",skill";
  if (!group.empty()) header += ",group";
  std::unordered_map<std::string_view, std::string_view> left_out;
  if (result.record.cleaning) {
    for (const LeftOutWorker& worker : result.record.cleaning->workers) left_out.emplace(worker.name, worker.reason);
  }
  if (!left_out.empty()) header += ",left_out";
  file.append(header + "\n");
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    const auto number = [&](double x) {
      text.append(',');
      text.append_number(x);
    };
    for (std::size_t w = begin; w < end; ++w) {
      const WorkerSummary& summary = result.workers[w];
      text.append_field(result.data.answers.worker_names()[w]);
      text.append(',');
      text.append_count(summary.answers);
      number(summary.accuracy);
      number(summary.accuracy_low);
      number(summary.accuracy_high);
      number(summary.informativeness);
      if (gold) {
        text.append(',');
        text.append_count(summary.gold_answers);
        number(summary.gold_accuracy);
        number(summary.gold_accuracy_low);
        number(summary.gold_accuracy_high);
      }
      if (!skill.empty()) number(skill[w]);
      if (!group.empty()) {
        text.append(',');
        if (group[w] != CategoryFit::kNoGroup) text.append_count(group[w]);
      }
      if (!left_out.empty()) {
        text.append(',');
        const auto found = left_out.find(result.data.answers.worker_names()[w]);
        if (found != left_out.end()) text.append(found->second);
      }
      text.append('\n');
    }
  };
  return write_rows(file, {result.workers.size(), 14, "writing workers"}, format, context);
}

bool write_confusion(OutputFile& file, const CategoryAnswers& answers, std::span<const double> confusion,
                     const RunContext& context) {
  file.append("worker,truth,label,probability\n");
  const auto fields = class_fields(answers.class_names());
  const std::size_t classes = fields.size();
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t w = begin; w < end; ++w) {
      const std::string worker = csv_field(answers.worker_names()[w]);
      for (std::size_t cell = 0; cell < classes * classes; ++cell) {
        text.append(worker);
        text.append(',');
        text.append(fields[cell / classes]);
        text.append(',');
        text.append(fields[cell % classes]);
        text.append(',');
        text.append_probability(confusion[w * classes * classes + cell]);
        text.append('\n');
      }
    }
  };
  const std::size_t workers = confusion.empty() ? 0 : answers.worker_count();
  return write_rows(file, {workers, classes * classes * 4, "writing confusion tables"}, format, context);
}

}  // namespace wisecrowd
