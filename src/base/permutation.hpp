#pragma once

#include <bit>
#include <cstdint>

#include "base/rng.hpp"

namespace wisecrowd {

/// A random permutation of {0, …, n−1} that takes no memory: a Feistel network over just enough bits, walked until it
/// lands below n.
class Permutation {
 public:
  Permutation(std::uint64_t count, Rng rng) noexcept : count_(count) {
    const unsigned bits = count < 3 ? 2 : static_cast<unsigned>(std::bit_width(count - 1));
    low_bits_ = bits / 2;
    low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
    high_mask_ = (std::uint64_t{1} << (bits - low_bits_)) - 1;
    for (auto& key : keys_) key = rng.next();
  }

  [[nodiscard]] std::uint64_t operator()(std::uint64_t position) const noexcept {
    do {
      std::uint64_t low = position & low_mask_;
      std::uint64_t high = position >> low_bits_;
      for (int round = 0; round < kRounds; round += 2) {
        low = (low ^ scramble(high + keys_[round])) & low_mask_;
        high = (high ^ scramble(low + keys_[round + 1])) & high_mask_;
      }
      position = high << low_bits_ | low;
    } while (position >= count_);
    return position;
  }

 private:
  static constexpr int kRounds = 6;
  static std::uint64_t scramble(std::uint64_t x) noexcept {
    x *= 0x9E3779B97F4A7C15ULL;
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93ULL;
    return x ^ x >> 32;
  }

  std::uint64_t count_;
  unsigned low_bits_;
  std::uint64_t low_mask_, high_mask_;
  std::uint64_t keys_[kRounds]{};
};

}  // namespace wisecrowd
