#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace wisecrowd {

/// One report of a long computation.
struct Progress {
  std::string_view stage;  ///< "reading", "iterating", …
  double done = 0;         ///< units done so far
  double total = 0;        ///< units in all, or 0 when unknown
  double objective = 0;    ///< current objective, when has_objective
  bool has_objective = false;
};

struct RunOptions {
  std::uint64_t seed = 0;
  unsigned threads = 0;  ///< 0: as many as the machine has
  /// Called now and then from the calling thread; must be quick.
  std::function<void(const Progress&)> on_progress;
  /// When it becomes true the computation stops soon, with Status::cancelled.
  const std::atomic<bool>* cancel = nullptr;
};

class ThreadPool;
class Rng;

/// Everything that a computation needs from its surroundings. Nothing is global.
/// Results never depend on the number of threads.
class RunContext {
 public:
  explicit RunContext(RunOptions options = {});
  ~RunContext();
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;

  [[nodiscard]] std::uint64_t seed() const noexcept { return options_.seed; }
  [[nodiscard]] unsigned threads() const noexcept;
  [[nodiscard]] bool cancelled() const noexcept {
    return options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed);
  }
  void report(const Progress& progress) const {
    if (options_.on_progress) options_.on_progress(progress);
  }
  [[nodiscard]] ThreadPool& pool() const noexcept { return *pool_; }
  /// An independent stream for a named purpose; the same name and index give the same stream.
  [[nodiscard]] Rng rng(std::string_view purpose, std::uint64_t index = 0) const;

 private:
  RunOptions options_;
  std::unique_ptr<ThreadPool> pool_;
};

/// How a computation ended. None of these is an error.
enum class Status { converged, iteration_limit, cancelled };

[[nodiscard]] std::string_view to_string(Status status) noexcept;

}  // namespace wisecrowd
