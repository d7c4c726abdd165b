#include "learn/shared/dense_network.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/matrix_product.hpp"
#include "base/parallel.hpp"
#include "learn/shared/torch_plugin.hpp"

namespace wisecrowd {
namespace {

/// Blocks that keep two cores busy and are large enough for a matrix product; they depend on the size alone.
Blocks cut(std::size_t total, std::size_t smallest) { return {total, std::max(smallest, (total + 7) / 8)}; }

/// A vector that is cut shorter and made longer again would be set to 0 each time.
void grow(std::vector<float>& values, std::size_t size) {
  if (values.size() < size) values.resize(size);
}

/// One draw decides over so many values: 16 bits each.
constexpr std::size_t kPerDraw = 4;
std::uint64_t draws_for(std::size_t values) { return (values + kPerDraw - 1) / kPerDraw; }

/// Dropout: copies values, of which it sets some to 0 at random and scales the others up. `to` may be `from`.
void copy_some(const float* from, std::size_t count, float keep, Rng& stream, float* to) {
  constexpr std::size_t kDraws = 128;  // at a time
  const auto threshold = static_cast<std::uint32_t>(std::lround(static_cast<double>(keep) * 65536));
  const float scale = 1 / keep;
  std::array<std::uint64_t, kDraws> draws;
  std::array<std::uint16_t, kDraws * kPerDraw> parts;
  for (std::size_t begin = 0; begin < count; begin += parts.size()) {
    const std::size_t size = std::min(parts.size(), count - begin);
    stream.fill(std::span(draws).first(draws_for(size)));
    std::memcpy(parts.data(), draws.data(), size * sizeof(std::uint16_t));
#pragma omp simd
    for (std::size_t v = 0; v < size; ++v) {
      const float scaled = from[begin + v] * scale;
      to[begin + v] = parts[v] < threshold ? scaled : 0.0F;
    }
  }
}

}  // namespace

DenseNetwork::DenseNetwork(std::size_t inputs, std::vector<std::size_t> widths, double dropout, std::uint64_t seed,
                           ThreadPool& pool)
    : inputs_(inputs),
      widths_(std::move(widths)),
      keep_(static_cast<float>(1 - dropout)),
      dropout_stream_(Rng(seed).fork("dropout")) {
  work_with(pool);
  std::size_t place = 0, from = inputs_;
  for (const std::size_t width : widths_) {
    layers_.push_back({from, width, place, place + from * width});
    place += from * width + width;
    from = width;
  }
  parameters_.resize(place);
  gradients_.assign(place, 0.0F);
  Rng draw = Rng(seed).fork("weights");
  for (const Layer& layer : layers_) {
    const double reach = 1 / std::sqrt(static_cast<double>(std::max<std::size_t>(layer.inputs, 1)));
    for (std::size_t p = layer.weights; p < layer.biases + layer.outputs; ++p) {
      parameters_[p] = static_cast<float>(draw.uniform(-reach, reach));
    }
  }
  activations_.resize(layers_.size() - 1);
}

void DenseNetwork::product(const Layer& layer, const float* in, std::size_t batch, float* out) {
  const float* const weights = parameters_.data() + layer.weights;
  const float* const biases = parameters_.data() + layer.biases;
  const Blocks blocks = cut(batch, 32);
  pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    const std::size_t begin = blocks.begin(block), rows = blocks.end(block) - begin;
    float* const target = out + begin * layer.outputs;
    for (std::size_t i = 0; i < rows; ++i) std::copy_n(biases, layer.outputs, target + i * layer.outputs);
    add_product<float>(rows, layer.outputs, layer.inputs, {in + begin * layer.inputs, layer.inputs}, weights,
                       layer.outputs, target);
  });
}

void DenseNetwork::gather(const Features& inputs, std::span<const std::uint32_t> rows, Mode mode) {
  batch_ = rows.size();
  sparse_ = inputs.is_sparse();
  const bool drops = mode == Mode::train && keep_inputs_ < 1;
  if (sparse_) {
    offsets_.assign(1, 0);
    indices_.clear();
    gathered_.clear();
    for (const std::uint32_t row : rows) {
      const auto begin = static_cast<std::ptrdiff_t>(inputs.offsets[row]);
      const auto end = static_cast<std::ptrdiff_t>(inputs.offsets[row + 1]);
      indices_.insert(indices_.end(), inputs.indices.begin() + begin, inputs.indices.begin() + end);
      gathered_.insert(gathered_.end(), inputs.values.begin() + begin, inputs.values.begin() + end);
      offsets_.push_back(indices_.size());
    }
    if (drops) copy_some(gathered_.data(), gathered_.size(), keep_inputs_, dropout_stream_, gathered_.data());
    return;
  }
  // Predictions mostly ask for rows one after the other, as they lie.
  const bool in_order = std::adjacent_find(rows.begin(), rows.end(),
                                           [](std::uint32_t a, std::uint32_t b) { return b != a + 1; }) == rows.end();
  if (mode == Mode::predict && in_order && !rows.empty()) {
    rows_ = inputs.dense.data() + rows.front() * inputs_;
    return;
  }
  grow(gathered_, rows.size() * inputs_);
  rows_ = gathered_.data();
  const std::uint64_t draws_per_row = drops ? draws_for(inputs_) : 0;
  const Blocks blocks{rows.size(), 16};
  pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    Rng stream = dropout_stream_;
    stream.skip(blocks.begin(block) * draws_per_row);
    for (std::size_t i = blocks.begin(block); i < blocks.end(block); ++i) {
      const float* const from = inputs.dense.data() + rows[i] * inputs_;
      float* const to = gathered_.data() + i * inputs_;
      if (drops) {
        copy_some(from, inputs_, keep_inputs_, stream, to);
      } else {
        std::copy_n(from, inputs_, to);
      }
    }
  });
  dropout_stream_.skip(rows.size() * draws_per_row);
}

