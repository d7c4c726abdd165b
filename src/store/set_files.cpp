#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/csv_text.hpp"
#include "base/output_folder.hpp"
#include "base/permutation.hpp"
#include "base/rows_writer.hpp"
#include "store/category_tables.hpp"
#include "store/run_record.hpp"
#include "store/set_text.hpp"
#include "store/simulation_record.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd {
namespace store {

SetText::SetText(const NameTable& classes) {
  for (std::size_t k = 0; k < classes.size(); ++k) {
    const std::string_view name = classes[k];
    const bool blank_ends =
        name.empty() || name.front() == ' ' || name.front() == '\t' || name.back() == ' ' || name.back() == '\t';
    plain_ =
        plain_ && !blank_ends && name.find('|') == std::string_view::npos && name.front() != '[' && name.front() != '{';
  }
  for (std::size_t k = 0; k < classes.size(); ++k) {
    names_.push_back(plain_ ? std::string(classes[k]) : nlohmann::ordered_json(std::string(classes[k])).dump());
  }
}

std::string SetText::of(std::span<const ClassId> set) const {
  if (set.empty()) return "[]";
  std::string text;
  for (const ClassId label : set) text += (text.empty() ? "" : plain_ ? "|" : ", ") + names_[index(label)];
  return plain_ ? text : "[" + text + "]";
}

}  // namespace store

namespace {

/// All classes are candidates of every task that has answers, so that each has a column.
bool every_class_is_candidate(const SetFit& fit) {
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    if (fit.is_known(TaskId(t)) && fit.candidates_of(TaskId(t)).size() != fit.class_count) return false;
  }
  return true;
}

/// The classes above the threshold by the digits that are written.
std::vector<ClassId> written_set(const SetFit& fit, std::size_t task) {
  std::vector<ClassId> set;
  const auto own = fit.candidates_of(TaskId(task));
  const auto probabilities = fit.probabilities_of(TaskId(task));
  for (std::size_t c = 0; c < own.size(); ++c) {
    if (written_number(probabilities[c]) > fit.threshold) set.push_back(own[c]);
  }
  return set;
}

bool write_sets(OutputFile& file, const SetResult& result, const RunContext& context) {
  const SetAnswers& answers = result.data.answers;
  const SetFit& fit = result.fit;
  const store::SetText text_of(answers.class_names());
  const bool columns = every_class_is_candidate(fit);
  file.append("task,set" + (columns ? probability_columns(answers.class_names()) : ",candidates,probabilities") + '\n');
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t t = begin; t < end; ++t) {
      text.append_field(answers.task_names()[t]);
      text.append(',');
      const bool known = fit.is_known(TaskId(t));
      if (known) text.append_field(text_of.of(written_set(fit, t)));
      const auto probabilities = fit.probabilities_of(TaskId(t));
      if (columns) {
        for (std::size_t k = 0; k < fit.class_count; ++k) {
          text.append(',');
          if (known) text.append_number(probabilities[k]);
        }
      } else {
        text.append(',');
        if (known) text.append_field(text_of.of(fit.candidates_of(TaskId(t))));
        text.append(',');
        for (std::size_t c = 0; c < probabilities.size(); ++c) {
          if (c > 0) text.append('|');
          text.append_number(probabilities[c]);
        }
      }
      text.append('\n');
    }
  };
  return write_rows(file, {fit.task_count, 2 + (columns ? fit.class_count : 4), "writing sets"}, format, context);
}

/// ",sensitivity_<class>" for every class.
std::string rate_columns(const char* what, const NameTable& classes) {
  std::string columns;
  for (std::size_t k = 0; k < classes.size(); ++k) columns += "," + csv_field(fmt::format("{}_{}", what, classes[k]));
  return columns;
}

bool write_set_workers(OutputFile& file, const SetResult& result, const RunContext& context) {
  const SetAnswers& answers = result.data.answers;
  const SetFit& fit = result.fit;
  const bool gold = result.data.has_gold();
  file.append(fmt::format("worker,answers,set_size,sensitivity,specificity{}{}{}\n",
                          gold ? ",gold_answers,gold_jaccard" : "", rate_columns("sensitivity", answers.class_names()),
                          rate_columns("specificity", answers.class_names())));
  const auto append = [](TextBuffer& text, double value) {
    text.append(',');
    if (value == value) text.append_number(value);
  };
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t w = begin; w < end; ++w) {
      const SetWorkerSummary& worker = result.workers[w];
      text.append_field(answers.worker_names()[w]);
      text.append(',');
      text.append_count(worker.answers);
      for (const double value : {worker.set_size, worker.sensitivity, worker.specificity}) append(text, value);
      if (gold) {
        text.append(',');
        text.append_count(worker.gold_answers);
        append(text, worker.gold_jaccard);
      }
      for (const auto* rates : {&fit.sensitivity, &fit.specificity}) {
        for (std::size_t k = 0; k < fit.class_count; ++k) append(text, (*rates)[w * fit.class_count + k]);
      }
      text.append('\n');
    }
  };
  return write_rows(file, {result.workers.size(), 5 + 2 * fit.class_count, "writing workers"}, format, context);
}

