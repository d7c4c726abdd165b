#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace wisecrowd {

/// A network that the caller brings along, such as a module of another library: a differentiable function of rows,
/// which it knows by their numbers alone. Its parameters lie here, where they are moved, averaged and kept; it is given
/// them with every call.
class ForeignNetwork {
 public:
  enum class Mode {
    predict,  ///< no dropout, nothing kept
    train,    ///< dropout; keeps what backward() needs
    sample,   ///< dropout, nothing kept: one draw of MC-dropout
  };
  virtual ~ForeignNetwork() = default;

  /// The parameters to begin with.
  [[nodiscard]] virtual std::vector<float> parameters() const = 0;
  /// outputs = rows × the number of outputs that was asked for, row-major.
  virtual void forward(std::span<const float> parameters, std::span<const std::uint32_t> rows, Mode mode,
                       std::span<float> outputs) = 0;
  /// Adds to `gradients`, one per parameter, what the last forward(train) and the gradient at its outputs give.
  virtual void backward(std::span<const float> output_gradients, std::span<float> gradients) = 0;
  /// State that is not trained by gradients.
  [[nodiscard]] virtual std::vector<float> buffers() const { return {}; }
  virtual void set_buffers(std::span<const float> values) { (void)values; }
  /// From here on training hides this share of the inputs, if it can.
  virtual void drop_inputs(double share) { (void)share; }
  /// From here on dropout draws from this stream.
  virtual void reseed(std::uint64_t seed) = 0;
};

/// Makes one for each training.
class ForeignNetworks {
 public:
  virtual ~ForeignNetworks() = default;
  [[nodiscard]] virtual std::unique_ptr<ForeignNetwork> make(std::size_t outputs, std::uint64_t seed) = 0;
};

}  // namespace wisecrowd
