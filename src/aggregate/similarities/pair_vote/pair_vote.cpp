#include "aggregate/similarities/pair_vote/pair_vote.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "aggregate/similarities/shared/item_graph.hpp"
#include "aggregate/similarities/shared/similarity_method.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd::pair_vote {
namespace {

using similarities::ItemGraph;

constexpr double kKnownVotes = 1e6;  ///< what gold says of a pair, as votes
constexpr std::size_t kMostRounds = 100;

/// Votes "same" minus votes "different", per pair; those of gold behind.
std::vector<double> net_votes(const SimilarityData& data) {
  const SimilarityAnswers& answers = data.answers;
  const auto offsets = answers.task_offsets();
  std::vector<double> votes;
  for (std::size_t p = 0; p < answers.task_count(); ++p) {
    double net = 0;
    for (AnswerIndex a = offsets[p]; a < offsets[p + 1]; ++a) net += answers.same()[a] != 0 ? 1 : -1;
    votes.push_back(net);
  }
  for (const KnownPair& known : data.gold_pairs) votes.push_back(known.same ? kKnownVotes : -kKnownVotes);
  return votes;
}

/// Sets of items that are joined one by one.
class Unions {
 public:
  explicit Unions(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0U); }
  std::uint32_t root(std::uint32_t item) {
    while (parent_[item] != item) item = parent_[item] = parent_[parent_[item]];
    return item;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = root(a), b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

/// Clusters by number; those of gold first, each other item in one of its own.
class Clusters {
 public:
  explicit Clusters(const SimilarityData& data)
      : data_(data), graph_(data), votes_(net_votes(data)), gold_(data.gold.empty() ? 0 : data.gold_clusters.size()) {
    const std::size_t items = data.answers.item_count();
    for (std::uint32_t i = 0; i < items; ++i) {
      cluster_.push_back(pinned(i) ? data.gold[i] : static_cast<std::uint32_t>(gold_ + i));
    }
    score_.assign(gold_ + items, 0);
    size_.assign(gold_ + items, 0);
    met_by_.resize(gold_ + items);
    for (const std::uint32_t own : cluster_) ++size_[own];
  }

  void join_components() {
    Unions unions(score_.size());
    for (std::size_t p = 0; p < votes_.size(); ++p) {
      if (votes_[p] <= 0) continue;
      const std::uint32_t left = cluster_[graph_.pairs()[p].left], right = cluster_[graph_.pairs()[p].right];
      const bool two_of_gold = unions.root(left) < gold_ && unions.root(right) < gold_;
      if (!two_of_gold) unions.join(left, right);
    }
    for (std::uint32_t& own : cluster_) own = unions.root(own);
  }

  /// Items move to where most votes, less those against, would have them; then whole clusters are joined likewise.
  void correlate(const RunContext& context) {
    for (std::size_t round = 0; round < kMostRounds && !context.cancelled(); ++round) {
      std::size_t sweeps = 0;
      while (move_items() && ++sweeps < kMostRounds && !context.cancelled()) {
      }
      if (!join_clusters()) break;
    }
  }

  [[nodiscard]] const std::vector<std::uint32_t>& cluster() const noexcept { return cluster_; }
  [[nodiscard]] const ItemGraph& graph() const noexcept { return graph_; }

 private:
  [[nodiscard]] bool pinned(std::uint32_t item) const { return !data_.gold.empty() && data_.gold[item] != kNoCluster; }

  bool move_items() {
    bool moved = false;
    std::vector<std::uint32_t> met;
    std::fill(met_by_.begin(), met_by_.end(), kNoCluster);
    for (std::uint32_t i = 0; i < cluster_.size(); ++i) {
      if (pinned(i)) continue;
      met.clear();
      for (const auto& link : graph_.links_of(i)) {
        const std::uint32_t other = cluster_[link.other];
        if (met_by_[other] != i) met.push_back(other);
        met_by_[other] = i;
        score_[other] += votes_[link.pair];
      }
      const double own = score_[cluster_[i]];
      std::uint32_t best = cluster_[i];
      for (const std::uint32_t other : met) {
        if (score_[other] > score_[best] || (score_[other] == score_[best] && score_[other] > own && other < best)) {
          best = other;
        }
      }
      if (score_[best] < 0) best = free_cluster(i);
      for (const std::uint32_t other : met) score_[other] = 0;
      if (best == cluster_[i]) continue;
      if (--size_[cluster_[i]] == 0) emptied_.push_back(cluster_[i]);
      ++size_[best];
      cluster_[i] = best;
      moved = true;
    }
    return moved;
  }

  /// Where an item can be alone.
  [[nodiscard]] std::uint32_t free_cluster(std::uint32_t item) {
    if (size_[cluster_[item]] == 1) return cluster_[item];
    while (!emptied_.empty()) {  // some have been filled since
      const std::uint32_t last = emptied_.back();
      if (size_[last] == 0 && last >= gold_) return last;
      emptied_.pop_back();
    }
    return cluster_[item];  // no cluster is empty while each item has its own, so this one is not alone
  }

  bool join_clusters() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> between;
    for (std::size_t p = 0; p < votes_.size(); ++p) {
      const std::uint32_t a = cluster_[graph_.pairs()[p].left], b = cluster_[graph_.pairs()[p].right];
      if (a != b) between[{std::min(a, b), std::max(a, b)}] += votes_[p];
    }
    std::vector<std::pair<double, std::pair<std::uint32_t, std::uint32_t>>> gains;
    for (const auto& [clusters, net] : between) {
      if (net > 0 && clusters.second >= gold_) gains.push_back({-net, clusters});
    }
    std::sort(gains.begin(), gains.end());
    std::vector<std::uint8_t> joined(score_.size(), 0);  // once per round, because the gains of the others change
    std::vector<std::uint32_t> becomes(score_.size());
    std::iota(becomes.begin(), becomes.end(), 0U);
    for (const auto& [gain, clusters] : gains) {
      if (joined[clusters.first] != 0 || joined[clusters.second] != 0) continue;
      joined[clusters.first] = joined[clusters.second] = 1;
      becomes[clusters.second] = clusters.first;
    }
    for (std::uint32_t& own : cluster_) {
      if (becomes[own] == own) continue;
      if (--size_[own] == 0) emptied_.push_back(own);
      own = becomes[own];
      ++size_[own];
    }
    return !gains.empty();
  }

  const SimilarityData& data_;
  ItemGraph graph_;
  std::vector<double> votes_;
  std::size_t gold_;
  std::vector<std::uint32_t> cluster_;
  std::vector<double> score_;  ///< per cluster, for the item at hand
  std::vector<std::size_t> size_;
  std::vector<std::uint32_t> met_by_;  ///< per cluster: the last item with a pair there
  std::vector<std::uint32_t> emptied_;
};

/// Rates of the workers given the clusters, and from these the probability of each item to be where it is.
void finish(const SimilarityData& data, const Clusters& clusters, SimilarityFit& fit) {
  const auto& cluster = clusters.cluster();
  const ItemGraph& graph = clusters.graph();
  const std::size_t pairs = data.answers.task_count();
  fit.same.resize(pairs);
  const auto together = [&](std::size_t p) {
    return cluster[graph.pairs()[p].left] == cluster[graph.pairs()[p].right];
  };
  for (std::size_t p = 0; p < pairs; ++p) fit.same[p] = together(p) ? 1 : 0;
  similarities::ErrorRates rates(data.answers.worker_count());
  similarities::estimate_rates(data.answers, fit.same, {}, rates);
  std::vector<double> weights(graph.pair_count());
  similarities::weigh_pairs(data.answers, rates, {}, std::span(weights).first(pairs));
  for (std::size_t p = pairs; p < weights.size(); ++p) {
    weights[p] = data.gold_pairs[p - pairs].same ? similarities::kKnownWeight : -similarities::kKnownWeight;
  }
  std::uint32_t highest = 0;
  for (const std::uint32_t own : cluster) highest = std::max(highest, own);
  std::vector<double> share(highest + std::size_t{1}, 0), score(highest + std::size_t{1}, 0);
  for (const std::uint32_t own : cluster) share[own] += 1 / static_cast<double>(cluster.size());
  const double chance = std::inner_product(share.begin(), share.end(), share.begin(), 0.0);
  fit.probability.assign(cluster.size(), 1);
  std::vector<std::uint32_t> met, met_by(score.size(), kNoCluster);
  std::vector<double> logs;
  for (std::uint32_t i = 0; i < cluster.size(); ++i) {
    if (!data.gold.empty() && data.gold[i] != kNoCluster) continue;
    met.assign(1, cluster[i]);
    met_by[cluster[i]] = i;
    for (const auto& link : graph.links_of(i)) {
      const std::uint32_t other = cluster[link.other];
      if (met_by[other] != i) met.push_back(other);
      met_by[other] = i;
      score[other] += weights[link.pair];
    }
    logs.clear();
    for (const std::uint32_t other : met) logs.push_back(score[other] + math::log(share[other]));
    for (const std::uint32_t other : met) score[other] = 0;
    softmax(logs);
    fit.probability[i] = logs[0];
  }
  for (std::size_t p = 0; p < pairs; ++p) {
    const double sure = fit.probability[graph.pairs()[p].left] * fit.probability[graph.pairs()[p].right];
    fit.same[p] = together(p) ? sure : (1 - sure) * chance;
  }
  fit.false_different = std::move(rates.false_different);
  fit.false_same = std::move(rates.false_same);
  similarities::name_clusters(data, cluster, fit);
}

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("grouping", o.grouping, kGroupingNames,
           "how clusters are made of the votes: so that few votes are contradicted, or of whatever hangs together");
}

}  // namespace

