#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <string_view>

namespace wisecrowd {

/// XXH3, the one hash of the house.
[[nodiscard]] inline std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace wisecrowd
