// The one door of libwisecrowd_torch.so; see learn/shared/torch_entry.hpp.
#include <torch/csrc/jit/api/module.h>

#include "learn/shared/torch_entry.hpp"
#include "learn/torch/modules.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd {
namespace {

const TorchHost* host = nullptr;

/// Whatever libtorch throws must not leave the plugin: its types are unknown outside.
template <class Work>
auto translated(const std::string& what, const Work& work) {
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& failure) {
    throw Error(ErrorCode::internal, what + ": libtorch fails: " + one_line(failure.what()));
  }
}

std::unique_ptr<Network> make_network(const NetworkSpec& spec, const Features& inputs, std::size_t outputs,
                                      std::uint64_t seed, ThreadPool& pool) {
  return translated("model " + spec.kind, [&] {
    const bool ours = spec.kind == "cnn";
    auto module =
        ours ? convolutional_module(inputs.shape, spec.hidden, spec.dropout, outputs, seed) : load_module(spec.kind);
    return network_of(std::move(module), spec.kind, ours ? ImageLayout::by_pixel : ImageLayout::by_plane, inputs,
                      outputs, seed, pool, *host);
  });
}

void export_dense(const std::string& path, std::size_t inputs, std::span<const std::size_t> widths,
                  std::span<const float> parameters, const Scaling& scaling) {
  const std::string bytes =
      translated(path, [&] { return exported_module(dense_module(inputs, widths, parameters), scaling); });
  host->write_file(path, bytes);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const TorchPlugin* wisecrowd_torch_plugin(const TorchHost* program) {
  static const TorchPlugin plugin{WISECROWD_VERSION, kTorchInterface, make_network, export_dense};
  host = program;
  return &plugin;
}

}  // namespace wisecrowd
