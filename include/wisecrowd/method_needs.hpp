#pragma once

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd {

/// Whether a method for categories takes only classes that are ordered (ordered_classes.hpp).
[[nodiscard]] bool uses_order(const MethodInfo& info) noexcept;
/// Whether it takes only tasks with a graph (task_graph.hpp).
[[nodiscard]] bool uses_task_graph(const MethodInfo& info) noexcept;

}  // namespace wisecrowd
