#pragma once

#include <cstddef>
#include <vector>

#include "wisecrowd/category_answers.hpp"

namespace wisecrowd {

/// Parts of the worker–task graph that share no worker and no task. Unanswered tasks and silent workers belong to none.
struct Components {
  std::size_t count = 0;
  std::size_t largest_tasks = 0, largest_workers = 0;  ///< of the part with most tasks, then with most workers
};

/// One part.
struct ComponentSize {
  std::size_t tasks = 0, workers = 0, answers = 0;
};
/// The `most` parts with most tasks, then with most workers, the largest first.
[[nodiscard]] std::vector<ComponentSize> component_sizes(const CategoryAnswers& answers, std::size_t most);

[[nodiscard]] Components connected_components(const CategoryAnswers& answers);

}  // namespace wisecrowd
