#include "service/leases.hpp"

namespace wisecrowd::service {

bool Leases::is_taken(std::string_view task, std::string_view worker, double now) const {
  const std::lock_guard lock(mutex_);
  const auto found = leases_.find(task);
  return found != leases_.end() && found->second.until > now && found->second.worker != worker;
}

bool Leases::take(const std::string& task, const std::string& worker, double now, double until) {
  const std::lock_guard lock(mutex_);
  const auto found = leases_.find(task);
  if (found != leases_.end() && found->second.until > now && found->second.worker != worker) return false;
  if (found == leases_.end() && leases_.size() >= kMost) {
    std::erase_if(leases_, [&](const auto& one) { return one.second.until <= now; });
    if (leases_.size() >= kMost) return false;
  }
  leases_[task] = {worker, until};
  return true;
}

void Leases::give_back(std::string_view task, std::string_view worker) {
  const std::lock_guard lock(mutex_);
  const auto found = leases_.find(task);
  if (found != leases_.end() && found->second.worker == worker) leases_.erase(found);
}

std::size_t Leases::size() const {
  const std::lock_guard lock(mutex_);
  return leases_.size();
}

}  // namespace wisecrowd::service
