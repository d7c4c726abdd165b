#pragma once

#include <cstdint>
#include <span>

#include "wisecrowd/category_data.hpp"

namespace wisecrowd::testing {

/// The same data with ordered classes, and every task joined to the next: whatever a method may ask for besides
/// answers. `place_of` says where each task stands in that row; empty: where it is.
[[nodiscard]] CategoryData with_order_and_graph(CategoryData data, std::span<const std::uint32_t> place_of = {});

}  // namespace wisecrowd::testing
