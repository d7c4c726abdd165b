#pragma once

#include "item_learning.hpp"
#include "kind_commands.hpp"

namespace wisecrowd::app {

/// What a result holds beside run.json.
inline constexpr const char* kClusterFiles =
    "  clusters.csv   the cluster of each item, with its probability\n"
    "  workers.csv    both error rates of each worker\n"
    "  pairs.csv      the probability of each pair to be the same\n";

/// `evaluate` for similarities: `request.answers` is a table of items with their clusters.
void evaluate_clusters_file(const KindRequest& request, std::vector<Warning> warnings, Session& session);

/// What `simulate` draws of clusters; 0 is the default.
struct ClusterSimulationRequest {
  std::uint64_t items = 0, workers = 0, clusters = 0, answers_per_item = 0;
  std::string gold;  ///< a table of items and clusters, instead of drawn ones
  std::vector<std::string> settings;
  std::string out;
  bool json = false;
  RunFlags run;
};
void simulate_clusters(const ClusterSimulationRequest& request, Session& session);

/// `learn` for similarities: a network that knows the features of items.
void learn_clusters(const ItemLearningRequest& request, Session& session);

}  // namespace wisecrowd::app
