#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "learn/shared/network.hpp"

namespace wisecrowd {

/// A network that lives in the libtorch plugin ("cnn", or a TorchScript file). Loads the plugin at the first call.
[[nodiscard]] std::unique_ptr<Network> make_torch_network(const NetworkSpec& spec, const Features& inputs,
                                                          std::size_t outputs, std::uint64_t seed,
                                                          const RunContext& context);

/// Writes fully connected layers (as in DenseNetwork) as a TorchScript module with the scaling inside.
void export_dense_torchscript(const std::string& path, std::size_t inputs, std::span<const std::size_t> widths,
                              std::span<const float> parameters, const Scaling& scaling);

/// Where the plugin was found, or an empty path when this build or installation has none. Does not load it.
[[nodiscard]] std::string torch_plugin_path();

}  // namespace wisecrowd
