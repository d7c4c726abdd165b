#include "simulate/alias_table.hpp"

#include <numeric>

namespace wisecrowd {

AliasTable::AliasTable(std::span<const double> weights) : cells_(weights.size()) {
  const double mean = std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(weights.size());
  std::vector<std::uint32_t> poor;
  std::vector<std::uint32_t> rich;
  for (std::uint32_t i = 0; i < cells_.size(); ++i) {
    cells_[i] = {weights[i] / mean, i};
    (cells_[i].keep < 1 ? poor : rich).push_back(i);
  }
  while (!poor.empty() && !rich.empty()) {
    const std::uint32_t taker = poor.back();
    const std::uint32_t giver = rich.back();
    poor.pop_back();
    cells_[taker].alias = giver;
    cells_[giver].keep -= 1 - cells_[taker].keep;
    if (cells_[giver].keep < 1) {
      rich.pop_back();
      poor.push_back(giver);
    }
  }
  // What is left over is 1 up to rounding.
  for (const std::uint32_t i : poor) cells_[i].keep = 1;
  for (const std::uint32_t i : rich) cells_[i].keep = 1;
}

}  // namespace wisecrowd
