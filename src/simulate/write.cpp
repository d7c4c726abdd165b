#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/csv_text.hpp"
#include "base/output_folder.hpp"
#include "base/permutation.hpp"
#include "base/rows_writer.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/simulate.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd {
namespace {

constexpr const char* kRecord = "simulation.json";

/// In the order in which a crowd would send them in: none. Walks the answers by a permutation instead of holding a
/// shuffled copy.
bool write_labels(OutputFile& file, const Simulation& simulation, const RunContext& context) {
  const Annotations& answers = simulation.data.answers;
  const auto workers = answers.workers();
  const auto labels = answers.labels();
  const std::size_t per_task = simulation.size.answers_per_task;
  if (workers.size() != answers.task_count() * per_task) {
    throw Error(ErrorCode::internal, "a simulation holds other than its number of answers per task");
  }
  const Permutation order(answers.answer_count(), Rng(simulation.seed).fork("simulate row order"));
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    // The lookups miss the cache; done in batches, they wait for memory together instead of one after the other.
    constexpr std::size_t kBatch = 32;
    std::array<std::uint64_t, kBatch> answer{};
    std::array<std::string_view, kBatch> task{};
    for (std::size_t first = begin; first < end; first += kBatch) {
      const std::size_t count = std::min(kBatch, end - first);
      for (std::size_t i = 0; i < count; ++i) {
        answer[i] = order(first + i);
        __builtin_prefetch(&workers[answer[i]]);
        __builtin_prefetch(&labels[answer[i]]);
      }
      for (std::size_t i = 0; i < count; ++i) {
        task[i] = answers.task_names()[answer[i] / per_task];
        __builtin_prefetch(task[i].data());
      }
      for (std::size_t i = 0; i < count; ++i) {
        text.append(task[i]);
        text.append(',');
        text.append(answers.worker_names()[index(workers[answer[i]])]);
        text.append(',');
        text.append(answers.class_names()[index(labels[answer[i]])]);
        text.append('\n');
      }
    }
  };
  file.append("task,worker,label\n");
  return write_rows(file, {answers.answer_count(), 1, "writing labels"}, format, context);
}

bool write_gold(OutputFile& file, const Simulation& simulation, const RunContext& context) {
  const Dataset& data = simulation.data;
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t t = begin; t < end; ++t) {
      text.append(data.answers.task_names()[t]);
      text.append(',');
      text.append(data.answers.class_names()[index(data.gold[t])]);
      text.append('\n');
    }
  };
  file.append("task,label\n");
  return write_rows(file, {data.gold.size(), 1, "writing gold"}, format, context);
}

bool write_workers(OutputFile& file, const Simulation& simulation, const RunContext& context) {
  const std::size_t classes = simulation.size.classes;
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t w = begin; w < end; ++w) {
      double accuracy = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        accuracy += simulation.class_prior[k] * simulation.confusion[(w * classes + k) * classes + k];
      }
      text.append(simulation.data.answers.worker_names()[w]);
      text.append(',');
      text.append(simulation.worker_kind[w]);
      text.append(',');
      text.append_probability(accuracy);
      text.append('\n');
    }
  };
  file.append("worker,kind,accuracy\n");
  return write_rows(file, {simulation.worker_kind.size(), classes, "writing workers"}, format, context);
}

bool write_confusion(OutputFile& file, const Simulation& simulation, const RunContext& context) {
  const std::size_t classes = simulation.size.classes;
  const Annotations& answers = simulation.data.answers;
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t cell = begin; cell < end; ++cell) {
      const std::size_t row = cell / classes;
      text.append(answers.worker_names()[row / classes]);
      text.append(',');
      text.append(answers.class_names()[row % classes]);
      text.append(',');
      text.append(answers.class_names()[cell % classes]);
      text.append(',');
      text.append_probability(simulation.confusion[cell]);
      text.append('\n');
    }
  };
  file.append("worker,truth,label,probability\n");
  return write_rows(file, {simulation.confusion.size(), 4, "writing confusion tables"}, format, context);
}

nlohmann::ordered_json record_of(const Simulation& simulation) {
  nlohmann::ordered_json record;
  record["version"] = WISECROWD_VERSION;
  record["command"] = "simulate";
  record["kind"] = simulation.kind;
  record["tasks"] = simulation.size.tasks;
  record["workers"] = simulation.size.workers;
  record["classes"] = simulation.size.classes;
  record["answers_per_task"] = simulation.size.answers_per_task;
  record["seed"] = simulation.seed;
  auto& parameters = record["parameters"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : simulation.parameters) {
    std::visit([&, &key = name](const auto& v) { parameters[key] = v; }, value);
  }
  record["class_prior"] = simulation.class_prior;
  return record;
}

}  // namespace

Status write_simulation(const Simulation& simulation, const std::string& directory, const RunContext& context) {
  if (simulation.status == Status::cancelled) return Status::cancelled;
  OutputFolder folder(directory, kRecord);
  using Writer = bool (*)(OutputFile&, const Simulation&, const RunContext&);
  const std::pair<const char*, Writer> files[] = {{"labels.csv", &write_labels},
                                                  {"gold.csv", &write_gold},
                                                  {"workers.csv", &write_workers},
                                                  {"confusion.csv", &write_confusion}};
  for (const auto& [name, write] : files) {
    OutputFile file = folder.create(name);
    if (!write(file, simulation, context)) return Status::cancelled;
    file.finish();
  }
  folder.commit(record_of(simulation));
  return Status::converged;
}

}  // namespace wisecrowd
