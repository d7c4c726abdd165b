#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "wisecrowd/category_data.hpp"

namespace wisecrowd {

/// Whether the order of classes means something: low, mid, high. Methods that use it refuse answers without.
[[nodiscard]] bool is_ordered(const CategoryAnswers& answers) noexcept;

/// The order of classes from the lowest to the highest by number. Throws bad_input, which asks for a class list, unless
/// all are different finite numbers.
[[nodiscard]] std::vector<std::uint32_t> ordered_class_order(std::span<const std::string_view> names);

/// Says that the order of classes means something. Those that were `listed` keep their order; others are put in the
/// order of their numbers, gold with them. Throws as ordered_class_order does.
void order_classes(CategoryData& data, bool listed);

/// Answers that were `derived` from others, with the same tasks and classes, know of these what the others do: the
/// order of classes, and the graph of tasks.
[[nodiscard]] CategoryAnswers inherited(const CategoryAnswers& original, CategoryAnswers derived);

}  // namespace wisecrowd
