#include <filesystem>
#include <unordered_map>

#include "store/own_table.hpp"
#include "store/read_result.hpp"
#include "wisecrowd/read_similarities.hpp"

namespace wisecrowd {
namespace {

void read_clusters(const std::string& path, const SimilarityAnswers& answers, SimilarityFit& fit) {
  store::OwnTable table(path, {"item", "cluster", "probability"});
  std::unordered_map<std::string, std::uint32_t> id_of;
  std::vector<std::string> names;
  std::vector<std::uint32_t> cluster;
  while (cluster.size() < answers.item_count() && table.next()) {
    table.require(0, answers.item_names()[cluster.size()]);
    const auto [at, is_new] = id_of.emplace(table.text(1), static_cast<std::uint32_t>(names.size()));
    if (is_new) names.push_back(table.text(1));
    cluster.push_back(at->second);
    fit.probability.push_back(table.share(2));
  }
  table.require_rows(cluster.size() + (table.next() ? 1 : 0), answers.item_count());
  const auto places = cluster_places(cluster);
  fit.cluster_names.resize(names.size());
  for (std::size_t c = 0; c < names.size(); ++c) fit.cluster_names[places[c]] = names[c];
  for (const std::uint32_t own : cluster) fit.cluster.push_back(places[own]);
}

void read_rates(const std::string& path, const SimilarityAnswers& answers, SimilarityFit& fit) {
  store::OwnTable table(path, {"worker", "false_different", "false_same"});
  while (fit.false_same.size() < answers.worker_count() && table.next()) {
    table.require(0, answers.worker_names()[fit.false_same.size()]);
    fit.false_different.push_back(table.share(1));
    fit.false_same.push_back(table.share(2));
  }
  table.require_rows(fit.false_same.size() + (table.next() ? 1 : 0), answers.worker_count());
}

void read_pair_probabilities(const std::string& path, const SimilarityAnswers& answers, SimilarityFit& fit) {
  store::OwnTable table(path, {"left", "right", "probability"});
  while (fit.same.size() < answers.task_count() && table.next()) {
    const SimilarPair pair = answers.pairs()[fit.same.size()];
    table.require(0, answers.item_names()[pair.left]);
    table.require(1, answers.item_names()[pair.right]);
    fit.same.push_back(table.share(2));
  }
  table.require_rows(fit.same.size() + (table.next() ? 1 : 0), answers.task_count());
}

}  // namespace

StoredRun store::read_similarities(StoredRecord stored, const std::string& folder, const ReadResultOptions& options,
                                   const RunContext& context) {
  const RunInputs inputs = inputs_of(stored, folder, options);
  SimilarityData data =
      wisecrowd::read_similarities(inputs.answers, inputs.gold, read_options(stored.record.reading), context);
  const SimilarityAnswers& answers = data.answers;
  check_same(stored, answers, answers.content_hash(), folder, inputs.answers);

  SimilarityFit fit;
  static_cast<FitSummary&>(fit) = std::move(stored.fit);
  fit.item_count = answers.item_count();
  fit.worker_count = answers.worker_count();
  const auto file = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
  read_clusters(file("clusters.csv"), answers, fit);
  read_rates(file("workers.csv"), answers, fit);
  read_pair_probabilities(file("pairs.csv"), answers, fit);

  std::optional<SimilarityEvaluation> evaluation = std::move(stored.similarity_evaluation);
  if (takes_new_gold(options, gold_count(data), stored.record)) evaluation = evaluate_similarities(fit.cluster, data);
  SimilarityResult result = make_result(std::move(data), std::move(fit), std::move(stored.record));
  result.evaluation = std::move(evaluation);
  StoredRun run;
  run.result = std::move(result);
  return run;
}

}  // namespace wisecrowd
