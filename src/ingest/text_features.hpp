#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/features.hpp"

namespace wisecrowd::ingest {

/// Calls `visit` for each word of UTF-8 text, in lower case. Letters, digits and marks make words, also with an
/// apostrophe inside; every ideograph and kana is a word of its own, because such text has no blanks.
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

/// Words of many texts by their hash, with counts; those of row r are [ends[r-1], ends[r]), in rising order.
struct WordCounts {
  std::vector<std::uint64_t> ends;
  std::vector<std::uint64_t> words;
  std::vector<std::uint32_t> counts;

  [[nodiscard]] std::size_t rows() const noexcept { return ends.size(); }
  [[nodiscard]] std::uint64_t begin(std::size_t r) const noexcept { return r == 0 ? 0 : ends[r - 1]; }
  void append_row(const WordCounts& from, std::size_t row);
  void clear();
};

/// Counts words and pairs of neighbouring words.
class WordCounter {
 public:
  /// Appends a row.
  void count(std::string_view text, WordCounts& counts);

 private:
  Words words_;
  std::vector<std::uint64_t> found_;
};

/// Chooses what is worth a column: the words and pairs that the most train texts have (all texts, if none is for
/// training), at most `most`, and how rare each is. What occurs in a single text teaches nothing about others and is
/// left out, unless there is nothing else.
void choose_words(const WordCounts& counts, std::span<const Split> split, std::size_t most, FeatureRecipe& recipe);

/// Sparse rows of count × rarity, each of length 1; words without a column are left out.
[[nodiscard]] Features weigh_words(const WordCounts& counts, const FeatureRecipe& recipe);

}  // namespace wisecrowd::ingest
