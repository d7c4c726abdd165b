#pragma once

#include "kind_commands.hpp"
#include "learn_run.hpp"

namespace wisecrowd::app {

/// `evaluate` for numbers: `request.answers` is a table of estimates.
void evaluate_numbers_file(const KindRequest& request, std::vector<Warning> warnings, Session& session);

/// `learn` for numbers. Gold is for evaluation.
struct NumberLearningRequest {
  std::string answers, gold;
  std::string method;  ///< empty: the default
  FeatureFlags features;
  NetworkFlags network;
  std::vector<std::string> settings;
  std::string out;
  ReportRequest report;
  bool json = false;
  ReadFlags read;
  RunFlags run;
};
void learn_numbers_run(const NumberLearningRequest& request, Session& session);

}  // namespace wisecrowd::app
