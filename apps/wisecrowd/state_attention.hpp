#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "terminal.hpp"
#include "wisecrowd/state_result.hpp"

namespace wisecrowd::app {

// What a state asks people to do.

[[nodiscard]] nlohmann::ordered_json alerts_json(const std::vector<Alert>& alerts);
[[nodiscard]] std::string alerts_text(const std::vector<Alert>& alerts, const Screen& screen);

/// Tasks that are sure enough: task,label,probability,answers.
[[nodiscard]] std::string settled_csv(const std::vector<SettledTask>& tasks, const std::vector<std::string>& classes);
[[nodiscard]] nlohmann::ordered_json settled_json(const std::vector<SettledTask>& tasks,
                                                  const std::vector<std::string>& classes);

}  // namespace wisecrowd::app
