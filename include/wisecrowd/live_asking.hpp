#pragma once

#include <string>
#include <vector>

#include "wisecrowd/asking.hpp"
#include "wisecrowd/live_loop.hpp"
#include "wisecrowd/read_features.hpp"
#include "wisecrowd/state.hpp"

namespace wisecrowd {

/// A round of a loop over a state: what it did, and what it asks by names.
struct LiveAsked {
  LiveRound round;
  std::vector<std::string> tasks, workers;  ///< that the choices count
};

/// Brings the answers of a state together with features, and with those who can be asked though nobody knows them yet,
/// and lets the loop play a round. Tasks that only the features name can be asked about.
[[nodiscard]] LiveAsked select_live(const CrowdState& state, FeatureTable features, const AskRequest& request,
                                    LiveMemory& memory, std::int64_t now, const RunContext& context);

}  // namespace wisecrowd
