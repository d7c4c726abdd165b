#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace wisecrowd::service {

/// The signature of a webhook by the rules of Standard Webhooks: "v1," and HMAC-SHA-256 of id.timestamp.body in base64.
/// `secret`: whsec_ and base64, or bytes as they are.
[[nodiscard]] std::string webhook_signature(std::string_view secret, std::string_view id, std::string_view timestamp,
                                            std::string_view body);
/// Whether one of the signatures (divided by blanks) is right, and the timestamp not older or newer than five minutes.
[[nodiscard]] bool webhook_is_genuine(std::string_view secret, std::string_view id, std::string_view timestamp,
                                      std::string_view body, std::string_view signatures, double now);

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
