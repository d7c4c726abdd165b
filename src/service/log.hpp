#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "wisecrowd/service.hpp"

namespace wisecrowd::service {

/// Lines of JSON: {"time", "level", "event", …}. They go where the caller of serve() wants them.
class Log {
 public:
  Log(std::function<void(std::string_view)> sink, LogLevel least) : sink_(std::move(sink)), least_(least) {}
  [[nodiscard]] bool wants(LogLevel level) const noexcept { return sink_ && level >= least_; }
  void write(LogLevel level, std::string_view event, const nlohmann::ordered_json& fields) const;

 private:
  std::function<void(std::string_view)> sink_;
  LogLevel least_;
};

/// 2026-11-17T23:36:05.123Z
[[nodiscard]] std::string utc_time(double seconds_since_1970);
[[nodiscard]] double seconds_since_1970();
/// Of a clock that nobody sets.
[[nodiscard]] double steady_seconds();

}  // namespace wisecrowd::service
