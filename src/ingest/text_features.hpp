#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/features.hpp"

namespace wisecrowd::ingest {

inline constexpr unsigned kFewestHashBits = 4;
inline constexpr unsigned kMostHashBits = 22;

/// Calls for each word of UTF-8 text, in lower case. Letters, digits and marks make words, also with an apostrophe
/// inside; every ideograph and kana is a word of its own, because such text has no blanks.
class Words {
 public:
  template <class Visit>
  void for_each(std::string_view text, const Visit& visit) {
    std::size_t at = 0;
    while (next(text, at)) visit(std::string_view(word_));
  }

 private:
  /// Puts the next word into word_; false at the end.
  bool next(std::string_view text, std::size_t& at);
  std::string word_;
};

/// Counts words and pairs of neighbouring words of a text in 2^bits columns.
class WordCounter {
 public:
  explicit WordCounter(unsigned bits) : bits_(bits) {}
  /// Appends a sparse row: columns in rising order with their counts.
  void append(std::string_view text, std::vector<std::uint32_t>& columns, std::vector<float>& counts);

 private:
  [[nodiscard]] std::uint32_t column(std::uint64_t hash) const noexcept {
    return static_cast<std::uint32_t>((hash * 0x9E3779B97F4A7C15ULL) >> (64 - bits_));
  }
  unsigned bits_;
  Words words_;
  std::vector<std::uint32_t> found_;
};

/// How rare each column is among the train rows (all rows if none is); 0 for columns that none of them has.
[[nodiscard]] std::vector<float> learn_rarity(const Features& counts, std::span<const Split> split);

/// Counts × rarity, each row of length 1. Entries without weight are dropped.
void weigh_by_rarity(Features& counts, std::span<const float> rarity);

}  // namespace wisecrowd::ingest
