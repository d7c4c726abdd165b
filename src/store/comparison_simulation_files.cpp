#include <nlohmann/json.hpp>

#include "base/csv_text.hpp"
#include "base/output_folder.hpp"
#include "base/permutation.hpp"
#include "base/rows_writer.hpp"
#include "store/category_tables.hpp"
#include "store/simulation_record.hpp"
#include "wisecrowd/experiment_files.hpp"

namespace wisecrowd {
namespace {

bool write_comparisons(OutputFile& file, const ComparisonSimulation& simulation, const RunContext& context) {
  const ComparisonAnswers& answers = simulation.data.answers;
  std::vector<std::uint32_t> pair_of;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    pair_of.resize(answers.task_offsets()[t + 1], static_cast<std::uint32_t>(t));
  }
  file.append("worker,left,right,label\n");
  const Permutation order(answers.answer_count(), Rng(simulation.seed).fork("simulate row order"));
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto a = static_cast<AnswerIndex>(order(i));
      const ComparisonAnswer answer = answers.answer(TaskId{pair_of[a]}, a);
      text.append(answers.worker_names()[index(answer.worker)]);
      text.append(',');
      text.append(answers.item_names()[index(answer.left)]);
      text.append(',');
      text.append(answers.item_names()[index(answer.right)]);
      text.append(',');
      text.append(to_string(answer.outcome));
      text.append('\n');
    }
  };
  return write_rows(file, {answers.answer_count(), 4, "writing answers"}, format, context);
}

bool write_item_gold(OutputFile& file, const ComparisonSimulation& simulation, const RunContext& context) {
  const NameTable& names = simulation.data.answers.item_names();
  file.append("item,score\n");
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t i = begin; i < end; ++i) {
      text.append(names[i]);
      text.append(',');
      text.append_number(simulation.data.gold_scores[i]);
      text.append('\n');
    }
  };
  return write_rows(file, {names.size(), 2, "writing gold"}, format, context);
}

bool write_pair_gold(OutputFile& file, const ComparisonSimulation& simulation, const RunContext& context) {
  const ComparisonAnswers& answers = simulation.data.answers;
  file.append("left,right,label\n");
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t t = begin; t < end; ++t) {
      text.append(answers.item_names()[index(answers.pairs()[t].first)]);
      text.append(',');
      text.append(answers.item_names()[index(answers.pairs()[t].second)]);
      text.append(',');
      text.append(to_string(*simulation.data.gold[t]));
      text.append('\n');
    }
  };
  return write_rows(file, {answers.task_count(), 3, "writing gold"}, format, context);
}

bool write_judges(OutputFile& file, const ComparisonSimulation& simulation, const RunContext& context) {
  file.append("worker,kind,reliability\n");
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t w = begin; w < end; ++w) {
      text.append(simulation.data.answers.worker_names()[w]);
      text.append(',');
      text.append(simulation.worker_kind[w]);
      text.append(',');
      text.append_number(simulation.reliability[w]);
      text.append('\n');
    }
  };
  return write_rows(file, {simulation.worker_kind.size(), 3, "writing workers"}, format, context);
}

}  // namespace

Status write_simulation(const ComparisonSimulation& simulation, const std::string& directory,
                        const RunContext& context) {
  if (simulation.status == Status::cancelled) return Status::cancelled;
  OutputFolder folder(directory, "simulation.json");
  const bool complete =
      add_file(folder, "answers.csv", [&](OutputFile& f) { return write_comparisons(f, simulation, context); }) &&
      add_file(folder, "gold.csv", [&](OutputFile& f) { return write_item_gold(f, simulation, context); }) &&
      add_file(folder, "gold_pairs.csv", [&](OutputFile& f) { return write_pair_gold(f, simulation, context); }) &&
      add_file(folder, "workers.csv", [&](OutputFile& f) { return write_judges(f, simulation, context); });
  if (!complete) return Status::cancelled;
  folder.commit(store::simulation_record(kComparisonSimulation, "comparisons",
                                         {{"items", simulation.size.items},
                                          {"pairs", simulation.size.pairs},
                                          {"workers", simulation.size.workers},
                                          {"answers_per_pair", simulation.size.answers_per_pair}},
                                         simulation.seed, simulation.parameters));
  return Status::converged;
}

}  // namespace wisecrowd
