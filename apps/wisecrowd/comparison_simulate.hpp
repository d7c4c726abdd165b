#pragma once

#include <string>
#include <vector>

#include "common_options.hpp"

namespace wisecrowd::app {

/// What was asked of `simulate compared_items`; 0 for what was not said.
struct ComparedItemsRequest {
  std::uint64_t items = 0, pairs = 0, workers = 0, answers_per_pair = 0;
  std::vector<std::string> settings;
  std::string out;
  bool json = false;
  RunFlags run;
};

void simulate_compared_items(const ComparedItemsRequest& request, Session& session);
[[nodiscard]] std::string comparison_kind_text(const Screen& screen);

}  // namespace wisecrowd::app