bool write_set_answers(OutputFile& file, const SetSimulation& simulation, const RunContext& context) {
  const SetAnswers& answers = simulation.data.answers;
  const store::SetText text_of(answers.class_names());
  std::vector<std::uint32_t> task_of;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    task_of.resize(answers.task_offsets()[t + 1], static_cast<std::uint32_t>(t));
  }
  file.append("task,worker,set\n");
  const Permutation order(answers.answer_count(), Rng(simulation.seed).fork("simulate row order"));
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto a = static_cast<AnswerIndex>(order(i));
      text.append(answers.task_names()[task_of[a]]);
      text.append(',');
      text.append(answers.worker_names()[index(answers.workers()[a])]);
      text.append(',');
      text.append_field(text_of.of(answers.set(a)));
      text.append('\n');
    }
  };
  return write_rows(file, {answers.answer_count(), 3, "writing answers"}, format, context);
}

bool write_set_gold(OutputFile& file, const SetSimulation& simulation, const RunContext& context) {
  const SetAnswers& answers = simulation.data.answers;
  const store::SetText text_of(answers.class_names());
  file.append("task,set\n");
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t t = begin; t < end; ++t) {
      text.append(answers.task_names()[t]);
      text.append(',');
      text.append_field(text_of.of(simulation.data.gold_of(TaskId(t))));
      text.append('\n');
    }
  };
  return write_rows(file, {answers.task_count(), 2, "writing gold"}, format, context);
}

bool write_workers_of_sets(OutputFile& file, const SetSimulation& simulation, const RunContext& context) {
  const SetAnswers& answers = simulation.data.answers;
  const std::size_t classes = answers.class_count();
  file.append("worker,kind" + rate_columns("sensitivity", answers.class_names()) +
              rate_columns("specificity", answers.class_names()) + '\n');
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t w = begin; w < end; ++w) {
      text.append(answers.worker_names()[w]);
      text.append(',');
      text.append(simulation.worker_kind[w]);
      for (const auto* rates : {&simulation.sensitivity, &simulation.specificity}) {
        for (std::size_t k = 0; k < classes; ++k) {
          text.append(',');
          text.append_number((*rates)[w * classes + k]);
        }
      }
      text.append('\n');
    }
  };
  return write_rows(file, {answers.worker_count(), 2 + 2 * classes, "writing workers"}, format, context);
}

}  // namespace

Status write_simulation(const SetSimulation& simulation, const std::string& directory, const RunContext& context) {
  if (simulation.status == Status::cancelled) return Status::cancelled;
  OutputFolder folder(directory, "simulation.json");
  const bool complete =
      add_file(folder, "answers.csv", [&](OutputFile& f) { return write_set_answers(f, simulation, context); }) &&
      add_file(folder, "gold.csv", [&](OutputFile& f) { return write_set_gold(f, simulation, context); }) &&
      add_file(folder, "workers.csv", [&](OutputFile& f) { return write_workers_of_sets(f, simulation, context); });
  if (!complete) return Status::cancelled;
  folder.commit(store::simulation_record(kSetSimulation, "sets",
                                         {{"tasks", simulation.size.tasks},
                                          {"workers", simulation.size.workers},
                                          {"classes", simulation.size.classes},
                                          {"answers_per_task", simulation.size.answers_per_task}},
                                         simulation.seed, simulation.parameters));
  return Status::converged;
}

Status write_result(const SetResult& result, const std::string& directory, const RunContext& context) {
  OutputFolder folder(directory, store::kRunRecord);
  const bool complete =
      add_file(folder, "sets.csv", [&](OutputFile& file) { return write_sets(file, result, context); }) &&
      add_file(folder, "workers.csv", [&](OutputFile& file) { return write_set_workers(file, result, context); });
  if (!complete) return Status::cancelled;
  folder.commit(store::record_json(store::stored_record(result)));
  return Status::converged;
}

std::string run_json(const SetResult& result) { return json_text(store::record_json(store::stored_record(result))); }

}  // namespace wisecrowd
