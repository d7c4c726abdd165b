#include "base/rng.hpp"

#include <cmath>
#include <numbers>

#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd {
namespace {

__extension__ typedef unsigned __int128 Wide;  // the marker: no warning under -Wpedantic

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ULL;

std::uint64_t mix(std::uint64_t x) noexcept {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ULL;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBULL;
  x ^= x >> 31;
  return x;
}

}  // namespace

Rng::Rng(std::uint64_t seed) noexcept : key_(mix(seed + kGolden)) {}

Rng Rng::fork(std::string_view purpose, std::uint64_t index) const noexcept {
  std::uint64_t key = key_;
  for (const char c : purpose) key = mix(key + kGolden + static_cast<unsigned char>(c));
  return Rng(mix(key ^ mix(index + kGolden)));
}

std::uint64_t Rng::next() noexcept { return mix(key_ + kGolden * ++counter_); }

void Rng::fill(std::span<std::uint64_t> out) noexcept {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = mix(key_ + kGolden * (counter_ + 1 + i));
  counter_ += out.size();
}

double Rng::uniform() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::uint64_t Rng::below(std::uint64_t n) noexcept {
  // Lemire's multiply-shift with rejection.
  Wide product = static_cast<Wide>(next()) * n;
  if (static_cast<std::uint64_t>(product) < n) {
    const std::uint64_t threshold = -n % n;
    while (static_cast<std::uint64_t>(product) < threshold) {
      product = static_cast<Wide>(next()) * n;
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Rng::normal() noexcept {
  const double radius = std::sqrt(-2 * math::log1p(-uniform()));
  return radius * math::cos_turns(uniform());
}

double Rng::log_gamma_draw(double shape) noexcept {
  if (shape < 1) {
    // G(a) = G(a+1) · U^(1/a), kept in log space.
    const double boosted = log_gamma_draw(shape + 1);
    return boosted + math::log1p(-uniform()) / shape;
  }
  // Marsaglia and Tsang (2000).
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal();
    const double t = 1 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t;
    const double u = 1 - uniform();
    if (math::log(u) < 0.5 * x * x + d * (1 - v + math::log(v))) return math::log(d) + math::log(v);
  }
}

double Rng::beta(double a, double b) noexcept {
  const double x = log_gamma_draw(a);
  const double y = log_gamma_draw(b);
  return sigmoid(x - y);
}

void Rng::dirichlet(std::span<const double> alpha, std::span<double> out) noexcept {
  for (std::size_t k = 0; k < alpha.size(); ++k) out[k] = log_gamma_draw(alpha[k]);
  softmax(out.first(alpha.size()));
}

std::size_t Rng::categorical(std::span<const double> weights) noexcept {
  double total = 0;
  for (const double w : weights) total += w;
  double u = uniform() * total;
  std::size_t last = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (weights[k] <= 0) continue;
    last = k;
    u -= weights[k];
    if (u < 0) return k;
  }
  return last;
}

}  // namespace wisecrowd
