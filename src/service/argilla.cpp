#include "service/argilla.hpp"

#include <nlohmann/json.hpp>

#include "service/rows.hpp"

namespace wisecrowd::service {
namespace {

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
