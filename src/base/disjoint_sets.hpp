#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace wisecrowd {

/// Things that are joined pair by pair, and which of them belong together then (union–find).
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count), size_(count, 1) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  /// One of the set, the same for all that belong to it.
  [[nodiscard]] std::uint32_t find(std::uint32_t one) noexcept {
    while (parent_[one] != one) {
      parent_[one] = parent_[parent_[one]];
      one = parent_[one];
    }
    return one;
  }
  void join(std::uint32_t one, std::uint32_t two) noexcept {
    one = find(one);
    two = find(two);
    if (one == two) return;
    if (size_[one] < size_[two]) std::swap(one, two);
    parent_[two] = one;
    size_[one] += size_[two];
  }

 private:
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> size_;
};

}  // namespace wisecrowd
