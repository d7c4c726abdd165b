#include "base/parallel.hpp"

#include <algorithm>

namespace wisecrowd {

ThreadPool::ThreadPool(unsigned threads) {
  for (unsigned t = 1; t < std::max(threads, 1U); ++t) {
    workers_.emplace_back([this, t] { worker_loop(t); });
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
  {
    const std::lock_guard lock(mutex_);
    blocks_ = blocks;
    next_.store(0, std::memory_order_relaxed);
    work_ = &work;
    failure_ = nullptr;
    running_ = static_cast<unsigned>(workers_.size());
    ++generation_;
  }
  start_.notify_all();
  run_blocks(0);
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [this] { return running_ == 0; });
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
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stop_ || generation_ != seen; });
      if (stop_) return;
      seen = generation_;
    }
    run_blocks(thread);
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) finished_.notify_one();
  }
}

}  // namespace wisecrowd
