#pragma once

#include "kind_commands.hpp"
#include "learn_run.hpp"

namespace wisecrowd::app {

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

/// `learn` for similarities: a network that knows the features of items. Gold is for evaluation.
struct ClusterLearningRequest {
  std::string answers, gold;
  FeatureFlags features;
  NetworkFlags network;
  std::vector<std::string> settings;
  std::string out;
  bool json = false;
  ReadFlags read;
  RunFlags run;
};
void learn_clusters(const ClusterLearningRequest& request, Session& session);

}  // namespace wisecrowd::app
