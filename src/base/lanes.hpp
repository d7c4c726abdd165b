#pragma once

#include <array>
#include <cstddef>

namespace wisecrowd {

/// Σ term(i) for i < count, of several terms at once (an array of them). Each sum is made of as many interleaved ones
/// as a cache line has numbers: a compiler that may order a sum as it likes takes as many as the processor's vectors
/// have, and then its bits depend on the processor. A term may write to places that are its own.
template <class Real, std::size_t Sums, class Terms>
[[nodiscard, gnu::always_inline]] inline std::array<Real, Sums> lane_sums(std::size_t count, Terms terms) {
  constexpr std::size_t kLanes = 64 / sizeof(Real);
  using Line [[gnu::vector_size(64)]] = Real;
  using Numbers = std::array<Real, kLanes>;
  Line lines[Sums] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    alignas(64) std::array<Numbers, Sums> now;
#pragma omp simd
    for (std::size_t l = 0; l < kLanes; ++l) {
      const std::array<Real, Sums> term = terms(i + l);
      for (std::size_t s = 0; s < Sums; ++s) now[s][l] = term[s];
    }
    for (std::size_t s = 0; s < Sums; ++s) lines[s] += __builtin_bit_cast(Line, now[s]);
  }
  std::array<Numbers, Sums> parts;
  for (std::size_t s = 0; s < Sums; ++s) parts[s] = __builtin_bit_cast(Numbers, lines[s]);
  for (std::size_t l = 0; i < count; ++i, ++l) {
    const std::array<Real, Sums> term = terms(i);
    for (std::size_t s = 0; s < Sums; ++s) parts[s][l] += term[s];
  }
  std::array<Real, Sums> sums;
  for (std::size_t s = 0; s < Sums; ++s) {
    for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::size_t l = 0; l < half; ++l) parts[s][l] += parts[s][l + half];
    }
    sums[s] = parts[s][0];
  }
  return sums;
}

template <class Real, class Term>
[[nodiscard, gnu::always_inline]] inline Real lane_sum(std::size_t count, Term term) {
  return lane_sums<Real, 1>(
      count, [&](std::size_t i) __attribute__((always_inline)) { return std::array<Real, 1>{term(i)}; })[0];
}

}  // namespace wisecrowd
