#include <fmt/core.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/csv_text.hpp"
#include "base/intervals.hpp"
#include "base/output_folder.hpp"
#include "base/permutation.hpp"
#include "base/rows_writer.hpp"
#include "store/category_tables.hpp"
#include "store/run_record.hpp"
#include "store/simulation_record.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd {
namespace {

/// ",estimate" for one dimension, ",estimate_x,estimate_y" for several.
std::string columns_of(const char* what, const NameTable& dimensions) {
  if (dimensions.size() == 1) return fmt::format(",{}", what);
  std::string columns;
  for (std::size_t d = 0; d < dimensions.size(); ++d)
    columns += "," + csv_field(fmt::format("{}_{}", what, dimensions[d]));
  return columns;
}

std::string estimate_columns(const NameTable& dimensions) {
  std::string header = "task";
  for (const char* what : {"estimate", "deviation", "low", "high"}) header += columns_of(what, dimensions);
  return header;
}

/// Unknown numbers are left blank.
void append_numbers(TextBuffer& text, std::span<const double> values) {
  for (const double value : values) {
    text.append(',');
    if (value == value) text.append_number(value);
  }
}

/// Rows that the network alone speaks of: those without a task.
std::vector<std::uint32_t> rows_without_task(const NumberLearnResult& learned) {
  std::vector<bool> is_task(learned.row_names.size(), false);
  for (const std::uint32_t row : learned.row_of_task) {
    if (row != kNoRow) is_task[row] = true;
  }
  std::vector<std::uint32_t> rows;
  for (std::uint32_t r = 0; r < is_task.size(); ++r) {
    if (!is_task[r]) rows.push_back(r);
  }
  return rows;
}

/// What the network says of a row, as a row of estimates.csv after its name.
void append_prediction(TextBuffer& text, std::span<const double> estimate, std::span<const double> deviation) {
  const auto known = [&](std::size_t d) {
    return d < deviation.size() ? deviation[d] : std::numeric_limits<double>::quiet_NaN();
  };
  append_numbers(text, estimate);
  for (const double sign : {0.0, -kNormal95, kNormal95}) {
    for (std::size_t d = 0; d < estimate.size(); ++d) {
      const double value = sign == 0 ? known(d) : estimate[d] + sign * known(d);
      append_numbers(text, std::span(&value, 1));
    }
  }
}

/// Tasks in their order; of learning also where each estimate comes from, and then the rows that nobody answered.
bool write_estimates(OutputFile& file, const NumberResult& result, const NumberLearnResult* learned,
                     const RunContext& context) {
  const NumberAnswers& answers = result.data.answers;
  const NumberFit& fit = result.fit;
  std::vector<std::uint32_t> rows;
  if (learned != nullptr) rows = rows_without_task(*learned);
  file.append(estimate_columns(answers.dimension_names()) + (learned != nullptr ? ",source" : "") + '\n');
  const auto row = [&](const std::vector<double>& values, std::size_t t) {
    return std::span(values).subspan(t * fit.dimensions, fit.dimensions);
  };
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t t = begin; t < end; ++t) {
      if (t >= fit.task_count) {
        const std::uint32_t r = rows[t - fit.task_count];
        text.append_field(learned->row_names[r]);
        append_prediction(text, row(learned->row_estimate, r), learned->row_deviation);
        text.append(",network\n");
        continue;
      }
      text.append_field(answers.task_names()[t]);
      for (const auto* values : {&fit.estimate, &fit.deviation, &fit.low, &fit.high})
        append_numbers(text, row(*values, t));
      if (learned != nullptr) {
        const bool has_row = learned->row_of_task[t] != kNoRow, answered = !answers.workers_of(TaskId(t)).empty();
        text.append(!has_row ? ",answers" : answered ? ",answers+network" : ",network");
      }
      text.append('\n');
    }
  };
  return write_rows(file, {fit.task_count + rows.size(), 1 + 4 * fit.dimensions, "writing estimates"}, format, context);
}

bool write_number_workers(OutputFile& file, const NumberResult& result, const RunContext& context) {
  const NumberAnswers& answers = result.data.answers;
  const NameTable& names = answers.dimension_names();
  const bool gold = result.data.has_gold();
  const bool slopes = !result.fit.slope.empty();
  std::string header = "worker,answers" + columns_of("bias", names) + columns_of("scale", names);
  if (slopes) header += columns_of("slope", names);
  if (gold) header += ",gold_answers" + columns_of("gold_error", names);
  file.append(header + '\n');
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t w = begin; w < end; ++w) {
      const NumberWorkerSummary& worker = result.workers[w];
      text.append_field(answers.worker_names()[w]);
      text.append(',');
      text.append_count(worker.answers);
      append_numbers(text, worker.bias);
      append_numbers(text, worker.scale);
      if (slopes) append_numbers(text, worker.slope);
      if (gold) {
        text.append(',');
        text.append_count(worker.gold_answers);
        append_numbers(text, worker.gold_error);
      }
      text.append('\n');
    }
  };
  return write_rows(file, {result.workers.size(), 4, "writing workers"}, format, context);
}

bool write_number_answers(OutputFile& file, const NumberSimulation& simulation, const RunContext& context) {
  const NumberAnswers& answers = simulation.data.answers;
  std::vector<std::uint32_t> task_of;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    task_of.resize(answers.task_offsets()[t + 1], static_cast<std::uint32_t>(t));
  }
  std::string header = "task,worker";
  for (std::size_t d = 0; d < answers.dimensions(); ++d) header += "," + std::string(answers.dimension_names()[d]);
  file.append(header + '\n');
  const Permutation order(answers.answer_count(), Rng(simulation.seed).fork("simulate row order"));
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto a = static_cast<AnswerIndex>(order(i));
      text.append(answers.task_names()[task_of[a]]);
      text.append(',');
      text.append(answers.worker_names()[index(answers.workers()[a])]);
      append_numbers(text, answers.value(a));
      text.append('\n');
    }
  };
  return write_rows(file, {answers.answer_count(), 2, "writing answers"}, format, context);
}

