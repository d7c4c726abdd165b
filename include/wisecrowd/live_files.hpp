#pragma once

#include <string>

#include "wisecrowd/live_loop.hpp"

namespace wisecrowd {

/// Writes what a loop knows into one file, which appears whole or not at all.
void write_live_memory(const LiveMemory& memory, const std::string& path);
/// Reads it. Throws bad_input that names the file and what is wrong with it, io when it cannot be read.
[[nodiscard]] LiveMemory read_live_memory(const std::string& path);

/// What is in the file, or, if there is none, a loop that has not begun. A loop goes on as it began: throws
/// bad_parameter when settings that are not at their defaults contradict what it began with.
[[nodiscard]] LiveMemory begin_or_resume(const LiveSettings& settings, const std::string& path, bool& resumes);

}  // namespace wisecrowd
