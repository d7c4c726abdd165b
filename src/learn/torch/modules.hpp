#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "learn/shared/network.hpp"
#include "learn/shared/torch_entry.hpp"

namespace torch::jit {
struct Module;
}

namespace wisecrowd {

// Every network of the plugin is a TorchScript module, ours as well as the user's: one way to train, sample, save and
// export. The same seed and number of threads give the same bits; libtorch's sums depend on the number of threads.
// A module takes scaled rows, (batch, columns) or (batch, channels, height, width), and gives (batch, outputs).

/// The network of the cat and dog experiments (Max-MIG, deepBP) for images of any size: four times 3×3 convolution,
/// pooling and ReLU, batch normalisation after the first, then a hidden layer with dropout, then the outputs.
///
/// Images of less than 46 pixels are padded by one pixel before each convolution, and nothing is pooled below 4 pixels,
/// so that any image fits. Weights are drawn by Glorot's rule, biases are 0.
[[nodiscard]] torch::jit::Module convolutional_module(std::span<const std::size_t> shape, std::size_t hidden,
                                                      double dropout, std::size_t outputs, std::uint64_t seed);

/// Fully connected layers with ReLU between them; parameters as in DenseNetwork.
[[nodiscard]] torch::jit::Module dense_module(std::size_t inputs, std::span<const std::size_t> widths,
                                              std::span<const float> parameters);

/// The user's module, from a file that is there. Throws io or bad_input, naming it. Of a module that wisecrowd
/// exported, the network inside.
[[nodiscard]] torch::jit::Module load_module(const std::string& path);

/// The bytes of a module that takes rows as read, (batch, columns), (batch, height, width) or (batch, height, width,
/// channels) of any type, and scales them itself.
[[nodiscard]] std::string exported_module(const torch::jit::Module& network, const Scaling& scaling);

/// How the images that a module gets lie in memory; their shape is the same. Convolutions are faster pixel by pixel
/// (which is also how our features lie), but what they give then cannot be reshaped by view(), as users' modules may
/// do.
enum class ImageLayout { by_plane, by_pixel };

/// A network around a module. `name` is for messages. Checks with two rows that the module gives what is needed.
[[nodiscard]] std::unique_ptr<Network> network_of(torch::jit::Module module, std::string name, ImageLayout layout,
                                                  const Features& inputs, std::size_t outputs, std::uint64_t seed,
                                                  ThreadPool& pool, const TorchHost& host);

/// What libtorch has to say about a failure, in one line: its own messages carry traces of stacks and of the script.
[[nodiscard]] std::string one_line(const std::string& message);

}  // namespace wisecrowd
