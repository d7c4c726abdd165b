#include "trust/shared/merging.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace wisecrowd::trust {
namespace {

/// So many common tasks on which two agree as often as by chance are added to every pair of groups.
constexpr double kChanceTasks = 4;

/// What two groups have in common, summed over their pairs.
struct Shared {
  double weight = 0, value = 0;
};

/// The similarity of two groups is that of all their pairs together, not the mean of their pairs' ratios: pairs with
/// few common tasks say little.
struct PooledAgreement {
  static constexpr bool kDependsOnSize = false;
  double chance;
  [[nodiscard]] double operator()(Shared s, double, double) const {
    const double share = (s.value + kChanceTasks * chance) / (s.weight + kChanceTasks);
    return (share - chance) / (1 - chance);
  }
};

struct MeanSimilarity {
  static constexpr bool kDependsOnSize = true;
  [[nodiscard]] double operator()(Shared s, double size, double other) const { return s.value / (size * other); }
};

/// Groups that are merged, the most similar first.
template <class Similarity>
class Merging {
 public:
  Merging(std::size_t workers, Similarity similarity, double least)
      : similarity_(similarity), least_(least), labels_(workers), size_(workers, 1), shared_(workers) {
    std::iota(labels_.begin(), labels_.end(), 0U);
  }

  void add(std::uint32_t a, std::uint32_t b, Shared shared) {
    a = group_of(a), b = group_of(b);
    if (a == b) return;
    for (auto [x, y] : {std::pair(a, b), std::pair(b, a)}) {
      Shared& sum = shared_[x][y];
      sum.weight += shared.weight;
      sum.value += shared.value;
    }
  }

  /// Before anything is added.
  void together(std::uint32_t a, std::uint32_t b) {
    if (group_of(a) == group_of(b)) return;
    size_[group_of(a)] += size_[group_of(b)];
    labels_[group_of(b)] = group_of(a);
  }

  /// The groups at each of the cuts, which fall; `least` is the last of them.
  std::vector<Labels> run(std::span<const double> cuts) {
    push_all();
    std::vector<Labels> partitions;
    while (partitions.size() < cuts.size()) {
      if (queue_.empty() || std::get<0>(queue_.top()) < cuts[partitions.size()]) {
        partitions.push_back(flat());
      } else {
        merge_next();
      }
    }
    return partitions;
  }

  /// The groups whenever one fewer than before is left, from `most` on.
  std::vector<Labels> levels(std::size_t most) {
    push_all();
    std::vector<Labels> partitions;
    std::size_t left = labels_.size();
    if (left <= most) partitions.push_back(flat());
    while (!queue_.empty()) {
      if (merge_next() && --left <= most) partitions.push_back(flat());
    }
    return partitions;
  }

 private:
  void push_all() {
    for (std::uint32_t a = 0; a < shared_.size(); ++a) {
      for (const auto& [b, shared] : shared_[a]) {
        if (a < b) push(a, b, shared);
      }
    }
  }

  /// False if the most similar pair is not any more what it was.
  bool merge_next() {
    const auto [similar, minus_a, minus_b] = queue_.top();
    queue_.pop();
    const auto a = static_cast<std::uint32_t>(-minus_a), b = static_cast<std::uint32_t>(-minus_b);
    const auto still = shared_[a].find(b);
    if (labels_[a] != a || labels_[b] != b || still == shared_[a].end()) return false;
    if (similarity_(still->second, size_[a], size_[b]) != similar) return false;
    merge(a, b);
    return true;
  }

  [[nodiscard]] std::uint32_t group_of(std::uint32_t a) const {
    while (labels_[a] != a) a = labels_[a];
    return a;
  }

  void push(std::uint32_t a, std::uint32_t b, Shared shared) {
    const double similar = similarity_(shared, size_[a], size_[b]);
    if (similar >= least_) {
      queue_.emplace(similar, -static_cast<std::int64_t>(std::min(a, b)), -static_cast<std::int64_t>(std::max(a, b)));
    }
  }

