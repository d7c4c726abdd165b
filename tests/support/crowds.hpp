#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "wisecrowd/wisecrowd.hpp"

namespace wisecrowd::testing {

/// A small random crowd: workers of different accuracy, every task answered by about `answers_per_task` of them.
/// Gold is filled in but not part of the returned dataset's inference unless the caller leaves it there.
struct SmallCrowd {
  CategoryData data;
  std::vector<ClassId> truth;
};
[[nodiscard]] SmallCrowd small_crowd(std::uint64_t seed, std::size_t tasks, std::size_t workers, std::size_t classes,
                                     std::size_t answers_per_task);

/// The tiny data of the golden vectors: four tasks, three workers, two classes, nine answers.
[[nodiscard]] CategoryData golden_tiny();

/// The project's own folder, where tests find the files that belong to them.
[[nodiscard]] std::string source_folder();

/// Folder of the real data sets, or nothing when they are not at hand (then a test skips itself).
[[nodiscard]] std::optional<std::string> real_data_folder();

}  // namespace wisecrowd::testing
