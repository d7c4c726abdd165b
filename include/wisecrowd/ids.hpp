#pragma once

#include <cstddef>
#include <cstdint>

namespace wisecrowd {

// Strong indices: a worker can never be mistaken for a task. Values are dense and start at 0.
enum class TaskId : std::uint32_t {};
enum class WorkerId : std::uint32_t {};
enum class ClassId : std::uint16_t {};

/// Position of one answer in task order; shared by both CSR views.
using AnswerIndex = std::uint32_t;

template <class Id>
[[nodiscard]] constexpr std::size_t index(Id id) noexcept {
  return static_cast<std::size_t>(id);
}

/// Marks a task without gold.
inline constexpr ClassId kNoClass{0xFFFF};
/// Class ids are 16 bits wide and the last value is kNoClass.
inline constexpr std::size_t kMaxClasses = 0xFFFF;

}  // namespace wisecrowd
