#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "coding.hpp"
#include "value_table.hpp"

namespace wisecrowd::python {

/// Codes one column of very many different strings by several threads.
///
/// One table of a million names is larger than the caches, and every row waits for memory. So rows are first dealt out
/// by their hash into parts, whose tables are small, and then every part is coded by itself. Blocks of rows and parts
/// are jobs of their own, so threads share them as they come. Rows go in rounds, because what is dealt out takes 24
/// bytes each.
class ManyNames {
 public:
  /// True when it is worth the trouble: many rows, and most of the first ones differ.
  [[nodiscard]] static bool fits(std::span<Object* const> values);

  explicit ManyNames(std::span<Object* const> values);

  [[nodiscard]] std::size_t rounds() const noexcept { return (values_.size() + kRound - 1) / kRound; }
  void begin_round(std::size_t round);
  [[nodiscard]] std::size_t blocks() const noexcept { return (round_end_ - round_begin_ + kBlock - 1) / kBlock; }
  /// Deals out the rows of one block of the round.
  void deal(std::size_t block);
  static constexpr std::size_t kPartBits = 7, kParts = std::size_t{1} << kPartBits;
  /// Codes what all blocks of the round dealt to one part.
  void code(std::size_t part);
  /// Brings the numbers that the parts gave back to the rows of one block. Parts do not do it themselves: they would
  /// write all over memory.
  void settle(std::size_t block);
  /// The first value that is no str, after the rounds.
  [[nodiscard]] std::optional<std::size_t> foreign() const;

  /// Sorts the names. Then rows can be given their codes, block by block, while the table of names is made.
  void sort();
  [[nodiscard]] std::size_t all_blocks() const noexcept { return (values_.size() + kBlock - 1) / kBlock; }
  void rank(std::size_t block);
  void name();
  [[nodiscard]] Coded take() && { return std::move(coded_); }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 16;
  static constexpr std::size_t kRound = kBlock * 128;

  struct Dealt {
    std::uint64_t low, high;
    std::uint32_t length;  // once coded: the number of the name
    std::uint32_t row;
  };
  struct Block {
    std::unique_ptr<Dealt[]> rows;
    std::vector<std::uint32_t> offsets;  // of the parts
  };
  struct Part {
    ValueTable table;
    std::vector<Dealt> found;  // the first row of each different name
  };

  std::span<Object* const> values_;
  std::size_t round_begin_ = 0, round_end_ = 0;
  std::vector<Block> dealt_;
  std::vector<Part> parts_;
  std::atomic<std::size_t> foreign_;
  Coded coded_;
  NameTable unsorted_;
  std::vector<std::uint32_t> order_, ranks_;
};

}  // namespace wisecrowd::python
