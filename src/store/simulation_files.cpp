#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/csv_text.hpp"
#include "base/huge_vector.hpp"
#include "base/npy_writer.hpp"
#include "base/output_folder.hpp"
#include "base/permutation.hpp"
#include "base/rows_writer.hpp"
#include "store/simulation_record.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/experiment_files.hpp"

namespace wisecrowd {
namespace {

constexpr const char* kRecord = "simulation.json";

/// Which task an answer belongs to.
class TaskOf {
 public:
  explicit TaskOf(const CategoryAnswers& answers) {
    const auto offsets = answers.task_offsets();
    const std::size_t tasks = answers.task_count();
    per_task_ = tasks == 0 ? 0 : offsets[1];
    for (std::size_t t = 0; t < tasks && per_task_ > 0; ++t) {
      if (offsets[t + 1] - offsets[t] != per_task_) per_task_ = 0;
    }
    if (per_task_ > 0) return;  // a division will do
    tasks_.resize(answers.answer_count());
    for (std::size_t t = 0; t < tasks; ++t) {
      std::fill(tasks_.begin() + offsets[t], tasks_.begin() + offsets[t + 1], static_cast<std::uint32_t>(t));
    }
  }
  [[nodiscard]] std::size_t operator()(std::size_t answer) const {
    return per_task_ > 0 ? answer / per_task_ : tasks_[answer];
  }

 private:
  std::size_t per_task_ = 0;
  HugeVector<std::uint32_t> tasks_;
};

/// In the order in which a crowd would send them in: none. Walks the answers by a permutation instead of holding a
/// shuffled copy.
bool write_answers(OutputFile& file, const CategoryAnswers& answers, bool with_time, const Rng& shuffler,
                   const RunContext& context) {
  const auto workers = answers.workers();
  const auto labels = answers.labels();
  const TaskOf task_of(answers);
  const Permutation order(answers.answer_count(), shuffler);
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
        task[i] = answers.task_names()[task_of(answer[i])];
        __builtin_prefetch(task[i].data());
      }
      for (std::size_t i = 0; i < count; ++i) {
        text.append_field(task[i]);
        text.append(',');
        text.append(answers.worker_names()[index(workers[answer[i]])]);
        text.append(',');
        text.append_field(answers.class_names()[index(labels[answer[i]])]);
        if (with_time) {
          text.append(',');
          text.append_count(answer[i] + 1);
        }
        text.append('\n');
      }
    }
  };
  file.append(with_time ? "task,worker,label,time\n" : "task,worker,label\n");
  return write_rows(file, {answers.answer_count(), 1, "writing answers"}, format, context);
}

bool write_train_answers(OutputFile& file, const Simulation& simulation, const RunContext& context) {
  return write_answers(file, simulation.data.answers, simulation.in_order,
                       Rng(simulation.seed).fork("simulate row order"), context);
}

bool write_test_answers(OutputFile& file, const Simulation& simulation, const RunContext& context) {
  return write_answers(file, simulation.held_out, simulation.in_order,
                       Rng(simulation.seed).fork("simulate row order", 1), context);
}

/// In task order: train tasks first, then the others.
bool write_reliability(OutputFile& file, const Simulation& simulation, const RunContext& context) {
  file.append("task,worker,reliability\n");
  const auto write = [&](const CategoryAnswers& answers, std::span<const float> reliability) {
    const TaskOf task_of(answers);
    const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
      for (std::size_t a = begin; a < end; ++a) {
        text.append_field(answers.task_names()[task_of(a)]);
        text.append(',');
        text.append(answers.worker_names()[index(answers.workers()[a])]);
        text.append(',');
        text.append_probability(reliability[a]);
        text.append('\n');
      }
    };
    return write_rows(file, {reliability.size(), 1, "writing reliabilities"}, format, context);
  };
  return write(simulation.data.answers, simulation.reliability) &&
         write(simulation.held_out, simulation.held_out_reliability);
}

std::string_view name_of(Split split) {
  return split == Split::train ? "train" : split == Split::valid ? "valid" : "test";
}

bool has_rows(const Simulation& simulation) { return !simulation.features.empty() || !simulation.splits.empty(); }

bool write_task_table(OutputFile& file, const Simulation& simulation, bool with_rows, const RunContext& context) {
  const NameTable& names = simulation.data.answers.task_names();
  const bool rows = has_rows(simulation) && with_rows;
  const bool grouped = !simulation.groups.of_task.empty();
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t t = begin; t < end; ++t) {
      text.append_field(names[t]);
      if (rows) {
        text.append(',');
        text.append_count(t);
        text.append(',');
        text.append(simulation.splits.empty() ? "train" : name_of(simulation.splits[t]));
      }
      if (grouped) {
        text.append(',');
        text.append_field(simulation.groups.names[index(simulation.groups.of_task[t])]);
      }
      text.append('\n');
    }
  };
  file.append(fmt::format("task{}{}\n", rows ? ",row,split" : "", grouped ? ",group" : ""));
  return write_rows(file, {names.size(), 1, "writing tasks"}, format, context);
}

