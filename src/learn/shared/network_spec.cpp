#include <fmt/core.h>

#include "wisecrowd/learn.hpp"

namespace wisecrowd {

bool is_native_network(std::string_view kind) { return kind == "linear" || kind == "mlp" || kind == "cnn"; }

void validate(const NetworkSpec& network) {
  const auto refuse = [](const char* what, auto value, auto least, auto most) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("{} of the network cannot be {}: give a number from {} to {}", what, value, least, most));
  };
  if (network.hidden < 1 || network.hidden > kMostHidden) refuse("hidden", network.hidden, 1, kMostHidden);
  if (network.layers < 1 || network.layers > kMostLayers) refuse("layers", network.layers, 1, kMostLayers);
  if (!(network.dropout >= 0 && network.dropout <= kMostDropout)) refuse("dropout", network.dropout, 0, kMostDropout);
}

}  // namespace wisecrowd
