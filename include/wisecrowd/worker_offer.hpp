#pragma once

#include <cstdint>
#include <limits>

namespace wisecrowd {

inline constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

/// On what terms a worker can be had.
struct WorkerOffer {
  double cost = 1;                      ///< of one answer
  std::uint32_t capacity = kUnlimited;  ///< how many more answers it gives
  bool available = true;
  double response = 1;  ///< probability that it answers when it is asked; what is not answered is not paid
};

}  // namespace wisecrowd
