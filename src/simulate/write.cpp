#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/output_folder.hpp"
#include "simulate/row_order.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/simulate.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd {
namespace {

constexpr std::array<std::string_view, 5> kFiles = {"labels.csv", "gold.csv", "workers.csv", "confusion.csv",
                                                    "simulation.json"};

/// In the order in which a crowd would send them in: none. Walks the answers by a permutation instead of holding a
/// shuffled copy.
bool write_labels(const Simulation& simulation, const std::string& path, const RunContext& context) {
  const Annotations& answers = simulation.data.answers;
  const RowOrder order(answers.answer_count(), Rng(simulation.seed).fork("simulate row order"));
  const auto workers = answers.workers();
  const auto labels = answers.labels();
  const std::size_t per_task = simulation.size.answers_per_task;
  const auto format = [&](std::size_t begin, std::size_t end, std::string& out) {
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
        out += task[i];
        out += ',';
        out += answers.worker_names()[index(workers[answer[i]])];
        out += ',';
        out += answers.class_names()[index(labels[answer[i]])];
        out += '\n';
      }
    }
  };
  if (workers.size() != answers.task_count() * per_task) {
    throw Error(ErrorCode::internal, "a simulation holds other than its number of answers per task");
  }
  return write_rows(path, "task,worker,label\n", answers.answer_count(), format, "writing labels.csv", context);
}

bool write_gold(const Simulation& simulation, const std::string& path, const RunContext& context) {
  const Dataset& data = simulation.data;
  const auto format = [&](std::size_t begin, std::size_t end, std::string& out) {
    for (std::size_t t = begin; t < end; ++t) {
      out += data.answers.task_names()[t];
      out += ',';
      out += data.answers.class_names()[index(data.gold[t])];
      out += '\n';
    }
  };
  return write_rows(path, "task,label\n", data.gold.size(), format, "writing gold.csv", context);
}

bool write_workers(const Simulation& simulation, const std::string& path, const RunContext& context) {
  const std::size_t classes = simulation.size.classes;
  const auto format = [&](std::size_t begin, std::size_t end, std::string& out) {
    for (std::size_t w = begin; w < end; ++w) {
      double accuracy = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        accuracy += simulation.class_prior[k] * simulation.confusion[(w * classes + k) * classes + k];
      }
      fmt::format_to(std::back_inserter(out), "{},{},{}\n", simulation.data.answers.worker_names()[w],
                     simulation.worker_kind[w], accuracy);
    }
  };
  return write_rows(path, "worker,kind,accuracy\n", simulation.worker_kind.size(), format, "writing workers.csv",
                    context);
}

bool write_confusion(const Simulation& simulation, const std::string& path, const RunContext& context) {
  const std::size_t classes = simulation.size.classes;
  const Annotations& answers = simulation.data.answers;
  const auto format = [&](std::size_t begin, std::size_t end, std::string& out) {
    for (std::size_t cell = begin; cell < end; ++cell) {
      const std::size_t row = cell / classes;
      fmt::format_to(std::back_inserter(out), "{},{},{},{}\n", answers.worker_names()[row / classes],
                     answers.class_names()[row % classes], answers.class_names()[cell % classes],
                     simulation.confusion[cell]);
    }
  };
  return write_rows(path, "worker,truth,label,probability\n", simulation.confusion.size(), format,
                    "writing confusion.csv", context);
}

void write_record(const Simulation& simulation, const std::string& path) {
  nlohmann::ordered_json record;
  record["program"] = "wisecrowd simulate";
  record["version"] = WISECROWD_VERSION;
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
  OutputFile file(path);
  file.write(record.dump(2));
  file.write("\n");
  file.close();
}

}  // namespace

Status write_simulation(const Simulation& simulation, const std::string& directory, const RunContext& context) {
  if (simulation.status == Status::cancelled) return Status::cancelled;
  OutputFolder folder(directory, kFiles);
  if (!write_labels(simulation, folder.path_of("labels.csv"), context) ||
      !write_gold(simulation, folder.path_of("gold.csv"), context) ||
      !write_workers(simulation, folder.path_of("workers.csv"), context) ||
      !write_confusion(simulation, folder.path_of("confusion.csv"), context)) {
    return Status::cancelled;
  }
  write_record(simulation, folder.path_of("simulation.json"));
  folder.publish();
  return Status::converged;
}

}  // namespace wisecrowd
