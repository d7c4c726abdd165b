#include "service/hooks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/digest.hpp"
#include "service/webhook_signature.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::service {
namespace {

constexpr std::array kRests = {5.0, 30.0, 120.0, 600.0, 3600.0};  // seconds before each new try
constexpr double kPatience = 5;                                   // seconds
constexpr std::size_t kMostWaiting = 1000;

/// Nothing when it was taken, else why not.
std::string deliver(const Hook& hook, Reach reach, const std::string& id, const std::string& body) {
  const std::string time = fmt::format("{}", static_cast<std::int64_t>(seconds_since_1970()));
  try {
    const Outgoing receiver(parse_url(hook.url),
                            {{"webhook-id", id},
                             {"webhook-timestamp", time},
                             {"webhook-signature", webhook_signature(hook.secret, id, time, body)}},
                            reach);
    const OutgoingAnswer answer = receiver.call("POST", "", body, kPatience);
    return answer.status >= 200 && answer.status < 300 ? "" : fmt::format("it answers {}", answer.status);
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

nlohmann::ordered_json to_json(const Hook& hook) {
  return {
      {"id", hook.id}, {"url", hook.url}, {"secret", hook.secret}, {"events", hook.events}, {"created", hook.created}};
}

Hook hook_of(const nlohmann::json& stored) {
  return {stored.at("id"), stored.at("url"), stored.at("secret"), stored.at("events").get<std::vector<std::string>>(),
          stored.at("created")};
}

Hooks::Hooks(Metrics& metrics, const Log& log, Reach reach, const std::vector<std::shared_ptr<Project>>& projects)
    : metrics_(metrics), log_(log), reach_(reach) {
  for (const auto& project : projects) {
    const auto stored = project->with_journal([](const Journal& journal) { return journal.settings(kHookPrefix); });
    for (const auto& [id, text] : stored) {
      if (text != "null") add(project, hook_of(nlohmann::json::parse(text)));
    }
  }
  thread_ = std::thread([this] { work(); });
}

Hooks::~Hooks() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  more_.notify_all();
  thread_.join();
  for (const auto& [id, kept] : kept_) kept->subscription.reset();
}

void Hooks::add(const std::shared_ptr<Project>& project, const Hook& hook) {
  auto kept = std::make_shared<Kept>();
  kept->project = project->name();
  kept->state.hook = hook;
  // Without our lock: events come under the lock of their bus, and take ours then.
  kept->subscription = project->events().subscribe(
      ~std::uint64_t{0},
      [this, raw = kept.get()](const std::shared_ptr<const Event>& event) { receive(*raw, *event); });
  const std::lock_guard lock(mutex_);
  kept_[hook.id] = std::move(kept);
}

void Hooks::remove(const std::string& project, const std::string& id) {
  std::shared_ptr<Kept> gone;
  {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(id);
    if (found == kept_.end() || found->second->project != project) return;
    gone = found->second;
    kept_.erase(found);
  }
  gone->subscription.reset();
}

void Hooks::remove_all(const std::string& project) {
  for (const HookState& state : of(project)) remove(project, state.hook.id);
}

std::vector<HookState> Hooks::of(const std::string& project) const {
  const std::lock_guard lock(mutex_);
  std::vector<HookState> found;
  for (const auto& [id, kept] : kept_) {
    if (kept->project != project) continue;
    found.push_back(kept->state);
    found.back().waiting = kept->waiting.size();
  }
  return found;
}

void Hooks::receive(Kept& kept, const Event& event) {
  const std::string type(type_of(event));
  const std::vector<std::string>& wanted = kept.state.hook.events;
  if (std::find(wanted.begin(), wanted.end(), type) == wanted.end()) return;
  {
    const std::lock_guard lock(mutex_);
    // Answers come faster than they can be told of: the last position says it all.
    const bool first_waits = kept.waiting.size() > 1 || (kept.waiting.size() == 1 && !kept.busy && kept.tries == 0);
    if (type == "answers" && first_waits && kept.waiting.back().type == type) {
      kept.waiting.back().data = data_of(event);
      return;
    }
    if (kept.waiting.size() >= kMostWaiting) {
      kept.waiting.erase(kept.waiting.begin() + 1);  // the first one may be on its way
      ++kept.state.dropped;
    }
    kept.waiting.push_back({"msg_" + hex(random_bytes(12)), type, std::string(data_of(event)), seconds_since_1970()});
  }
  more_.notify_all();
}

/// Tries the first one that waits; the lock is given back meanwhile.
void Hooks::send(const std::shared_ptr<Kept>& kept, std::unique_lock<std::mutex>& lock) {
  const Message message = kept->waiting.front();
  const Hook hook = kept->state.hook;
  kept->busy = true;
  lock.unlock();
  nlohmann::ordered_json body = {{"type", message.type}, {"timestamp", utc_time(message.time)}, {"data", nullptr}};
  body["data"] = nlohmann::ordered_json::parse(message.data);
  body["data"]["project"] = kept->project;
  const std::string why =
      deliver(hook, reach_, message.id, body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  metrics_.add("wisecrowd_webhooks_total", why.empty() ? "outcome=\"ok\"" : "outcome=\"failed\"");
  if (!why.empty()) {
    log_.write(LogLevel::warning, "webhook_failed",
               {{"project", kept->project}, {"webhook", hook.id}, {"try", kept->tries + 1}, {"error", why}});
  }
  lock.lock();
  kept->busy = false;
  kept->state.trouble = why;
  if (!why.empty() && kept->tries < kRests.size()) {
    kept->not_before = steady_seconds() + kRests[kept->tries++];
    return;
  }
  ++(why.empty() ? kept->state.delivered : kept->state.dropped);
  kept->tries = 0;
  kept->not_before = 0;
  kept->waiting.pop_front();
}

void Hooks::work() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    const double now = steady_seconds();
    double soonest = now + 3600;
    std::vector<std::shared_ptr<Kept>> due;
    for (const auto& [id, kept] : kept_) {
      if (kept->waiting.empty()) continue;
      if (kept->not_before <= now) {
        due.push_back(kept);
      } else {
        soonest = std::min(soonest, kept->not_before);
      }
    }
    if (due.empty()) more_.wait_for(lock, std::chrono::duration<double>(soonest - now));
    for (const auto& kept : due) {
      if (ending_) return;
      send(kept, lock);
    }
  }
}

}  // namespace wisecrowd::service
