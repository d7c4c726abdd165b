#pragma once

#include <cstdint>
#include <vector>

#include "wisecrowd/features.hpp"

namespace wisecrowd::testing {

/// Rows of standard normal numbers.
[[nodiscard]] Features random_rows(std::size_t rows, std::size_t columns, std::uint64_t seed);
/// The same rows, written as sparse ones.
[[nodiscard]] Features as_sparse(const Features& dense);

}  // namespace wisecrowd::testing