bool write_tasks(OutputFile& file, const Simulation& simulation, const RunContext& context) {
  return write_task_table(file, simulation, true, context);
}

bool write_groups(OutputFile& file, const Simulation& simulation, const RunContext& context) {
  return write_task_table(file, simulation, false, context);
}

bool write_features(OutputFile& file, const Simulation& simulation, const RunContext& context) {
  return write_npy(file, simulation.features, simulation.feature_columns, context);
}

bool write_gold(OutputFile& file, const Simulation& simulation, const RunContext& context) {
  const CategoryData& data = simulation.data;
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t t = begin; t < end; ++t) {
      if (data.gold[t] == kNoClass) continue;
      text.append_field(data.answers.task_names()[t]);
      text.append(',');
      text.append_field(data.answers.class_names()[index(data.gold[t])]);
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
      if (!simulation.expertise.empty()) {
        text.append(',');
        text.append_probability(simulation.expertise[w]);
      }
      text.append('\n');
    }
  };
  file.append(simulation.expertise.empty() ? "worker,kind,accuracy\n" : "worker,kind,accuracy,expertise\n");
  return write_rows(file, {simulation.worker_kind.size(), classes, "writing workers"}, format, context);
}

bool write_confusion(OutputFile& file, const Simulation& simulation, const RunContext& context) {
  const std::size_t classes = simulation.size.classes;
  const CategoryAnswers& answers = simulation.data.answers;
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t cell = begin; cell < end; ++cell) {
      const std::size_t row = cell / classes;
      text.append(answers.worker_names()[row / classes]);
      text.append(',');
      text.append_field(answers.class_names()[row % classes]);
      text.append(',');
      text.append_field(answers.class_names()[cell % classes]);
      text.append(',');
      text.append_probability(simulation.confusion[cell]);
      text.append('\n');
    }
  };
  file.append("worker,truth,label,probability\n");
  return write_rows(file, {simulation.confusion.size(), 4, "writing confusion tables"}, format, context);
}

nlohmann::ordered_json record_of(const Simulation& simulation, const SimulationSources& sources) {
  nlohmann::ordered_json record = store::simulation_record(simulation.kind, "",
                                                           {{"tasks", simulation.size.tasks},
                                                            {"workers", simulation.size.workers},
                                                            {"classes", simulation.size.classes},
                                                            {"answers_per_task", simulation.size.answers_per_task}},
                                                           simulation.seed, simulation.parameters);
  record["class_prior"] = simulation.class_prior;
  if (simulation.held_out.answer_count() > 0) {
    record["held_out_answers"] = simulation.held_out.answer_count();
  }
  if (simulation.feature_columns > 0) record["feature_columns"] = simulation.feature_columns;
  if (simulation.gaussian_separation) record["gaussian_separation"] = *simulation.gaussian_separation;
  if (!sources.gold.empty()) record["gold"] = sources.gold;
  if (!sources.tasks.empty()) record["tasks_file"] = sources.tasks;
  if (!sources.features.empty()) record["features"] = sources.features;
  return record;
}

}  // namespace

Status write_simulation(const Simulation& simulation, const std::string& directory, const RunContext& context,
                        const SimulationSources& sources) {
  if (simulation.status == Status::cancelled) return Status::cancelled;
  OutputFolder folder(directory, kRecord);
  struct Table {
    const char* name;
    bool (*write)(OutputFile&, const Simulation&, const RunContext&);
    bool wanted = true;
  };
  const bool grouped = !simulation.groups.of_task.empty();
  const bool given_table = !sources.task_table.empty();
  const Table tables[] = {{"answers.csv", &write_train_answers},
                          {"answers_test.csv", &write_test_answers, simulation.held_out.answer_count() > 0},
                          {"gold.csv", &write_gold},
                          {"workers.csv", &write_workers},
                          {"confusion.csv", &write_confusion},
                          {"reliability.csv", &write_reliability, !simulation.reliability.empty()},
                          {"features.npy", &write_features, !simulation.features.empty()},
                          {"tasks.csv", &write_tasks, !given_table && (has_rows(simulation) || grouped)},
                          {"groups.csv", &write_groups, given_table && grouped}};
  for (const Table& table : tables) {
    if (!table.wanted) continue;
    OutputFile file = folder.create(table.name);
    if (!table.write(file, simulation, context)) return Status::cancelled;
    file.finish();
  }
  if (given_table) {
    OutputFile file = folder.create("tasks.csv");
    file.append(sources.task_table);
    file.finish();
  }
  folder.commit(record_of(simulation, sources));
  return Status::converged;
}

}  // namespace wisecrowd
