#include "service/log.hpp"

#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

namespace wisecrowd::service {

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string utc_time(double seconds) {
  const double whole = std::floor(seconds);
  const auto time = static_cast<std::time_t>(whole);
  std::tm parts{};
  if (!std::isfinite(seconds) || ::gmtime_r(&time, &parts) == nullptr) return "";
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     static_cast<int>((seconds - whole) * 1000));
}

void Log::write(LogLevel level, std::string_view event, const nlohmann::ordered_json& fields) const {
  if (!wants(level)) return;
  constexpr const char* kNames[] = {"debug", "info", "warning"};
  nlohmann::ordered_json line = {
      {"time", utc_time(seconds_since_1970())}, {"level", kNames[static_cast<int>(level)]}, {"event", event}};
  line.update(fields);
  sink_(line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace wisecrowd::service