  void merge(std::uint32_t a, std::uint32_t b) {
    if (shared_[a].size() < shared_[b].size()) std::swap(a, b);
    labels_[b] = a;
    size_[a] += size_[b];
    shared_[a].erase(b);
    shared_[b].erase(a);
    for (const auto& [c, shared] : shared_[b]) {
      Shared& sum = shared_[a][c];
      sum.weight += shared.weight;
      sum.value += shared.value;
      shared_[c].erase(b);
      shared_[c][a] = sum;
      if (!Similarity::kDependsOnSize) push(a, c, sum);
    }
    shared_[b].clear();
    if (Similarity::kDependsOnSize) {
      for (const auto& [c, shared] : shared_[a]) push(a, c, shared);
    }
  }

  [[nodiscard]] Labels flat() const {
    Labels result(labels_.size());
    for (std::uint32_t a = 0; a < result.size(); ++a) result[a] = group_of(a);
    return result;
  }

  Similarity similarity_;
  double least_;
  Labels labels_;
  std::vector<double> size_;
  std::vector<std::unordered_map<std::uint32_t, Shared>> shared_;
  std::priority_queue<std::tuple<double, std::int64_t, std::int64_t>> queue_;  // ties: the lowest ids first
};

}  // namespace

std::vector<Labels> agreement_groups(const CrowdSample& sample, const WorkerPairs& pairs,
                                     std::span<const double> cuts) {
  std::vector<double> share(sample.bins, 0.0);
  for (const std::uint16_t bin : sample.bin) share[bin] += 1 / static_cast<double>(sample.answers());
  double alike = 0;
  for (const double p : share) alike += p * p;
  const double chance = std::min(std::max(1 / static_cast<double>(sample.bins), alike), 1 - 1e-9);
  const PooledAgreement similarity{chance};
  Merging<PooledAgreement> merging(sample.workers, similarity, cuts.back());
  // Only workers with somebody similar can be merged; the others need not be carried along.
  std::vector<bool> similar(sample.workers, false);
  for (const bool adding : {false, true}) {
    for (std::uint32_t j = 0; j < sample.workers; ++j) {
      for (std::size_t p = pairs.row[j]; p < pairs.row[j + 1]; ++p) {
        const Shared shared{static_cast<double>(pairs.common[p]), static_cast<double>(pairs.agreed[p])};
        if (adding) {
          if (similar[j] && similar[pairs.other[p]]) merging.add(j, pairs.other[p], shared);
        } else if (similarity(shared, 1, 1) >= cuts.back()) {
          similar[j] = similar[pairs.other[p]] = true;
        }
      }
    }
  }
  return merging.run(cuts);
}

Labels average_linkage(const Labels& start, const WorkerPairs& pairs, std::span<const double> similarity, double cut) {
  Merging<MeanSimilarity> merging(start.size(), {}, cut);
  Labels first(start.size(), ~std::uint32_t{0});
  std::vector<bool> similar(start.size(), false);
  for (std::uint32_t j = 0; j < start.size(); ++j) {
    if (first[start[j]] == ~std::uint32_t{0}) first[start[j]] = j;
    if (first[start[j]] != j) merging.together(first[start[j]], j);
    for (std::size_t p = pairs.row[j]; p < pairs.row[j + 1]; ++p) {
      if (similarity[p] >= cut) similar[j] = similar[pairs.other[p]] = true;
    }
  }
  // A group is carried along if any of its members is similar to somebody.
  std::vector<bool> carried(start.size(), false);
  for (std::uint32_t j = 0; j < start.size(); ++j) {
    if (similar[j]) carried[start[j]] = true;
  }
  for (std::uint32_t j = 0; j < start.size(); ++j) {
    for (std::size_t p = pairs.row[j]; p < pairs.row[j + 1] && carried[start[j]]; ++p) {
      if (carried[start[pairs.other[p]]]) merging.add(j, pairs.other[p], {1, similarity[p]});
    }
  }
  return merging.run(std::span(&cut, 1)).front();
}

std::vector<Labels> linkage_levels(std::size_t workers, const WorkerPairs& pairs, std::span<const double> similarity,
                                   std::size_t most) {
  Merging<MeanSimilarity> merging(workers, {}, -std::numeric_limits<double>::infinity());
  for (std::uint32_t j = 0; j < workers; ++j) {
    for (std::size_t p = pairs.row[j]; p < pairs.row[j + 1]; ++p) merging.add(j, pairs.other[p], {1, similarity[p]});
  }
  return merging.levels(most);
}

}  // namespace wisecrowd::trust
