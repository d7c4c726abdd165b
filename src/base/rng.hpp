#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace wisecrowd {

/// Counter-based generator (SplitMix64's mixer over key + counter): cheap to fork, and a stream is fully
/// given by (seed, purpose, index), so results never depend on the order of work or the number of threads.
/// Our own distributions, because those of the standard library differ between implementations.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) noexcept;

  /// An independent stream for a named purpose.
  [[nodiscard]] Rng fork(std::string_view purpose, std::uint64_t index = 0) const noexcept;

  std::uint64_t next() noexcept;
  /// As many draws of next() as fit, several per instruction.
  void fill(std::span<std::uint64_t> out) noexcept;
  /// Leaves out so many draws of next().
  void skip(std::uint64_t draws) noexcept { counter_ += draws; }
  /// Uniform on [0, 1), 53 bits.
  double uniform() noexcept;
  double uniform(double low, double high) noexcept { return low + (high - low) * uniform(); }
  /// Uniform on {0, …, n-1}, without modulo bias; n > 0.
  std::uint64_t below(std::uint64_t n) noexcept;
  bool bernoulli(double p) noexcept { return uniform() < p; }
  double normal() noexcept;
  /// log of a Gamma(shape, 1) draw; right for tiny shapes too, where the draw itself underflows.
  double log_gamma_draw(double shape) noexcept;
  double beta(double a, double b) noexcept;
  /// Dirichlet(alpha) into out, by log-space normalisation.
  void dirichlet(std::span<const double> alpha, std::span<double> out) noexcept;
  /// Index k with probability proportional to weights[k]; weights are not negative and not all 0.
  std::size_t categorical(std::span<const double> weights) noexcept;

  template <class T>
  void shuffle(std::span<T> items) noexcept {
    for (std::size_t i = items.size(); i > 1; --i) {
      const std::size_t j = below(i);
      T held = items[i - 1];
      items[i - 1] = items[j];
      items[j] = held;
    }
  }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace wisecrowd
