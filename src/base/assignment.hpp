#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace wisecrowd {

/// The permutation p that maximises Σ_r gain[r·n + p[r]] (Hungarian method, O(n³)).
[[nodiscard]] std::vector<std::size_t> best_assignment(std::span<const double> gain, std::size_t n);

/// The same for more columns than rows, or as many: each row gets a column of its own, O(rows² columns).
[[nodiscard]] std::vector<std::size_t> best_assignment(std::span<const double> gain, std::size_t rows,
                                                       std::size_t columns);

}  // namespace wisecrowd
