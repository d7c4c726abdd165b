#include "wisecrowd/evaluate_similarities.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "base/assignment.hpp"
#include "base/intervals.hpp"
#include "base/math.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr double kNoMeasure = std::numeric_limits<double>::quiet_NaN();

/// How many items of each true cluster are in each found one.
struct Contingency {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> cells;  ///< (true, found), both dense
  std::vector<double> truth, found;
  double all = 0;
};

Contingency contingency_of(std::span<const std::uint32_t> cluster, std::span<const std::uint32_t> gold) {
  Contingency table;
  std::unordered_map<std::uint32_t, std::uint32_t> truth_id, found_id;
  for (std::size_t i = 0; i < gold.size(); ++i) {
    if (gold[i] == kNoCluster || cluster[i] == kNoCluster) continue;
    const std::uint32_t t = truth_id.emplace(gold[i], static_cast<std::uint32_t>(truth_id.size())).first->second;
    const std::uint32_t f = found_id.emplace(cluster[i], static_cast<std::uint32_t>(found_id.size())).first->second;
    table.truth.resize(truth_id.size());
    table.found.resize(found_id.size());
    ++table.cells[{t, f}];
    ++table.truth[t];
    ++table.found[f];
    ++table.all;
  }
  return table;
}

/// Items that are right under the best matching of clusters.
double matched_items(const Contingency& table) {
  const bool more_found = table.found.size() >= table.truth.size();
  const std::size_t rows = std::min(table.truth.size(), table.found.size());
  const std::size_t columns = std::max(table.truth.size(), table.found.size());
  std::vector<double> gain(rows * columns, 0);
  const auto at = [&](std::uint32_t t, std::uint32_t f) { return more_found ? t * columns + f : f * columns + t; };
  for (const auto& [cell, count] : table.cells) gain[at(cell.first, cell.second)] = count;
  const auto assigned = best_assignment(gain, rows, columns);
  double matched = 0;
  for (std::size_t r = 0; r < rows; ++r) matched += gain[r * columns + assigned[r]];
  return matched;
}

double entropy_of_sizes(const std::vector<double>& sizes, double all) {
  double entropy = 0;
  for (const double size : sizes) entropy -= size / all * math::log(size / all);
  return entropy;
}

double pairs_within(double size) { return size * (size - 1) / 2; }

void score_pairs(double together_and_same, double together, double same, SimilarityEvaluation& out) {
  out.pair_precision = together > 0 ? together_and_same / together : kNoMeasure;
  out.pair_recall = same > 0 ? together_and_same / same : kNoMeasure;
  out.pair_f1 = together + same > 0 ? 2 * together_and_same / (together + same) : kNoMeasure;
}

void score_clusters(const Contingency& table, SimilarityEvaluation& out) {
  out.items = static_cast<std::uint64_t>(table.all);
  out.clusters = table.found.size();
  out.true_clusters = table.truth.size();
  const double matched = matched_items(table);
  const Interval interval = wilson_interval(matched, table.all);
  out.accuracy = {matched / table.all, interval.low, interval.high};
  double information = 0, both = 0, truth_pairs = 0, found_pairs = 0;
  for (const auto& [cell, count] : table.cells) {
    information +=
        count / table.all * math::log(count * table.all / (table.truth[cell.first] * table.found[cell.second]));
    both += pairs_within(count);
  }
  for (const double size : table.truth) truth_pairs += pairs_within(size);
  for (const double size : table.found) found_pairs += pairs_within(size);
  const double entropies = entropy_of_sizes(table.truth, table.all) + entropy_of_sizes(table.found, table.all);
  out.nmi = entropies > 0 ? std::clamp(2 * information / entropies, 0.0, 1.0) : 1;
  const double all_pairs = pairs_within(table.all);
  const double chance = all_pairs > 0 ? truth_pairs * found_pairs / all_pairs : 0;
  const double most = (truth_pairs + found_pairs) / 2;
  out.adjusted_rand = most == chance ? 1 : (both - chance) / (most - chance);
  out.pairs = static_cast<std::uint64_t>(all_pairs);
  score_pairs(both, found_pairs, truth_pairs, out);
}

}  // namespace

SimilarityEvaluation evaluate_similarities(std::span<const std::uint32_t> cluster, const SimilarityData& gold) {
  SimilarityEvaluation out;
  if (!gold.gold.empty()) {
    if (gold.gold.size() != cluster.size()) {
      throw Error(ErrorCode::bad_parameter, "there must be as many clusters as there are gold ones: one per item");
    }
    const Contingency table = contingency_of(cluster, gold.gold);
    if (table.all == 0) {
      throw Error(ErrorCode::bad_input, "no item has both a cluster and gold, so there is nothing to score");
    }
    score_clusters(table, out);
    return out;
  }
  out.nmi = out.adjusted_rand = kNoMeasure;
  double both = 0, together = 0, same = 0, right = 0;
  for (const KnownPair& pair : gold.gold_pairs) {
    const std::uint32_t left = cluster[pair.items.left], right_cluster = cluster[pair.items.right];
    const bool found = left == right_cluster && left != kNoCluster;
    both += found && pair.same ? 1 : 0;
    together += found ? 1 : 0;
    same += pair.same ? 1 : 0;
    right += found == pair.same ? 1 : 0;
    ++out.pairs;
  }
  if (out.pairs == 0) throw Error(ErrorCode::bad_input, "gold knows no cluster and no pair: nothing can be scored");
  const auto pairs = static_cast<double>(out.pairs);
  const Interval interval = wilson_interval(right, pairs);
  out.accuracy = {right / pairs, interval.low, interval.high};
  score_pairs(both, together, same, out);
  return out;
}

}  // namespace wisecrowd
