#include "wisecrowd/task_groups.hpp"

#include <fmt/core.h>

#include "wisecrowd/error.hpp"

namespace wisecrowd {

void validate(const TaskGroups& groups, std::size_t tasks) {
  if (groups.of_task.size() != tasks) {
    throw Error(ErrorCode::bad_input,
                fmt::format("there are groups for {} tasks, but {} tasks: give one entry per task",
                            groups.of_task.size(), tasks));
  }
  for (std::size_t t = 0; t < tasks; ++t) {
    const GroupId group = groups.of_task[t];
    if (group != kNoGroup && index(group) >= groups.count()) {
      throw Error(ErrorCode::bad_input, fmt::format("the group of task {} is {}, but there are {} groups: count from 0",
                                                    t, index(group), groups.count()));
    }
  }
}

}  // namespace wisecrowd
