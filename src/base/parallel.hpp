#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace wisecrowd {

/// A fixed team of threads, fewer than asked for where the system has no more. The caller is thread 0 and works along.
///
/// Work is cut into blocks whose number must not depend on the team's size; whatever a block
/// computes goes to a place of its own (or is added as integers), so that results are the same bits for
/// any number of threads.
///
/// A thread that has nothing to do looks for new work for some microseconds before it goes to sleep: many jobs are no
/// longer than waking a thread takes.
class ThreadPool {
 public:
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] unsigned size() const noexcept { return static_cast<unsigned>(workers_.size()) + 1; }

  /// Calls work(block, thread) once for every block in [0, blocks), in any order, and returns when all
  /// are done. The first exception is rethrown here. Not reentrant.
  void for_each_block(std::size_t blocks, const std::function<void(std::size_t block, unsigned thread)>& work);

 private:
  void run_blocks(unsigned thread);
  void worker_loop(unsigned thread);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable finished_;
  std::atomic<std::uint64_t> generation_{0};  // of the work; raised under the mutex
  std::atomic<unsigned> running_{0};          // threads that have not finished it
  unsigned sleepers_ = 0;                     // workers that wait for start_
  bool caller_sleeps_ = false;
  std::atomic<bool> stop_{false};

  std::size_t blocks_ = 0;
  std::atomic<std::size_t> next_{0};
  const std::function<void(std::size_t, unsigned)>* work_ = nullptr;
  std::exception_ptr failure_;
};

/// A range cut into blocks of equal size, the last one shorter.
struct Blocks {
  std::size_t total;
  std::size_t size;
  [[nodiscard]] std::size_t count() const noexcept { return (total + size - 1) / size; }
  [[nodiscard]] std::size_t begin(std::size_t block) const noexcept { return block * size; }
  [[nodiscard]] std::size_t end(std::size_t block) const noexcept {
    return block + 1 == count() ? total : (block + 1) * size;
  }
};

}  // namespace wisecrowd
