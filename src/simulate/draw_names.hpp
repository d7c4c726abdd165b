#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "wisecrowd/answer_graph.hpp"

namespace wisecrowd {

/// "task_000000", "task_000001" …
[[nodiscard]] inline NameTable numbered_names(const char* prefix, std::size_t count) {
  std::vector<std::string> names;
  names.reserve(count);
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}_{:06}", prefix, i));
  return NameTable(names);
}

/// `count` different workers for a task, sorted.
inline void draw_workers(Rng& rng, std::size_t workers, std::size_t count, std::vector<std::uint32_t>& chosen) {
  chosen.clear();
  for (std::size_t left = workers - count; left < workers; ++left) {  // Floyd's algorithm
    const auto pick = static_cast<std::uint32_t>(rng.below(left + 1));
    const bool taken = std::find(chosen.begin(), chosen.end(), pick) != chosen.end();
    chosen.push_back(taken ? static_cast<std::uint32_t>(left) : pick);
  }
  std::sort(chosen.begin(), chosen.end());
}

}  // namespace wisecrowd
