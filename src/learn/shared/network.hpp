#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "wisecrowd/features.hpp"
#include "wisecrowd/learn.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// A differentiable function of a row, in single precision. It keeps its parameters and their gradients each in one
/// block, so that one optimiser, one average and one file format serve every kind.
class Network {
 public:
  virtual ~Network() = default;

  enum class Mode {
    predict,  ///< no dropout, nothing kept
    train,    ///< dropout; keeps what backward() needs
    sample,   ///< dropout of units, but no hidden inputs; nothing kept: one draw of MC-dropout, the same for all who
              ///< draw
  };

  [[nodiscard]] virtual std::size_t output_size() const = 0;

  /// outputs = batch × output_size(), row-major. `inputs` are already scaled.
  virtual void forward(const Features& inputs, std::span<const std::uint32_t> rows, Mode mode,
                       std::span<float> outputs) = 0;
  /// Adds to gradients() what the last forward(train) and the gradient at its outputs give.
  virtual void backward(std::span<const float> output_gradients) = 0;

  [[nodiscard]] virtual std::span<float> parameters() = 0;
  [[nodiscard]] virtual std::span<float> gradients() = 0;  ///< same order; the optimiser sets them to 0
  /// State that is not trained by gradients (running means of a batch normalisation).
  [[nodiscard]] virtual std::vector<float> buffers() const { return {}; }
  virtual void set_buffers(std::span<const float> values) { (void)values; }

  /// The team that forward and backward work with; it must outlive their calls. Results do not depend on its size.
  void work_with(ThreadPool& pool) { pool_ = &pool; }

  /// From here on training (not sampling) hides this share of the inputs, and scale the others up. Networks that cannot
  /// leave it aside.
  virtual void drop_inputs(double share) { (void)share; }

  /// From here on dropout draws from this stream.
  virtual void reseed(std::uint64_t seed) = 0;

  /// A TorchScript module with the scaling inside: rows as read in, outputs out.
  virtual void export_torchscript(const std::string& path, const Scaling& scaling) const = 0;

 protected:
  [[nodiscard]] ThreadPool& pool() const noexcept { return *pool_; }

 private:
  ThreadPool* pool_ = nullptr;
};

/// A network with random parameters (seeded) for rows of the given shape. "cnn" and TorchScript files load libtorch.
[[nodiscard]] std::unique_ptr<Network> make_network(const NetworkSpec& spec, const Features& inputs,
                                                    std::size_t outputs, std::uint64_t seed, const RunContext& context);

}  // namespace wisecrowd
