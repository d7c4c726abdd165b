#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wisecrowd/wisecrowd.hpp"

namespace wisecrowd::testing {

/// A finite crowd without noise: every combination of what workers may say occurs exactly as often as the model says,
/// so that its moments are those of the model. All workers answer all tasks.
struct ExactCrowd {
  CategoryData data;
  std::vector<ClassId> truth;
};

/// Worker j throws a die with `faces` sides: on truth k the label is the smallest l with face < counts[j][k][0] + … +
/// counts[j][k][l]. Rows of counts sum to `faces`. Class k has class_copies[k] × faces^workers tasks.
[[nodiscard]] ExactCrowd exact_crowd(const std::vector<std::vector<std::vector<std::size_t>>>& counts,
                                     const std::vector<std::size_t>& class_copies);

/// Share of tasks with gold where the method's label is right, ties by the method's rule; -1 when the data are not at
/// hand. Settings are name=value.
[[nodiscard]] double real_accuracy(const std::string& set, const std::string& method,
                                   const std::vector<std::string>& settings = {});

}  // namespace wisecrowd::testing