bool write_number_gold(OutputFile& file, const NumberSimulation& simulation, const RunContext& context) {
  const NumberAnswers& answers = simulation.data.answers;
  std::string header = "task";
  for (std::size_t d = 0; d < answers.dimensions(); ++d) header += "," + std::string(answers.dimension_names()[d]);
  file.append(header + '\n');
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t t = begin; t < end; ++t) {
      text.append(answers.task_names()[t]);
      append_numbers(text, simulation.data.gold_of(TaskId(t)));
      text.append('\n');
    }
  };
  return write_rows(file, {answers.task_count(), 1, "writing gold"}, format, context);
}

bool write_simulated_workers(OutputFile& file, const NumberSimulation& simulation, const RunContext& context) {
  const NumberAnswers& answers = simulation.data.answers;
  const std::size_t dimensions = answers.dimensions();
  file.append("worker,kind" + columns_of("bias", answers.dimension_names()) + ",scale\n");
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t w = begin; w < end; ++w) {
      text.append(answers.worker_names()[w]);
      text.append(',');
      text.append(simulation.worker_kind[w]);
      append_numbers(text, std::span(simulation.bias).subspan(w * dimensions, dimensions));
      append_numbers(text, std::span(simulation.scale).subspan(w, 1));
      text.append('\n');
    }
  };
  return write_rows(file, {answers.worker_count(), 2, "writing workers"}, format, context);
}

bool write_correlated(OutputFile& file, const NumberResult& result, const RunContext& context) {
  const NumberAnswers& answers = result.data.answers;
  const std::vector<CorrelatedWorkers>& pairs = result.fit.correlated;
  const bool several = answers.dimensions() > 1;
  file.append(several ? "worker_a,worker_b,dimension,correlation,tasks\n" : "worker_a,worker_b,correlation,tasks\n");
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t p = begin; p < end; ++p) {
      text.append_field(answers.worker_names()[index(pairs[p].first)]);
      text.append(',');
      text.append_field(answers.worker_names()[index(pairs[p].second)]);
      if (several) {
        text.append(',');
        text.append_field(answers.dimension_names()[pairs[p].dimension]);
      }
      append_numbers(text, std::span(&pairs[p].correlation, 1));
      text.append(',');
      text.append_count(pairs[p].tasks);
      text.append('\n');
    }
  };
  return write_rows(file, {pairs.size(), 3, "writing correlated workers"}, format, context);
}

bool write_number_tables(OutputFolder& folder, const NumberResult& result, const NumberLearnResult* learned,
                         const RunContext& context) {
  return add_file(folder, "estimates.csv",
                  [&](OutputFile& file) { return write_estimates(file, result, learned, context); }) &&
         add_file(folder, "workers.csv",
                  [&](OutputFile& file) { return write_number_workers(file, result, context); }) &&
         (result.fit.correlated.empty() || add_file(folder, "correlated_workers.csv", [&](OutputFile& file) {
            return write_correlated(file, result, context);
          }));
}

}  // namespace

Status write_result(const NumberResult& result, const std::string& directory, const RunContext& context) {
  OutputFolder folder(directory, store::kRunRecord);
  if (!write_number_tables(folder, result, nullptr, context)) return Status::cancelled;
  folder.commit(store::record_json(store::stored_record(result)));
  return Status::converged;
}

std::string run_json(const NumberResult& result) { return json_text(store::record_json(store::stored_record(result))); }

Status write_result(const NumberLearnResult& result, const std::string& directory, const RunContext& context) {
  OutputFolder folder(directory, store::kRunRecord);
  if (!write_number_tables(folder, result.crowd, &result, context)) return Status::cancelled;
  folder.fill("model", [&](const std::string& path) { result.regressor->save(path); });
  if (context.cancelled()) return Status::cancelled;
  folder.commit(store::record_json(store::stored_record(result)));
  return Status::converged;
}

std::string run_json(const NumberLearnResult& result) {
  return json_text(store::record_json(store::stored_record(result)));
}

std::string number_predictions_csv(const NameTable& rows, const NameTable& dimensions,
                                   std::span<const double> estimates, std::span<const double> deviation) {
  TextBuffer text;
  text.append(estimate_columns(dimensions) + '\n');
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text.append_field(rows[r]);
    append_prediction(text, estimates.subspan(r * dimensions.size(), dimensions.size()), deviation);
    text.append('\n');
  }
  return std::string(text.text());
}

Status write_simulation(const NumberSimulation& simulation, const std::string& directory, const RunContext& context) {
  if (simulation.status == Status::cancelled) return Status::cancelled;
  OutputFolder folder(directory, "simulation.json");
  const bool complete =
      add_file(folder, "answers.csv", [&](OutputFile& f) { return write_number_answers(f, simulation, context); }) &&
      add_file(folder, "gold.csv", [&](OutputFile& f) { return write_number_gold(f, simulation, context); }) &&
      add_file(folder, "workers.csv", [&](OutputFile& f) { return write_simulated_workers(f, simulation, context); });
  if (!complete) return Status::cancelled;
  folder.commit(store::simulation_record(kNumberSimulation, "numbers",
                                         {{"tasks", simulation.size.tasks},
                                          {"workers", simulation.size.workers},
                                          {"dimensions", simulation.size.dimensions},
                                          {"answers_per_task", simulation.size.answers_per_task}},
                                         simulation.seed, simulation.parameters));
  return Status::converged;
}

}  // namespace wisecrowd
