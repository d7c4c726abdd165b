#include "learn/shared/optimiser.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/parallel.hpp"
#include "learn/shared/finite.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr double kFirstDecay = 0.9, kSecondDecay = 0.999, kRmsDecay = 0.99, kTiny = 1e-8;
constexpr std::uint32_t kUntouched = 0xFFFFFFFF;

/// Moments of a unit that died shrink for ever, and a processor takes a hundred times as long for numbers below 1e-38.
/// Beside kTiny they are nothing long before.
float settled(float moment) { return std::abs(moment) < 1e-30F ? 0.0F : moment; }

}  // namespace

Optimiser::Optimiser(OptimiserOptions options, std::size_t parameters) : options_(options) {
  if (options_.kind != OptimiserOptions::Kind::rmsprop) first_.assign(parameters, 0.0F);
  if (options_.kind != OptimiserOptions::Kind::sgd) second_.assign(parameters, 0.0F);
}

void Optimiser::step(std::span<float> parameters, std::span<float> gradients, double pace, std::span<float> average,
                     double share, ThreadPool& pool) {
  ++steps_;
  const auto decay = static_cast<float>(options_.weight_decay);
  const auto keep = static_cast<float>(1 - std::min(options_.decoupled_decay * pace, 1.0));
  const auto rate = static_cast<float>(options_.learning_rate * pace);
  const double t = static_cast<double>(steps_);
  const auto adam_rate = static_cast<float>(options_.learning_rate * pace / (1 - math::pow(kFirstDecay, t)));
  const auto second_scale = static_cast<float>(1 / (1 - math::pow(kSecondDecay, t)));
  const Blocks blocks{parameters.size(), 1 << 14};
  pool.for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    float* const __restrict w = parameters.data();
    float* const __restrict g = gradients.data();
    float* const __restrict m = first_.data();
    float* const __restrict v = second_.data();
    const std::size_t begin = blocks.begin(block), end = blocks.end(block);
    switch (options_.kind) {
      case OptimiserOptions::Kind::adam:
#pragma omp simd
        for (std::size_t i = begin; i < end; ++i) {
          const float gradient = g[i] + decay * w[i];
          m[i] = settled(m[i] + static_cast<float>(1 - kFirstDecay) * (gradient - m[i]));
          v[i] = settled(v[i] + static_cast<float>(1 - kSecondDecay) * (gradient * gradient - v[i]));
          w[i] = keep * w[i] - adam_rate * m[i] / (std::sqrt(v[i] * second_scale) + static_cast<float>(kTiny));
          g[i] = 0;
        }
        break;
      case OptimiserOptions::Kind::rmsprop:
#pragma omp simd
        for (std::size_t i = begin; i < end; ++i) {
          const float gradient = g[i] + decay * w[i];
          v[i] = settled(v[i] + static_cast<float>(1 - kRmsDecay) * (gradient * gradient - v[i]));
          w[i] = keep * w[i] - rate * gradient / (std::sqrt(v[i]) + static_cast<float>(kTiny));
          g[i] = 0;
        }
        break;
      case OptimiserOptions::Kind::sgd: {
        const auto momentum = static_cast<float>(options_.momentum);
#pragma omp simd
        for (std::size_t i = begin; i < end; ++i) {
          m[i] = settled(momentum * m[i] + g[i] + decay * w[i]);
          w[i] = keep * w[i] - rate * m[i];
          g[i] = 0;
        }
        break;
      }
    }
    if (average.empty()) return;
    // While the block is still in the cache.
    float* const __restrict mean = average.data();
    for (std::size_t i = begin; i < end; ++i) mean[i] += static_cast<float>(share) * (w[i] - mean[i]);
  });
}

BlockAdam::BlockAdam(std::vector<double> parameters, std::size_t block, double learning_rate, double weight_decay)
    : parameters_(std::move(parameters)),
      block_(block),
      learning_rate_(learning_rate),
      weight_decay_(weight_decay),
      first_(parameters_.size(), 0.0F),
      second_(parameters_.size(), 0.0F),
      steps_(block == 0 ? 0 : parameters_.size() / block, 0),
      place_(steps_.size(), kUntouched) {}

std::span<double> BlockAdam::gradient(std::size_t owner) {
  if (place_[owner] == kUntouched) {
    place_[owner] = static_cast<std::uint32_t>(touched_.size());
    touched_.push_back(static_cast<std::uint32_t>(owner));
    if (gradients_.size() < touched_.size() * block_) gradients_.resize(touched_.size() * block_);
    std::fill_n(gradients_.begin() + static_cast<std::ptrdiff_t>(place_[owner] * block_), block_, 0.0);
  }
  return std::span(gradients_).subspan(place_[owner] * block_, block_);
}

void BlockAdam::step(double pace) {
  for (std::size_t p = 0; p < touched_.size(); ++p) {
    const std::size_t owner = touched_[p];
    const double t = static_cast<double>(++steps_[owner]);
    const double rate = learning_rate_ * pace / (1 - math::pow(kFirstDecay, t));
    const double second_scale = 1 / (1 - math::pow(kSecondDecay, t));
    double* const w = parameters_.data() + owner * block_;
    float* const m = first_.data() + owner * block_;
    float* const v = second_.data() + owner * block_;
    const double* const g = gradients_.data() + p * block_;
    for (std::size_t i = 0; i < block_; ++i) {
      const double gradient = g[i] + weight_decay_ * w[i];
      m[i] += static_cast<float>((1 - kFirstDecay) * (gradient - m[i]));
      v[i] += static_cast<float>((1 - kSecondDecay) * (gradient * gradient - v[i]));
      w[i] -= rate * m[i] / (std::sqrt(v[i] * second_scale) + kTiny);
    }
    if (!all_finite(std::span<const double>(w, block_))) throw NotFinite();
    place_[owner] = kUntouched;
  }
  touched_.clear();
}

}  // namespace wisecrowd
