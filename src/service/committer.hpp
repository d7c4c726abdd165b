#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "service/journal.hpp"
#include "service/log.hpp"
#include "service/metrics.hpp"
#include "service/project.hpp"

namespace wisecrowd::service {

/// Writes batches to journals. While one transaction goes to the device, others gather and share the next: a flush
/// takes milliseconds, and a thousand requests cannot each wait for one of their own.
class Committer {
 public:
  using Done = std::function<void(const Receipt&)>;
  /// `committed` is told of each project that has something new.
  Committer(Metrics& metrics, const Log& log, std::function<void(std::shared_ptr<Project>)> committed);
  /// Writes what is still waiting.
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  /// `done` is called from the committer's thread once the batch is on the device, or has failed. Throws Refusal 503
  /// when too much is waiting.
  void submit(std::shared_ptr<Project> project, Batch batch, Done done);
  /// The same, and waits.
  [[nodiscard]] Receipt submit_and_wait(const std::shared_ptr<Project>& project, Batch batch);

 private:
  struct Waiting {
    std::shared_ptr<Project> project;
    Batch batch;
    Done done;
  };
  void work();
  void write(std::vector<Waiting> group);

  Metrics& metrics_;
  const Log& log_;
  std::function<void(std::shared_ptr<Project>)> committed_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Waiting> waiting_;
  std::size_t waiting_entries_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace wisecrowd::service
