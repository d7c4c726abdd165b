#pragma once

#include "wisecrowd/similarity_aggregator.hpp"

namespace wisecrowd::crowd_clusters {

struct Options {
  std::size_t clusters = 0;
  std::size_t max_clusters = 64;
  std::size_t restarts = 4;
  double hidden_share = 0.1;
  std::size_t max_iterations = 200;
  double tolerance = 1e-4;
};

/// Every item belongs to one cluster; workers err at rates of their own, for pairs that are the same and for those that
/// are different.
class CrowdClusters final : public SimilarityAggregator {
 public:
  explicit CrowdClusters(Options options = {}) : options_(options) {}
  [[nodiscard]] SimilarityFit fit(const SimilarityData& data, const RunContext& context,
                                  const SimilarityStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::crowd_clusters
