#include "team.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace wisecrowd::python {

Team::Team(unsigned threads) : threads_(threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : threads) {}

void Team::run(std::size_t jobs, const std::function<void(std::size_t job, unsigned worker)>& work) const {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto take_part = [&](unsigned worker) {
    for (std::size_t job = next++; job < jobs; job = next++) {
      try {
        work(job, worker);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    }
  };
  std::vector<std::jthread> others;
  others.reserve(std::min<std::size_t>(threads_, jobs));
  try {
    for (unsigned t = 1; t < threads_ && t < jobs; ++t) others.emplace_back(take_part, t);
  } catch (const std::system_error&) {
    // No more threads to be had: those that started share the jobs.
  }
  take_part(0);
  others.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace wisecrowd::python