SimilarityMethod method() {
  MethodInfo info;
  info.title = "Vote per pair";
  info.summary =
      "The majority of each pair's answers, and clusters that contradict few of them; all workers count the same.";
  info.when_to_use = "As a baseline, or when nearly all pairs were compared by workers who hardly err.";
  info.reference = "Bansal, Blum and Chawla 2004 (correlation clustering), by local moves";
  info.assumptions = "Workers are about equally good, and err less than half of the time in either direction.";
  info.cost = "time S + P per sweep for P pairs; memory 24·P";
  info.uses_gold = true;
  return SimilarityMethod::of<PairVote, parameters>(std::move(info));
}

SimilarityFit PairVote::fit(const SimilarityData& data, const RunContext& context, const SimilarityStart&) const {
  SimilarityFit fit = similarities::start_similarity_fit(data);
  if (fit.item_count == 0) return fit;
  Clusters clusters(data);
  if (options_.grouping == Grouping::components) {
    clusters.join_components();
  } else {
    clusters.correlate(context);
  }
  finish(data, clusters, fit);
  fit.iterations = 1;
  fit.learned.emplace_back("clusters", static_cast<double>(fit.cluster_count()));
  if (context.cancelled()) fit.status = Status::cancelled;
  return fit;
}

}  // namespace wisecrowd::pair_vote
