#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wisecrowd::service {

/// The question of a Label Studio project that a crowd answers: one choice of several for a task.
struct StudioQuestion {
  std::string from_name, to_name;
  std::vector<std::string> choices;
};
/// The first question of one choice in a labelling configuration (XML); nothing if there is none.
[[nodiscard]] std::optional<StudioQuestion> question_of(std::string_view label_config);

/// What an annotation says.
struct StudioAnnotation {
  std::int64_t id = 0;
  std::string task, worker;
  std::string label;  ///< empty: skipped, or nothing that answers the question
  bool gold = false;
  double seconds = std::numeric_limits<double>::quiet_NaN();
  double time = std::numeric_limits<double>::quiet_NaN();
  bool operator==(const StudioAnnotation& other) const noexcept {
    return id == other.id && task == other.task && worker == other.worker && label == other.label && gold == other.gold;
  }
};
/// `task`: the id of its task where the annotation does not say it. Nothing when it has no id, task or worker.
[[nodiscard]] std::optional<StudioAnnotation> annotation_of(const nlohmann::json& annotation, std::string_view task,
                                                            std::string_view question);

/// What a webhook tells. What is not understood is not an error: later versions say more.
struct StudioEvent {
  std::string action;
  std::vector<StudioAnnotation> made;  ///< or changed
  std::vector<std::int64_t> deleted;
  std::vector<std::string> tasks;  ///< that are named
  std::vector<std::string> deleted_tasks;
};
[[nodiscard]] StudioEvent studio_event(const nlohmann::json& payload, std::string_view question);

/// Tasks and annotations of an export (exportType=JSON). Throws bad_input when it is none.
struct StudioExport {
  std::vector<std::string> tasks;
  std::vector<StudioAnnotation> annotations;
};
[[nodiscard]] StudioExport studio_export(std::string_view json, std::string_view question);

/// Seconds since 1970 of 2026-11-17T01:50:59.593698Z; NaN when it is no such time.
[[nodiscard]] double time_of(std::string_view text) noexcept;

}  // namespace wisecrowd::service
