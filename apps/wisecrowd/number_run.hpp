#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report_run.hpp"

namespace wisecrowd::app {

// What the commands do when answers are numbers (--answers numbers).

/// What one run needs to know; commands use the parts that they have flags for.
struct NumberRequest {
  std::string answers;
  std::string gold;
  bool gold_for_evaluation = false;
  std::string method;  ///< empty: the default; for compare a list, empty: all
  std::vector<std::string> settings;
  std::string out;
  ReportRequest report;   ///< aggregate
  std::size_t folds = 0;  ///< compare
  double share = 0;       ///< compare
  bool json = false;
  ReadFlags read;
  RunFlags run;
};

void aggregate_numbers(const NumberRequest& request, Session& session);
void describe_numbers(const NumberRequest& request, Session& session);
/// With gold by errors, without by hidden answers.
void compare_numbers(const NumberRequest& request, Session& session);
/// `request.answers` is a table of estimates; `warnings` are known beforehand.
void evaluate_numbers_file(const NumberRequest& request, std::vector<Warning> warnings, Session& session);

/// Refuses a flag that means nothing for numbers.
void refuse_for_numbers(bool given, const std::string& flag);

}  // namespace wisecrowd::app
