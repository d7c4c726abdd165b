#pragma once

#include <memory>

#include "learn/shared/network.hpp"

namespace wisecrowd {

class ForeignNetworks;

/// A network of the caller's as one of ours: its parameters and their gradients lie here.
[[nodiscard]] std::unique_ptr<Network> make_foreign_network(ForeignNetworks& networks, std::size_t outputs,
                                                            std::uint64_t seed);

}  // namespace wisecrowd
