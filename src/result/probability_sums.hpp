#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/huge_vector.hpp"

namespace wisecrowd {

/// Many sums of probabilities, added to by many threads. Probabilities are added as integers (multiples of 2^-31), so
/// that the sums are the same bits in whatever order the threads come; 2^32 answers, the most there can be, still fit.
///
/// Few cells: every thread has a table of its own. Many cells: one table with atomic adds, which then seldom meet.
class ProbabilitySums {
 public:
  static constexpr double kUnit = 0x1p31;

  ProbabilitySums(std::size_t cells, unsigned threads) : cells_(cells) {
    const std::size_t own_tables = cells * threads <= kMaxOwnCells ? threads : 1;
    shared_ = own_tables < threads;
    tables_.resize(own_tables);
    for (auto& table : tables_) table.assign(cells, 0);
  }

  [[nodiscard]] static std::uint64_t units(double probability) noexcept {
    return static_cast<std::uint64_t>(probability * kUnit + 0.5);
  }

  void add(unsigned thread, std::size_t cell, std::uint64_t amount) noexcept {
    if (shared_) {
      std::atomic_ref(tables_[0][cell]).fetch_add(amount, std::memory_order_relaxed);
    } else {
      tables_[thread][cell] += amount;
    }
  }

  /// The sum of all threads.
  [[nodiscard]] std::uint64_t total(std::size_t cell) const noexcept {
    std::uint64_t sum = 0;
    for (const auto& table : tables_) sum += table[cell];
    return sum;
  }
  [[nodiscard]] std::size_t size() const noexcept { return cells_; }

 private:
  static constexpr std::size_t kMaxOwnCells = std::size_t{1} << 24;  // 128 MB for all threads together

  std::size_t cells_;
  bool shared_ = false;
  std::vector<HugeVector<std::uint64_t>> tables_;
};

}  // namespace wisecrowd
