#include "aggregate/similarities/shared/item_graph.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace wisecrowd {
namespace similarities {

ItemGraph::ItemGraph(const SimilarityData& data)
    : pairs_(data.answers.pairs().begin(), data.answers.pairs().end()), offsets_(data.answers.item_count() + 1, 0) {
  for (const KnownPair& known : data.gold_pairs) pairs_.push_back(known.items);
  for (const SimilarPair pair : pairs_) {
    ++offsets_[pair.left + 1];
    ++offsets_[pair.right + 1];
  }
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
  links_.resize(2 * pairs_.size());
  std::vector<std::size_t> next(offsets_.begin(), offsets_.end() - 1);
  for (std::uint32_t p = 0; p < pairs_.size(); ++p) {
    links_[next[pairs_[p].left]++] = {p, pairs_[p].right};
    links_[next[pairs_[p].right]++] = {p, pairs_[p].left};
  }
}

SimilarityFit start_similarity_fit(const SimilarityData& data) {
  const SimilarityAnswers& answers = data.answers;
  SimilarityFit fit;
  fit.item_count = answers.item_count();
  fit.worker_count = answers.worker_count();
  fit.false_different.assign(fit.worker_count, 1 - kPriorRight);
  fit.false_same.assign(fit.worker_count, 1 - kPriorRight);
  std::vector<std::uint8_t> seen(fit.item_count, 0);
  for (std::size_t p = 0; p < answers.task_count(); ++p) {
    if (answers.workers_of(TaskId(p)).empty()) continue;
    seen[answers.pairs()[p].left] = seen[answers.pairs()[p].right] = 1;
  }
  const auto bare = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), 0));
  if (bare > 0 && fit.item_count > 0) {
    fit.warnings.push_back(
        {"items_without_answers",
         fmt::format("{} of {} items were compared with none, so that nothing is known of them.", bare, fit.item_count),
         "Compare each with some others.", Severity::caution});
  }
  return fit;
}

void name_clusters(const SimilarityData& data, std::span<const std::uint32_t> cluster, SimilarityFit& fit) {
  const auto places = cluster_places(cluster);
  const auto used = places.size() - static_cast<std::size_t>(std::count(places.begin(), places.end(), kNoCluster));
  fit.cluster_names.assign(used, "");
  for (std::size_t c = 0; c < places.size(); ++c) {
    if (places[c] != kNoCluster && c < data.gold_clusters.size() && !data.gold.empty()) {
      fit.cluster_names[places[c]] = std::string(data.gold_clusters[c]);
    }
  }
  const auto taken = [&](const std::string& name) {
    return std::find(fit.cluster_names.begin(), fit.cluster_names.end(), name) != fit.cluster_names.end();
  };
  std::size_t number = 0;
  for (std::string& name : fit.cluster_names) {
    ++number;
    if (!name.empty()) continue;
    std::string own = std::to_string(number);
    while (taken(own)) own = "new " + own;
    name = own;
  }
  fit.cluster.clear();
  for (const std::uint32_t own : cluster) fit.cluster.push_back(places[own]);
}

}  // namespace similarities

template <>
std::vector<double> Aggregator<Similarities>::log_predictive(const SimilarityData& data,
                                                             std::span<const SimilarityAnswer> answers,
                                                             const RunContext& context) const {
  const SimilarityFit found = fit(data, context);
  std::vector<double> logs;
  logs.reserve(answers.size());
  for (const SimilarityAnswer& answer : answers) {
    logs.push_back(similarities::log_answer(answer.same, found.same[index(answer.task)],
                                            found.false_different[index(answer.worker)],
                                            found.false_same[index(answer.worker)]));
  }
  return logs;
}

}  // namespace wisecrowd
