#include "trust/agreement_groups.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace wisecrowd::trust {
namespace {

/// So many common tasks on which two agree as often as by chance are added to every pair of groups.
constexpr double kChanceTasks = 4;

struct Shared {
  double common = 0, agreed = 0;
};

/// Groups that are merged, the most similar first. The similarity of two groups is that of all their pairs together,
/// not the mean of their pairs' ratios: pairs with few common tasks say little.
class Merging {
 public:
  Merging(std::size_t workers, double chance) : chance_(chance), labels_(workers), shared_(workers) {
    std::iota(labels_.begin(), labels_.end(), 0U);
  }
  void add(std::uint32_t a, std::uint32_t b, Shared shared) { shared_[a][b] = shared_[b][a] = shared; }

  [[nodiscard]] double similarity(Shared s) const {
    const double share = (s.agreed + kChanceTasks * chance_) / (s.common + kChanceTasks);
    return (share - chance_) / (1 - chance_);
  }

  std::vector<std::vector<std::uint32_t>> run(std::span<const double> cuts) {
    for (std::uint32_t a = 0; a < shared_.size(); ++a) {
      for (const auto& [b, shared] : shared_[a]) {
        if (a < b) push(a, b, shared, cuts.back());
      }
    }
    std::vector<std::vector<std::uint32_t>> partitions;
    while (partitions.size() < cuts.size()) {
      if (queue_.empty() || std::get<0>(queue_.top()) < cuts[partitions.size()]) {
        partitions.push_back(flat());
        continue;
      }
      const auto [similar, minus_a, minus_b] = queue_.top();
      queue_.pop();
      const auto a = static_cast<std::uint32_t>(-minus_a), b = static_cast<std::uint32_t>(-minus_b);
      const auto still = shared_[a].find(b);
      if (labels_[a] != a || labels_[b] != b || still == shared_[a].end()) continue;
      if (similarity(still->second) != similar) continue;  // has changed since
      merge(a, b, cuts.back());
    }
    return partitions;
  }

 private:
  void push(std::uint32_t a, std::uint32_t b, Shared shared, double least) {
    const double similar = similarity(shared);
    if (similar >= least) {
      queue_.emplace(similar, -static_cast<std::int64_t>(std::min(a, b)), -static_cast<std::int64_t>(std::max(a, b)));
    }
  }

  void merge(std::uint32_t a, std::uint32_t b, double least) {
    if (shared_[a].size() < shared_[b].size()) std::swap(a, b);
    labels_[b] = a;
    shared_[a].erase(b);
    shared_[b].erase(a);
    for (const auto& [c, shared] : shared_[b]) {
      Shared& sum = shared_[a][c];
      sum.common += shared.common;
      sum.agreed += shared.agreed;
      shared_[c].erase(b);
      shared_[c][a] = sum;
      push(a, c, sum, least);
    }
    shared_[b].clear();
  }

  std::vector<std::uint32_t> flat() const {
    std::vector<std::uint32_t> result(labels_);
    for (std::uint32_t& label : result) {
      while (labels_[label] != label) label = labels_[label];
    }
    return result;
  }

  double chance_;
  std::vector<std::uint32_t> labels_;
  std::vector<std::unordered_map<std::uint32_t, Shared>> shared_;
  std::priority_queue<std::tuple<double, std::int64_t, std::int64_t>> queue_;  // ties: the lowest ids first
};

}  // namespace

std::vector<std::vector<std::uint32_t>> agreement_groups(const CrowdSample& sample, const WorkerPairs& pairs,
                                                         std::span<const double> cuts) {
  std::vector<double> share(sample.bins, 0.0);
  for (const std::uint16_t bin : sample.bin) share[bin] += 1 / static_cast<double>(sample.answers());
  double chance = 1 / static_cast<double>(sample.bins);
  double alike = 0;
  for (const double p : share) alike += p * p;
  chance = std::min(std::max(chance, alike), 1 - 1e-9);
  Merging merging(sample.workers, chance);
  // Only workers with somebody very similar can be merged; the others need not be carried along.
  std::vector<bool> similar(sample.workers, false);
  for (const bool adding : {false, true}) {
    for (std::uint32_t j = 0; j < sample.workers; ++j) {
      for (std::size_t p = pairs.row[j]; p < pairs.row[j + 1]; ++p) {
        const Shared shared{pairs.common[p], pairs.agreed[p]};
        if (adding) {
          if (similar[j] && similar[pairs.other[p]]) merging.add(j, pairs.other[p], shared);
        } else if (merging.similarity(shared) >= cuts.back()) {
          similar[j] = similar[pairs.other[p]] = true;
        }
      }
    }
  }
  return merging.run(cuts);
}

}  // namespace wisecrowd::trust
