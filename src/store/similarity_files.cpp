#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/csv_text.hpp"
#include "base/output_folder.hpp"
#include "base/permutation.hpp"
#include "base/rows_writer.hpp"
#include "store/category_tables.hpp"
#include "store/run_record.hpp"
#include "store/simulation_record.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/kinds.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd {
namespace {

void append_known(TextBuffer& text, double value) {
  text.append(',');
  if (value == value) text.append_number(value);
}

bool write_clusters(OutputFile& file, const SimilarityResult& result, const RunContext& context) {
  const SimilarityFit& fit = result.fit;
  file.append("item,cluster,probability\n");
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t i = begin; i < end; ++i) {
      text.append_field(result.data.answers.item_names()[i]);
      text.append(',');
      text.append_field(fit.cluster_names[fit.cluster[i]]);
      append_known(text, fit.probability[i]);
      text.append('\n');
    }
  };
  return write_rows(file, {fit.item_count, 2, "writing clusters"}, format, context);
}

bool write_similarity_workers(OutputFile& file, const SimilarityResult& result, const RunContext& context) {
  const bool gold = result.data.has_gold();
  file.append(fmt::format("worker,answers,said_same,false_different,false_same,agreement{}\n",
                          gold ? ",gold_answers,gold_accuracy" : ""));
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t w = begin; w < end; ++w) {
      const SimilarityWorkerSummary& worker = result.workers[w];
      text.append_field(result.data.answers.worker_names()[w]);
      text.append(',');
      text.append_count(worker.answers);
      text.append(',');
      text.append_count(worker.said_same);
      for (const double value : {worker.false_different, worker.false_same, worker.agreement})
        append_known(text, value);
      if (gold) {
        text.append(',');
        text.append_count(worker.gold_answers);
        append_known(text, worker.gold_accuracy);
      }
      text.append('\n');
    }
  };
  return write_rows(file, {result.workers.size(), 5, "writing workers"}, format, context);
}

bool write_pairs(OutputFile& file, const SimilarityResult& result, const RunContext& context) {
  const SimilarityAnswers& answers = result.data.answers;
  const auto offsets = answers.task_offsets();
  file.append("left,right,answers,said_same,probability\n");
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t p = begin; p < end; ++p) {
      std::uint64_t same = 0;
      for (AnswerIndex a = offsets[p]; a < offsets[p + 1]; ++a) same += answers.same()[a];
      text.append_field(answers.item_names()[answers.pairs()[p].left]);
      text.append(',');
      text.append_field(answers.item_names()[answers.pairs()[p].right]);
      text.append(',');
      text.append_count(offsets[p + 1] - offsets[p]);
      text.append(',');
      text.append_count(same);
      append_known(text, result.fit.same[p]);
      text.append('\n');
    }
  };
  return write_rows(file, {answers.task_count(), 4, "writing pairs"}, format, context);
}

bool write_similar_answers(OutputFile& file, const SimilaritySimulation& simulation, const RunContext& context) {
  const SimilarityAnswers& answers = simulation.data.answers;
  std::vector<std::uint32_t> pair_of;
  for (std::size_t p = 0; p < answers.task_count(); ++p) {
    pair_of.resize(answers.task_offsets()[p + 1], static_cast<std::uint32_t>(p));
  }
  file.append("worker,left,right,label\n");
  const Permutation order(answers.answer_count(), Rng(simulation.seed).fork("simulate row order"));
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto a = static_cast<AnswerIndex>(order(i));
      const SimilarPair pair = answers.pairs()[pair_of[a]];
      text.append(answers.worker_names()[index(answers.workers()[a])]);
      text.append(',');
      text.append(answers.item_names()[pair.left]);
      text.append(',');
      text.append(answers.item_names()[pair.right]);
      text.append(answers.same()[a] != 0 ? std::string_view(",same\n") : std::string_view(",different\n"));
    }
  };
  return write_rows(file, {answers.answer_count(), 3, "writing answers"}, format, context);
}

bool write_true_clusters(OutputFile& file, const SimilaritySimulation& simulation, const RunContext& context) {
  const SimilarityData& data = simulation.data;
  file.append("item,cluster\n");
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t i = begin; i < end; ++i) {
      text.append(data.answers.item_names()[i]);
      text.append(',');
      text.append(data.gold_clusters[data.gold[i]]);
      text.append('\n');
    }
  };
  return write_rows(file, {data.answers.item_count(), 1, "writing gold"}, format, context);
}

bool write_simulated_rates(OutputFile& file, const SimilaritySimulation& simulation, const RunContext& context) {
  const SimilarityAnswers& answers = simulation.data.answers;
  file.append("worker,kind,false_different,false_same\n");
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t w = begin; w < end; ++w) {
      text.append(answers.worker_names()[w]);
      text.append(',');
      text.append(simulation.worker_kind[w]);
      append_known(text, simulation.false_different[w]);
      append_known(text, simulation.false_same[w]);
      text.append('\n');
    }
  };
  return write_rows(file, {answers.worker_count(), 3, "writing workers"}, format, context);
}

}  // namespace

Status write_result(const SimilarityResult& result, const std::string& directory, const RunContext& context) {
  OutputFolder folder(directory, store::kRunRecord);
  const bool complete =
      add_file(folder, "clusters.csv", [&](OutputFile& f) { return write_clusters(f, result, context); }) &&
      add_file(folder, "workers.csv", [&](OutputFile& f) { return write_similarity_workers(f, result, context); }) &&
      add_file(folder, "pairs.csv", [&](OutputFile& f) { return write_pairs(f, result, context); });
  if (!complete) return Status::cancelled;
  folder.commit(store::record_json(store::stored_record(result)));
  return Status::converged;
}

std::string run_json(const SimilarityResult& result) {
  return json_text(store::record_json(store::stored_record(result)));
}

Status write_simulation(const SimilaritySimulation& simulation, const std::string& directory,
                        const RunContext& context) {
  if (simulation.status == Status::cancelled) return Status::cancelled;
  OutputFolder folder(directory, "simulation.json");
  const bool complete =
      add_file(folder, "answers.csv", [&](OutputFile& f) { return write_similar_answers(f, simulation, context); }) &&
      add_file(folder, "gold.csv", [&](OutputFile& f) { return write_true_clusters(f, simulation, context); }) &&
      add_file(folder, "workers.csv", [&](OutputFile& f) { return write_simulated_rates(f, simulation, context); });
  if (!complete) return Status::cancelled;
  folder.commit(store::simulation_record(kSimilaritySimulation, Similarities::name,
                                         {{"items", simulation.size.items},
                                          {"workers", simulation.size.workers},
                                          {"clusters", simulation.size.clusters},
                                          {"answers_per_item", simulation.size.answers_per_item}},
                                         simulation.seed, simulation.parameters));
  return Status::converged;
}

}  // namespace wisecrowd
