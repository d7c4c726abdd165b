#include "store/simulation_record.hpp"

#include <nlohmann/json.hpp>

#include "wisecrowd/version.hpp"

namespace wisecrowd::store {

nlohmann::ordered_json simulation_record(std::string_view crowd, std::string_view answers_kind,
                                         const std::vector<std::pair<const char*, std::size_t>>& sizes,
                                         std::uint64_t seed,
                                         const std::vector<std::pair<std::string, ParameterValue>>& parameters) {
  nlohmann::ordered_json record;
  record["version"] = WISECROWD_VERSION;
  record["command"] = "simulate";
  record["kind"] = crowd;
  if (!answers_kind.empty()) record["answers_kind"] = answers_kind;
  for (const auto& [name, size] : sizes) record[name] = size;
  record["seed"] = seed;
  auto& list = record["parameters"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : parameters) {
    std::visit([&, &key = name](const auto& v) { list[key] = v; }, value);
  }
  return record;
}

}  // namespace wisecrowd::store
