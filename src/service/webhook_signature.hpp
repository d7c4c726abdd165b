#pragma once

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

}  // namespace wisecrowd::service
