#pragma once

#include <cstddef>
#include <functional>

namespace wisecrowd::python {

/// Threads that share jobs while the caller holds the interpreter's lock: they read objects of Python, and call nothing
/// of it.
class Team {
 public:
  /// 0: as many as the machine has.
  explicit Team(unsigned threads);
  [[nodiscard]] unsigned size() const noexcept { return threads_; }
  /// Does all jobs, each once, in order as threads come free; `worker` is below size(). The first exception is thrown
  /// again here.
  void run(std::size_t jobs, const std::function<void(std::size_t job, unsigned worker)>& work) const;

 private:
  unsigned threads_;
};

}  // namespace wisecrowd::python
