#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace wisecrowd {

class ForeignNetworks;

/// Which function of the features is trained.
struct NetworkSpec {
  /// "linear", "mlp" or "cnn", or the path of a TorchScript module that takes a batch of rows and gives raw logits.
  std::string kind = "mlp";
  std::size_t hidden = 128;  ///< mlp: units of each hidden layer
  std::size_t layers = 1;    ///< mlp: hidden layers
  double dropout = 0.5;      ///< mlp and cnn: share of the last hidden layer that is dropped in training
  /// A network of the caller's own instead (foreign_network.hpp), which is trained but not saved. `dropout` says
  /// whether it drops anything.
  std::shared_ptr<ForeignNetworks> foreign = nullptr;
};

/// The largest networks, wherever their sizes come from.
inline constexpr std::size_t kMostHidden = std::size_t{1} << 20, kMostLayers = 100;
inline constexpr double kMostDropout = 0.99;
/// linear, mlp or cnn; anything else is the path of a TorchScript module.
[[nodiscard]] bool is_native_network(std::string_view kind);
/// Throws bad_parameter unless the sizes are within their bounds, from 1 for hidden units and layers.
void validate(const NetworkSpec& network);

}  // namespace wisecrowd
