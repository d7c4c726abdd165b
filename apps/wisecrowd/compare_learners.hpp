#pragma once

#include <string>
#include <vector>

#include "learn_run.hpp"

namespace wisecrowd::app {

struct LearnerComparison {
  LearningFiles files;
  std::vector<std::string> learners;
  std::vector<std::string> settings;  ///< "name=value" for all that have the name, or "learner.name=value"
  NetworkFlags network;
  CleaningRequest without;
  ReadOptions read;
  bool json = false;
};

/// Trains each learner on the same data and shows how it predicts answers to held-out tasks, and its accuracy where
/// there is gold.
void compare_learners(const LearnerComparison& comparison, Session& session, Work& work);

}  // namespace wisecrowd::app
