#include "warnings_json.hpp"

#include <nlohmann/json.hpp>

#include "wisecrowd/messages.hpp"

namespace wisecrowd::app {

nlohmann::ordered_json warnings_json(std::span<const Warning> warnings) {
  auto list = nlohmann::ordered_json::array();
  for (const Warning& warning : warnings) {
    list.push_back({{"code", warning.code},
                    {"message", warning.message},
                    {"remedy", warning.remedy},
                    {"severity", std::string(to_string(warning.severity))}});
  }
  return list;
}

}  // namespace wisecrowd::app
