#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "service/log.hpp"
#include "service/metrics.hpp"
#include "service/outgoing.hpp"
#include "service/project.hpp"

namespace wisecrowd::service {

/// Somebody who wants to be told what happens to a project. It stands in the journal as one JSON object.
struct Hook {
  std::string id;  ///< wh_…
  std::string url;
  std::string secret;               ///< whsec_…, by which the receiver knows us
  std::vector<std::string> events;  ///< which ones
  double created = 0;               ///< seconds since 1970
};
[[nodiscard]] nlohmann::ordered_json to_json(const Hook& hook);
[[nodiscard]] Hook hook_of(const nlohmann::json& stored);

/// How a hook gets on.
struct HookState {
  Hook hook;
  std::size_t waiting = 0;  ///< events that are to be sent
  std::uint64_t delivered = 0, dropped = 0;
  std::string trouble;  ///< why the last try failed; empty after one that did not
};

/// Sends events of projects to those who asked for them, signed by the rules of Standard Webhooks, one at a time and in
/// order. What fails is tried again a few times, at growing distances. What waits is kept in memory alone: who missed
/// something reads labels that changed since the last position that it knows.
class Hooks {
 public:
  Hooks(Metrics& metrics, const Log& log, Reach reach, const std::vector<std::shared_ptr<Project>>& projects);
  ~Hooks();
  Hooks(const Hooks&) = delete;
  Hooks& operator=(const Hooks&) = delete;

  void add(const std::shared_ptr<Project>& project, const Hook& hook);
  void remove(const std::string& project, const std::string& id);
  void remove_all(const std::string& project);
  [[nodiscard]] std::vector<HookState> of(const std::string& project) const;

 private:
  struct Message {
    std::string id, type, data;
    double time = 0;
  };
  struct Kept {
    std::string project;
    HookState state;
    std::deque<Message> waiting;
    std::size_t tries = 0;  // of the first one
    double not_before = 0;
    bool busy = false;  // the first one is on its way
    std::unique_ptr<Subscription> subscription;
  };
  void receive(Kept& kept, const Event& event);
  void send(const std::shared_ptr<Kept>& kept, std::unique_lock<std::mutex>& lock);
  void work();

  Metrics& metrics_;
  const Log& log_;
  Reach reach_;
  mutable std::mutex mutex_;
  std::condition_variable more_;
  bool ending_ = false;
  std::map<std::string, std::shared_ptr<Kept>> kept_;  // by id
  std::thread thread_;
};

inline constexpr const char* kHookPrefix = "webhook.";

}  // namespace wisecrowd::service
