#pragma once

#include "aggregate/categories/shared/communities.hpp"

namespace wisecrowd::worker_clusters {

using Options = CommunityOptions;

/// Workers in a few communities, all members of a community with the same confusion table.
class WorkerClusters final : public CategoryAggregator {
 public:
  explicit WorkerClusters(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::worker_clusters
