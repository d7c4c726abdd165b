#include "service/argilla.hpp"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/digest.hpp"
#include "service/rows.hpp"

namespace wisecrowd::service {
namespace {

constexpr double kTolerance = 300;  // seconds

/// Texts and whole numbers are names; empty when it is neither, or no name.
std::string plain_name(const nlohmann::json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) return {};
  const nlohmann::json& value = object[key];
  std::string name;
  if (value.is_string()) name = value.get<std::string>();
  if (value.is_number_integer()) name = value.dump();
  return service_name_problem(name).empty() ? name : std::string();
}

}  // namespace

std::string webhook_signature(std::string_view secret, std::string_view id, std::string_view timestamp,
                              std::string_view body) {
  constexpr std::string_view kPrefix = "whsec_";
  std::string key(secret);
  if (secret.starts_with(kPrefix)) key = from_base64(secret.substr(kPrefix.size())).value_or(key);
  const std::string message = std::string(id) + "." + std::string(timestamp) + "." + std::string(body);
  const Sha256 digest = hmac_sha256(key, message);
  return "v1," + base64(bytes_of(digest));
}

bool webhook_is_genuine(std::string_view secret, std::string_view id, std::string_view timestamp, std::string_view body,
                        std::string_view signatures, double now) {
  std::int64_t when = 0;
  const auto read = std::from_chars(timestamp.data(), timestamp.data() + timestamp.size(), when);
  if (id.empty() || read.ec != std::errc() || read.ptr != timestamp.data() + timestamp.size()) return false;
  if (std::abs(static_cast<double>(when) - now) > kTolerance) return false;
  const std::string expected = webhook_signature(secret, id, timestamp, body);
  bool genuine = false;
  while (!signatures.empty()) {
    const std::size_t end = signatures.find(' ');
    genuine = equal_in_constant_time(signatures.substr(0, end), expected) || genuine;
    signatures.remove_prefix(end == std::string_view::npos ? signatures.size() : end + 1);
  }
  return genuine;
}

ArgillaEvent argilla_event(const nlohmann::json& payload, std::string_view question) {
  ArgillaEvent event;
  event.type = plain_name(payload, "type");
  if (!event.type.starts_with("response.") || !payload.contains("data") || !payload["data"].is_object()) return event;
  const nlohmann::json& data = payload["data"];
  if (data.contains("record")) {
    event.record = plain_name(data["record"], "id");
    if (data["record"].is_object() && data["record"].contains("dataset"))
      event.dataset = plain_name(data["record"]["dataset"], "id");
  }
  if (data.contains("user")) {
    event.worker = plain_name(data["user"], "username");
    if (event.worker.empty()) event.worker = plain_name(data["user"], "id");
  }
  const bool counts = event.type != "response.deleted" && plain_name(data, "status") == "submitted";
  if (!counts || !data.contains("values") || !data["values"].is_object()) return event;
  const auto said = data["values"].find(std::string(question));
  if (said != data["values"].end()) event.label = plain_name(*said, "value");
  return event;
}

}  // namespace wisecrowd::service
