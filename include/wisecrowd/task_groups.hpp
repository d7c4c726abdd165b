#pragma once

#include <cstdint>
#include <vector>

#include "wisecrowd/answer_graph.hpp"
#include "wisecrowd/ids.hpp"

namespace wisecrowd {

enum class GroupId : std::uint32_t {};
/// Marks a task whose group is not known.
inline constexpr GroupId kNoGroup{0xFFFFFFFF};

/// Which group each task belongs to: the ethnicity of a defendant, the language of a post, the clinic of an X-ray.
struct TaskGroups {
  NameTable names;
  std::vector<GroupId> of_task;  ///< kNoGroup where it is not known

  [[nodiscard]] std::size_t count() const noexcept { return names.size(); }
};

/// Throws bad_input unless there is a group, or kNoGroup, for each of so many tasks.
void validate(const TaskGroups& groups, std::size_t tasks);

}  // namespace wisecrowd
