#include "shared_json.hpp"

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

nlohmann::ordered_json distribution_json(const Distribution& d) {
  return {{"minimum", d.minimum}, {"lower_quartile", d.lower_quartile}, {"median", d.median},
          {"mean", d.mean},       {"upper_quartile", d.upper_quartile}, {"maximum", d.maximum}};
}

nlohmann::ordered_json estimate_json(const Estimate& estimate) {
  return {{"value", estimate.value}, {"low", estimate.low}, {"high", estimate.high}};
}

}  // namespace wisecrowd::app
