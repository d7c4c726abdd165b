#include "service/events.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

namespace wisecrowd::service {

namespace {

/// What stands between `begin` and the end of its line.
std::string_view line_after(std::string_view text, std::string_view begin) noexcept {
  const std::size_t at = text.find(begin);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + begin.size());
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::string_view type_of(const Event& event) noexcept { return line_after(event.text, "\nevent: "); }
std::string_view data_of(const Event& event) noexcept { return line_after(event.text, "\ndata: "); }

class EventBus::Listening final : public Subscription {
 public:
  Listening(std::shared_ptr<EventBus> bus, std::uint64_t number) : bus_(std::move(bus)), number_(number) {}
  ~Listening() override {
    const std::lock_guard lock(bus_->mutex_);
    bus_->listeners_.erase(number_);
  }

 private:
  std::shared_ptr<EventBus> bus_;
  std::uint64_t number_;
};

void EventBus::publish(std::string_view type, const nlohmann::ordered_json& data) {
  const std::string text = data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const std::lock_guard lock(mutex_);
  auto event = std::make_shared<Event>();
  event->number = ++last_;
  event->text = fmt::format("id: {}\nevent: {}\ndata: {}\n\n", event->number, type, text);
  kept_.push_back(event);
  if (kept_.size() > kKept) kept_.pop_front();
  for (const auto& [number, receive] : listeners_) receive(event);
}

std::unique_ptr<Subscription> EventBus::subscribe(std::uint64_t after,
                                                  std::function<void(std::shared_ptr<const Event>)> receive) {
  const std::lock_guard lock(mutex_);
  for (const auto& event : kept_) {
    if (event->number > after) receive(event);
  }
  const std::uint64_t number = next_listener_++;
  listeners_.emplace(number, std::move(receive));
  return std::make_unique<Listening>(shared_from_this(), number);
}

std::size_t EventBus::listeners() const {
  const std::lock_guard lock(mutex_);
  return listeners_.size();
}

}  // namespace wisecrowd::service
