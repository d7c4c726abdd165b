#pragma once

#include <string>

#include "wisecrowd/live_loop.hpp"

namespace wisecrowd {

/// Keeps other programs from the loop in a file, from when it is read until it is written: of two that learn at the
/// same time the last one would win. Throws io when another has it. Beside the file there is one that ends in .lock
/// meanwhile; what a dead program left of it does no harm.
class LiveLock {
 public:
  explicit LiveLock(const std::string& path);
  ~LiveLock();
  LiveLock(const LiveLock&) = delete;
  LiveLock& operator=(const LiveLock&) = delete;

 private:
  std::string place_;
  int file_ = -1;
};

/// Writes what a loop knows into one file, which appears whole or not at all.
void write_live_memory(const LiveMemory& memory, const std::string& path);
/// Reads it. Throws bad_input that names the file and what is wrong with it, io when it cannot be read.
[[nodiscard]] LiveMemory read_live_memory(const std::string& path);

/// What is in the file, or, if there is none, a loop that has not begun. A loop goes on as it began: throws
/// bad_parameter when settings that are not at their defaults contradict what it began with.
[[nodiscard]] LiveMemory begin_or_resume(const LiveSettings& settings, const std::string& path, bool& resumes);

}  // namespace wisecrowd
