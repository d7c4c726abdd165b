#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace wisecrowd {

/// What becomes of an image in the "cnn" network: four convolutions of 3×3 pixels, then one hidden layer. The network
/// is built from this, and the weights of a saved one are counted by it before any memory is asked for.
struct CnnPlan {
  struct Layer {
    std::size_t filters;
    bool pooled = false;
  };
  std::array<Layer, 4> layers{{{32}, {32}, {64}, {64}}};
  std::size_t channels = 1;           ///< of the image
  std::size_t padding = 0;            ///< of each convolution
  std::size_t height = 0, width = 0;  ///< after the last layer

  [[nodiscard]] constexpr std::size_t flat() const { return layers.back().filters * height * width; }
};

/// `shape` is {height, width} or {height, width, channels}.
[[nodiscard]] constexpr CnnPlan cnn_plan(std::span<const std::size_t> shape) {
  CnnPlan plan;
  plan.height = shape[0];
  plan.width = shape[1];
  if (shape.size() > 2) plan.channels = shape[2];
  // Four valid convolutions with pooling need 46 pixels.
  plan.padding = std::min(plan.height, plan.width) < 46 ? 1 : 0;
  for (CnnPlan::Layer& layer : plan.layers) {
    plan.height = plan.height + 2 * plan.padding - 2;
    plan.width = plan.width + 2 * plan.padding - 2;
    layer.pooled = std::min(plan.height, plan.width) >= 4;
    if (!layer.pooled) continue;
    plan.height /= 2;
    plan.width /= 2;
  }
  return plan;
}

/// How many numbers are trained, in double precision, which does not wrap.
[[nodiscard]] constexpr double cnn_weight_count(std::span<const std::size_t> shape, std::size_t hidden,
                                                std::size_t outputs) {
  const CnnPlan plan = cnn_plan(shape);
  double count = 2 * static_cast<double>(plan.layers.front().filters);  // batch normalisation after the first
  auto channels = static_cast<double>(plan.channels);
  for (const CnnPlan::Layer& layer : plan.layers) {
    count += static_cast<double>(layer.filters) * (9 * channels + 1);
    channels = static_cast<double>(layer.filters);
  }
  const double flat = channels * static_cast<double>(plan.height) * static_cast<double>(plan.width);
  return count + static_cast<double>(hidden) * (flat + 1) +
         static_cast<double>(outputs) * (static_cast<double>(hidden) + 1);
}

}  // namespace wisecrowd
