#pragma once

#include <span>

namespace wisecrowd {

/// A parameter of a model left the finite numbers. It stays inside src/learn: the trainer goes back to what was finite,
/// or says Diverged.
struct NotFinite {};

/// x − x is 0 for a finite number and NaN for any other, so one sum, which vectorises, tells.
template <class Number>
[[nodiscard]] bool all_finite(std::span<const Number> values) noexcept {
  Number sum = 0;
  for (const Number value : values) sum += value - value;
  return sum == 0;
}

}  // namespace wisecrowd
