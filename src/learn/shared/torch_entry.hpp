#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "learn/shared/network.hpp"

namespace wisecrowd {

// What the program and the plugin libwisecrowd_torch.so say to each other. Both are built from the same tree by the
// same compiler, so classes and exceptions may cross; the version and the number below refuse any other.

/// To be raised whenever something in this file, in network.hpp or in a type they name changes its layout.
inline constexpr int kTorchInterface = 2;

/// What the plugin may ask of the program.
struct TorchHost {
  /// Puts a file in its place, complete or not at all.
  void (*write_file)(const std::string& path, std::string_view bytes);
};

/// What the program may ask of the plugin.
struct TorchPlugin {
  const char* version;
  int interface_number;
  std::unique_ptr<Network> (*make_network)(const NetworkSpec& spec, const Features& inputs, std::size_t outputs,
                                           std::uint64_t seed, ThreadPool& pool);
  /// Layers as in DenseNetwork.
  void (*export_dense)(const std::string& path, std::size_t inputs, std::span<const std::size_t> widths,
                       std::span<const float> parameters, const Scaling& scaling);
};

/// The one symbol of the plugin. The answer lives as long as the process.
using TorchEntry = const TorchPlugin*(const TorchHost* host);
inline constexpr const char* kTorchEntryName = "wisecrowd_torch_plugin";

}  // namespace wisecrowd
