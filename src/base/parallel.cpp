#include "base/parallel.hpp"

#include <algorithm>
#include <system_error>

namespace wisecrowd {
namespace {

/// Looks for some ten microseconds whether something has come true.
template <class Condition>
bool soon(const Condition& condition) {
  constexpr int kLooks = 1000;
  for (int look = 0; look < kLooks; ++look) {
    if (condition()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return condition();
}

}  // namespace

ThreadPool::ThreadPool(unsigned threads) {
  workers_.reserve(std::max(threads, 1U) - 1);
  try {
    for (unsigned t = 1; t < threads; ++t) {
      workers_.emplace_back([this, t] { worker_loop(t); });
    }
  } catch (const std::system_error&) {
    // A limit on processes or memory: those that started do the work, and results are the same bits.
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void ThreadPool::for_each_block(std::size_t blocks, const std::function<void(std::size_t, unsigned)>& work) {
  if (blocks == 0) return;
  if (workers_.empty() || blocks == 1) {
    for (std::size_t b = 0; b < blocks; ++b) work(b, 0);
    return;
  }
  blocks_ = blocks;
  next_.store(0, std::memory_order_relaxed);
  work_ = &work;
  failure_ = nullptr;
  running_.store(static_cast<unsigned>(workers_.size()), std::memory_order_relaxed);
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    generation_.fetch_add(1, std::memory_order_release);
    wake = sleepers_ > 0;
  }
  if (wake) start_.notify_all();
  run_blocks(0);
  if (!soon([this] { return running_.load(std::memory_order_acquire) == 0; })) {
    std::unique_lock lock(mutex_);
    caller_sleeps_ = true;
    finished_.wait(lock, [this] { return running_.load(std::memory_order_acquire) == 0; });
    caller_sleeps_ = false;
  }
  if (failure_) std::rethrow_exception(failure_);
}

void ThreadPool::run_blocks(unsigned thread) {
  try {
    for (;;) {
      const std::size_t block = next_.fetch_add(1, std::memory_order_relaxed);
      if (block >= blocks_) return;
      (*work_)(block, thread);
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    next_.store(blocks_, std::memory_order_relaxed);
  }
}

void ThreadPool::worker_loop(unsigned thread) {
  std::uint64_t seen = 0;
  const auto called = [&] {
    return stop_.load(std::memory_order_relaxed) || generation_.load(std::memory_order_acquire) != seen;
  };
  for (;;) {
    if (!soon(called)) {
      std::unique_lock lock(mutex_);
      ++sleepers_;
      start_.wait(lock, called);
      --sleepers_;
    }
    if (stop_.load(std::memory_order_relaxed)) return;
    seen = generation_.load(std::memory_order_acquire);
    run_blocks(thread);
    if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      const std::lock_guard lock(mutex_);
      if (caller_sleeps_) finished_.notify_one();
    }
  }
}

}  // namespace wisecrowd
