#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace wisecrowd::service {

/// Tasks that were handed out and not answered yet. Each is kept for a worker until a time; others do not get it
/// meanwhile. In memory alone: after a restart nothing is reserved, and answers are taken as ever.
class Leases {
 public:
  /// Whether somebody else has the task. Times are seconds of one clock.
  [[nodiscard]] bool is_taken(std::string_view task, std::string_view worker, double now) const;
  /// For the worker until then, from now on, if nobody else has it and not too many are out.
  [[nodiscard]] bool take(const std::string& task, const std::string& worker, double now, double until);
  /// The worker has answered.
  void give_back(std::string_view task, std::string_view worker);
  [[nodiscard]] std::size_t size() const;

 private:
  struct Lease {
    std::string worker;
    double until = 0;
  };
  static constexpr std::size_t kMost = 100'000;
  mutable std::mutex mutex_;
  std::map<std::string, Lease, std::less<>> leases_;  // by task
};

}  // namespace wisecrowd::service
