#include "simulate/crowd.hpp"

#include <fmt/core.h>

#include <cmath>
#include <numeric>
#include <utility>

namespace wisecrowd {

std::string worker_name(std::size_t worker) { return fmt::format("worker_{:06}", worker + 1); }

std::vector<std::uint32_t> choose_workers(std::size_t workers, std::size_t count, Rng rng) {
  std::vector<std::uint32_t> all(workers);
  std::iota(all.begin(), all.end(), 0U);
  for (std::size_t i = 0; i < count; ++i) std::swap(all[i], all[i + rng.below(workers - i)]);
  all.resize(count);
  return all;
}

std::size_t share_of(double share, std::size_t workers) noexcept {
  return static_cast<std::size_t>(std::llround(share * static_cast<double>(workers)));
}

}  // namespace wisecrowd
