#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "service/log.hpp"
#include "service/metrics.hpp"
#include "service/project.hpp"

namespace wisecrowd::service {

/// What nobody waits for: one thread lets states follow their journals, another fits them anew, studies them, and moves
/// logs into files.
class Background {
 public:
  /// `studied` is told when something new is known of a project's workers.
  Background(Metrics& metrics, const Log& log, std::function<void(const std::shared_ptr<Project>&)> studied);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Ends after what it is at; the rest is done after the next start.
  void stop();
  /// There is something new in its journal.
  void follow(const std::shared_ptr<Project>& project);
  /// Fit it anew, and study it, as soon as possible.
  void refit(const std::shared_ptr<Project>& project);

 private:
  void absorb_loop();
  void refit_loop();
  void refit_one(const std::shared_ptr<Project>& shared);
  void failed(std::string_view what, Project& project, const std::exception& error);
  [[nodiscard]] bool pause(std::unique_lock<std::mutex>& lock, double seconds);

  Metrics& metrics_;
  const Log& log_;
  std::function<void(const std::shared_ptr<Project>&)> studied_;
  std::atomic<bool> ending_{false};
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::shared_ptr<Project>> to_absorb_, to_look_at_;  // each project once
  std::map<Project*, double> study_again_;                       // not before this time
  std::thread absorber_, refitter_;
};

}  // namespace wisecrowd::service
