#pragma once

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "coding.hpp"
#include "names_sort.hpp"
#include "plain_array.hpp"
#include "team.hpp"
#include "value_table.hpp"

namespace wisecrowd::python {

/// Codes one column of very many different strings by several threads.
///
/// One table of a million names is larger than the caches, and every row waits for memory. So rows are first dealt out
/// by their hash into parts, whose tables are small; then every part is coded by itself, and the names of all parts are
/// sorted. Every step is cut into jobs, so threads share them as they come. What is dealt out takes 24 bytes per row
/// while it lasts, less than half of what the interpreter needs for a string.
class ManyNames {
 public:
  /// True when it is worth the trouble: many rows, and most neighbours differ.
  [[nodiscard]] static bool fits(std::span<Object* const> values);

  ManyNames(std::span<Object* const> values, const Team& team);

  /// First comes dealing out, whose jobs may run beside other work.
  [[nodiscard]] std::size_t blocks() const noexcept { return (values_.size() + kBlock - 1) / kBlock; }
  void deal(std::size_t block, unsigned worker);
  /// Then all the rest. Returns the row of the first value that is no str, and leaves `result` alone then.
  [[nodiscard]] std::optional<std::size_t> finish(Coded& result);

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 15;
  static constexpr std::size_t kPartBits = 7, kParts = std::size_t{1} << kPartBits;
  static constexpr unsigned kBucketBits = 10;

  struct Dealt {
    std::uint64_t low, high;
    std::uint32_t length;  // once coded: the number of the name
    std::uint32_t row;
  };
  /// Room of one thread, used for one job after the other.
  struct Scratch {
    std::vector<Dealt> rows;
    std::vector<std::uint8_t> part_of;
    ValueTable table;
    std::vector<Ranked> ranked;
  };

  [[nodiscard]] std::size_t rows_in(std::size_t block) const noexcept {
    return std::min(kBlock, values_.size() - block * kBlock);
  }
  [[nodiscard]] std::string_view text_of_name(const Dealt& name, std::string& scratch) const;
  void code(std::size_t part, unsigned worker);
  void find_common_beginning();
  void make_keys();
  void distribute();
  void sort_bucket(std::size_t bucket, unsigned worker, Coded& coded);
  void name_bucket(std::size_t bucket, char* characters, std::uint64_t* offsets) const;
  void give_codes(std::size_t block, Coded& coded) const;
  [[nodiscard]] const Dealt& name_of(const Ranked& entry) const noexcept {
    return found_[entry.number % kParts][entry.number / kParts];
  }

  std::span<Object* const> values_;
  const Team& team_;
  std::vector<Scratch> scratch_;
  PlainArray<Dealt> dealt_;                                        // in blocks, and there by part
  std::vector<std::array<std::uint32_t, kParts + 1>> part_begin_;  // per block
  std::atomic<std::size_t> foreign_;

  std::vector<std::vector<Dealt>> found_;  // per part: the first row of each different name
  std::array<std::size_t, kParts + 1> found_begin_{};
  std::size_t common_ = 0;  // bytes that all names begin with
  Squeezer squeezed_;
  PlainArray<Ranked> keys_, sorted_;
  unsigned bucket_shift_ = 0;  // keys in one bucket differ in no higher bit
  std::vector<std::uint32_t> bucket_begin_;
  std::vector<std::uint64_t> characters_begin_;  // per bucket
  PlainArray<std::uint32_t> ranks_;              // by number
};

}  // namespace wisecrowd::python
