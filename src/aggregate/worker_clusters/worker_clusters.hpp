#pragma once

#include "aggregate/shared/communities.hpp"

namespace wisecrowd::worker_clusters {

using Options = CommunityOptions;

/// Workers in a few communities, all members of a community with the same confusion table.
class WorkerClusters final : public Aggregator {
 public:
  explicit WorkerClusters(Options options = {}) : options_(options) {}
  [[nodiscard]] Aggregation fit(const Dataset& data, const RunContext& context, const Start& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::worker_clusters
