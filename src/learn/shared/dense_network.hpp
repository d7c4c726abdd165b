#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.hpp"
#include "learn/shared/network.hpp"

namespace wisecrowd {

class ThreadPool;

/// Fully connected layers with ReLU between them and dropout before the last one; without hidden layers, the linear
/// classifier. Written by hand, because on heads of this size the overhead of a tensor library
/// costs more than the arithmetic.
///
/// Parameters lie layer by layer: weights (inputs × outputs, row-major), then biases.
class DenseNetwork final : public Network {
 public:
  /// `widths` are the sizes of the layers after the input, the output's last. Parameters are drawn uniformly from
  /// ±1/√inputs of their layer.
  DenseNetwork(std::size_t inputs, std::vector<std::size_t> widths, double dropout, std::uint64_t seed,
               ThreadPool& pool);

  [[nodiscard]] std::size_t output_size() const override { return widths_.back(); }
  void forward(const Features& inputs, std::span<const std::uint32_t> rows, Mode mode,
               std::span<float> outputs) override;
  void backward(std::span<const float> output_gradients) override;
  [[nodiscard]] std::span<float> parameters() override { return parameters_; }
  [[nodiscard]] std::span<float> gradients() override { return gradients_; }
  void drop_inputs(double share) override { keep_inputs_ = static_cast<float>(1 - share); }
  void reseed(std::uint64_t seed) override { dropout_stream_ = Rng(seed); }
  void export_torchscript(const std::string& path, const Scaling& scaling) const override;

  [[nodiscard]] std::size_t input_size() const noexcept { return inputs_; }
  /// What the last hidden layer gave in the last forward, batch × its width; empty without one.
  [[nodiscard]] std::span<const float> last_hidden() const noexcept {
    if (activations_.empty()) return {};
    return std::span<const float>(activations_.back()).first(batch_ * widths_[widths_.size() - 2]);
  }
  [[nodiscard]] const std::vector<std::size_t>& widths() const noexcept { return widths_; }

 private:
  struct Layer {
    std::size_t inputs, outputs;
    std::size_t weights, biases;  // where they begin in the block of parameters
  };
  void gather(const Features& inputs, std::span<const std::uint32_t> rows, Mode mode);
  void first_layer(std::size_t batch, float* out);
  void product(const Layer& layer, const float* in, std::size_t batch, float* out);
  void add_weight_gradient(const Layer& layer, const float* in, const float* out_gradient, std::size_t batch);

  std::size_t inputs_;
  std::vector<std::size_t> widths_;
  float keep_;             // share of units that dropout keeps
  float keep_inputs_ = 1;  // likewise of inputs
  std::vector<Layer> layers_;
  std::vector<float> parameters_, gradients_;
  Rng dropout_stream_;

  // Of the last forward.
  std::size_t batch_ = 0;
  bool sparse_ = false;
  const float* rows_ = nullptr;         // batch × inputs of dense features: gathered_, or the features themselves
  std::vector<float> gathered_;         // dense: never shrinks; sparse: the values
  std::vector<std::uint64_t> offsets_;  // of sparse features
  std::vector<std::uint32_t> indices_;
  std::vector<std::vector<float>> activations_;  // after ReLU and dropout, one per hidden layer; never shrink
  std::vector<float> gradient_, next_gradient_, turned_weights_;
};

}  // namespace wisecrowd
