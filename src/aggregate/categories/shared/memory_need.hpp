#pragma once

#include <cstddef>
#include <string_view>

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd {

/// The size of data: what the memory of a fit depends on.
struct DataShape {
  std::size_t tasks = 0, workers = 0, classes = 0, answers = 0, threads = 1;
};

/// Cells of confusion tables, workers × classes², from which on they are too many: so many are neither written nor
/// shown, and no crowd has the answers to fill them.
inline constexpr double kMostTableCells = 67'108'864;  // 2^26

[[nodiscard]] inline double table_cells(const DataShape& shape) {
  const auto classes = static_cast<double>(shape.classes);
  return static_cast<double>(shape.workers) * classes * classes;
}
[[nodiscard]] inline bool tables_fit(const DataShape& shape) { return table_cells(shape) <= kMostTableCells; }

/// The size of these data, as `context` would fit them.
[[nodiscard]] DataShape shape_of(const CategoryAnswers& answers, const RunContext& context);

/// What a fit of a method and what it returns need, in bytes, with its default parameters. Methods have a line each in
/// memory_need.cpp; one without is taken to hold a posterior, a copy of it and some numbers per answer.
[[nodiscard]] double memory_needed(std::string_view method, const DataShape& shape);

/// Throws unsupported when a fit would need more memory than there is, with both and the methods that would fit.
void require_memory(const MethodInfo& info, const CategoryData& data, const RunContext& context);

}  // namespace wisecrowd