void DenseNetwork::first_layer(std::size_t batch, float* out) {
  const Layer& layer = layers_.front();
  if (!sparse_) return product(layer, rows_, batch, out);
  const float* const weights = parameters_.data() + layer.weights;
  const float* const biases = parameters_.data() + layer.biases;
  const Blocks blocks = cut(batch, 32);
  pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t i = blocks.begin(block); i < blocks.end(block); ++i) {
      float* const target = out + i * layer.outputs;
      std::copy_n(biases, layer.outputs, target);
      for (std::uint64_t e = offsets_[i]; e < offsets_[i + 1]; ++e) {
        const float* const from = weights + indices_[e] * layer.outputs;
        const float value = gathered_[e];
        for (std::size_t h = 0; h < layer.outputs; ++h) target[h] += value * from[h];
      }
    }
  });
}

void DenseNetwork::forward(const Features& inputs, std::span<const std::uint32_t> rows, Mode mode,
                           std::span<float> outputs) {
  gather(inputs, rows, mode);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const bool last = l + 1 == layers_.size();
    if (!last) grow(activations_[l], rows.size() * layers_[l].outputs);
    float* const out = last ? outputs.data() : activations_[l].data();
    if (l == 0) {
      first_layer(rows.size(), out);
    } else {
      product(layers_[l], activations_[l - 1].data(), rows.size(), out);
    }
    if (last) break;
    const std::span values(activations_[l].data(), rows.size() * layers_[l].outputs);
    for (float& value : values) value = std::max(value, 0.0F);
    if (l + 2 == layers_.size() && mode != Mode::predict && keep_ < 1) {
      copy_some(values.data(), values.size(), keep_, dropout_stream_, values.data());
    }
  }
}

void DenseNetwork::add_weight_gradient(const Layer& layer, const float* in, const float* out_gradient,
                                       std::size_t batch) {
  const Blocks blocks = cut(layer.inputs, 128);
  pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    const std::size_t begin = blocks.begin(block);
    add_product<float>(blocks.end(block) - begin, layer.outputs, batch, {in + begin, 1, layer.inputs}, out_gradient,
                       layer.outputs, gradients_.data() + layer.weights + begin * layer.outputs);
  });
}

void DenseNetwork::backward(std::span<const float> output_gradients) {
  const std::size_t batch = batch_;
  gradient_.assign(output_gradients.begin(), output_gradients.end());
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const Layer& layer = layers_[l];
    float* const bias_gradient = gradients_.data() + layer.biases;
    for (std::size_t i = 0; i < batch; ++i) {
      const float* const row = gradient_.data() + i * layer.outputs;
      for (std::size_t h = 0; h < layer.outputs; ++h) bias_gradient[h] += row[h];
    }
    if (l == 0) {
      if (!sparse_) {
        add_weight_gradient(layer, rows_, gradient_.data(), batch);
        return;
      }
      float* const target = gradients_.data() + layer.weights;
      for (std::size_t i = 0; i < batch; ++i) {
        const float* const from = gradient_.data() + i * layer.outputs;
        for (std::uint64_t e = offsets_[i]; e < offsets_[i + 1]; ++e) {
          float* const to = target + indices_[e] * layer.outputs;
          const float value = gathered_[e];
          for (std::size_t h = 0; h < layer.outputs; ++h) to[h] += value * from[h];
        }
      }
      return;
    }
    const std::vector<float>& below = activations_[l - 1];
    add_weight_gradient(layer, below.data(), gradient_.data(), batch);
    next_gradient_.assign(batch * layer.inputs, 0.0F);
    turned_weights_.resize(layer.inputs * layer.outputs);
    for (std::size_t i = 0; i < layer.inputs; ++i) {
      const float* const from = parameters_.data() + layer.weights + i * layer.outputs;
      for (std::size_t h = 0; h < layer.outputs; ++h) turned_weights_[h * layer.inputs + i] = from[h];
    }
    const Blocks blocks = cut(batch, 32);
    pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      const std::size_t begin = blocks.begin(block);
      add_product<float>(blocks.end(block) - begin, layer.inputs, layer.outputs,
                         {gradient_.data() + begin * layer.outputs, layer.outputs}, turned_weights_.data(),
                         layer.inputs, next_gradient_.data() + begin * layer.inputs);
    });
    // A unit that ReLU or dropout set to 0 passes nothing on; a kept one has its dropout scale.
    const float scale = l + 1 == layers_.size() ? 1 / keep_ : 1.0F;
    for (std::size_t v = 0; v < next_gradient_.size(); ++v) {
      next_gradient_[v] = below[v] > 0 ? next_gradient_[v] * scale : 0.0F;
    }
    std::swap(gradient_, next_gradient_);
  }
}

void DenseNetwork::export_torchscript(const std::string& path, const Scaling& scaling) const {
  export_dense_torchscript(path, inputs_, widths_, parameters_, scaling);
}

}  // namespace wisecrowd
