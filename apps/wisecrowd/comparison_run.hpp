#pragma once

#include "learn_run.hpp"

namespace wisecrowd::app {

/// `learn` for comparisons: a network that gives scores to items by their features. Gold is for evaluation.
struct ScoreLearningRequest {
  std::string answers, gold;
  FeatureFlags features;
  NetworkFlags network;
  std::vector<std::string> settings;
  std::string out;
  bool json = false;
  ReadFlags read;
  RunFlags run;
};
void learn_scores(const ScoreLearningRequest& request, Session& session);

}  // namespace wisecrowd::app
