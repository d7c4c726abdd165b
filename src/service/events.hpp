#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "service/http.hpp"

namespace wisecrowd::service {

/// The parts of an event.
[[nodiscard]] std::string_view type_of(const Event& event) noexcept;
[[nodiscard]] std::string_view data_of(const Event& event) noexcept;  ///< a JSON object

/// What happens to a project, for those who listen (server-sent events). The last thousand are kept, so that who comes
/// back after a broken connection misses nothing.
class EventBus : public std::enable_shared_from_this<EventBus> {
 public:
  void publish(std::string_view type, const nlohmann::ordered_json& data);
  /// Those after number `after` come first. `receive` is called under a lock: it must only pass the event on.
  [[nodiscard]] std::unique_ptr<Subscription> subscribe(std::uint64_t after,
                                                        std::function<void(std::shared_ptr<const Event>)> receive);
  [[nodiscard]] std::size_t listeners() const;

 private:
  class Listening;
  static constexpr std::size_t kKept = 1000;
  mutable std::mutex mutex_;
  std::uint64_t last_ = 0, next_listener_ = 0;
  std::deque<std::shared_ptr<const Event>> kept_;
  std::map<std::uint64_t, std::function<void(std::shared_ptr<const Event>)>> listeners_;
};

}  // namespace wisecrowd::service
