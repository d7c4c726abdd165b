#pragma once

namespace wisecrowd {

/// Answers and gold beyond ± this are refused, wherever they come from: their squares, and sums of these, stay finite.
inline constexpr double kLargestNumber = 1e100;

}  // namespace wisecrowd
