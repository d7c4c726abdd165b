#include "learn/shared/torch_plugin.hpp"

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorCode::unsupported, "this build of wisecrowd has no libtorch: choose the model linear or mlp");
}

}  // namespace

std::unique_ptr<Network> make_torch_network(const NetworkSpec&, const Features&, std::size_t, std::uint64_t,
                                            const RunContext&) {
  refuse();
}

void export_dense_torchscript(const std::string&, std::size_t, std::span<const std::size_t>, std::span<const float>,
                              const Scaling&) {
  refuse();
}

}  // namespace wisecrowd
