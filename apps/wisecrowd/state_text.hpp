#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "terminal.hpp"
#include "wisecrowd/state.hpp"

namespace wisecrowd::app {

// What a state holds, for people and as JSON.

[[nodiscard]] std::string state_lines(const std::string& path, const StateSummary& summary, const Screen& screen);
/// Classes, the most uncertain tasks, the best and worst workers.
[[nodiscard]] std::string state_tables(const CrowdState& state, const StateSummary& summary, const Screen& screen);
[[nodiscard]] std::string task_text(const TaskState& task, const StateSummary& summary, const Screen& screen);
[[nodiscard]] std::string worker_text(const WorkerView& worker, const StateSummary& summary, const Screen& screen);
[[nodiscard]] std::string absorbed_lines(const Absorbed& absorbed, const Screen& screen);

/// Workers who got worse, the latest first.
[[nodiscard]] std::string alarm_lines(const std::vector<WorkerAlarm>& alarms, const Screen& screen);

[[nodiscard]] nlohmann::ordered_json alarms_json(const std::vector<WorkerAlarm>& alarms);
[[nodiscard]] nlohmann::ordered_json summary_json(const StateSummary& summary, const Parameters& parameters);
[[nodiscard]] nlohmann::ordered_json task_json(const TaskState& task, const StateSummary& summary);
[[nodiscard]] nlohmann::ordered_json worker_json(const WorkerView& worker, const StateSummary& summary);
[[nodiscard]] nlohmann::ordered_json absorbed_json(const Absorbed& absorbed);

}  // namespace wisecrowd::app
