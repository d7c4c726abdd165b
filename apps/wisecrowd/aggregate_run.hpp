#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common_options.hpp"
#include "wisecrowd/category_result.hpp"

namespace wisecrowd::app {

/// What one aggregation needs to know.
struct AggregateRequest {
  std::string labels;
  std::optional<std::string> gold;
  bool gold_for_evaluation = false;
  std::string method;             ///< empty: the default
  std::string init;               ///< the method that it starts from; empty: its own start
  bool init_from_tables = false;  ///< from the posterior that the tables of init imply
  std::string finish;             ///< the method that goes on from its result; empty: none
  std::vector<std::string> settings;
  double abstain_below = 0;
  ReadOptions read;
  std::optional<std::string> out;
};

struct AggregateOutcome {
  CategoryResult result;
  double fit_seconds = 0;
};

/// Reads, describes, fits, summarises, and writes if wanted. The `aggregate` and `demo` commands.
[[nodiscard]] AggregateOutcome run_aggregate(const AggregateRequest& request, Session& session, Work& work);

/// Adds warnings whose code is not there yet: data and method may notice the same thing.
void add_new(std::vector<Warning>& warnings, const std::vector<Warning>& more);

}  // namespace wisecrowd::app
