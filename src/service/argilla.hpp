#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace wisecrowd::service {

/// What a webhook of Argilla tells of a response.
struct ArgillaEvent {
  std::string type;             ///< "response.created"
  std::string record, dataset;  ///< ids; the record is the task
  std::string worker;           ///< the user's name
  std::string label;  ///< empty: the answer is taken back, because it was deleted, discarded or is a draft again
  [[nodiscard]] bool is_response() const noexcept { return !record.empty() && !worker.empty(); }
};
[[nodiscard]] ArgillaEvent argilla_event(const nlohmann::json& payload, std::string_view question);

}  // namespace wisecrowd::service
