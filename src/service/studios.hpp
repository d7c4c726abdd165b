#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "service/log.hpp"
#include "service/metrics.hpp"
#include "service/studio_link.hpp"

namespace wisecrowd::service {

/// All connections with Label Studio, and the thread that keeps them up to date: it compares with exports, opens
/// doubtful tasks for one more answer, and brings predictions.
class Studios {
 public:
  Studios(Metrics& metrics, const Log& log, Committer& committer,
          const std::vector<std::shared_ptr<Project>>& projects);
  ~Studios();
  Studios(const Studios&) = delete;
  Studios& operator=(const Studios&) = delete;

  [[nodiscard]] std::shared_ptr<StudioLink> find(const std::string& project) const;
  /// Takes the place of an earlier one.
  std::shared_ptr<StudioLink> add(const std::shared_ptr<Project>& project, const StudioSettings& settings);
  void remove(const std::string& project);

 private:
  struct Kept {
    std::shared_ptr<StudioLink> link;
    double reconcile_at = 0, predict_at = 0, rest_until = 0;
    std::int64_t steered = -1, predicted = -1;
  };
  void work();
  void look_after(Kept& kept);

  Metrics& metrics_;
  const Log& log_;
  Committer& committer_;
  mutable std::mutex mutex_;
  std::condition_variable more_;
  bool ending_ = false;
  std::map<std::string, std::shared_ptr<Kept>> links_;
  std::thread thread_;
};

}  // namespace wisecrowd::service
