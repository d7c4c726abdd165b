#include "ingest/text_features.hpp"

#include <algorithm>
#include <cmath>

#include "base/hash.hpp"
#include "base/math.hpp"

namespace wisecrowd::ingest {
namespace {

/// The character at `at` and its length; the text is known to be UTF-8, and damage counts as one byte.
char32_t character(std::string_view text, std::size_t at, std::size_t& length) {
  const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[at + i])); };
  const char32_t lead = byte(0);
  length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length == 1 || at + length > text.size()) {
    length = 1;
    return lead < 0x80 ? lead : U' ';
  }
  char32_t code = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = (code << 6) | (byte(i) & 0x3F);
  return code;
}

void append_utf8(char32_t c, std::string& out) {
  const auto add = [&](char32_t bits) { out += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xC0 | (c >> 6));
    add(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    add(0xE0 | (c >> 12));
    add(0x80 | ((c >> 6) & 0x3F));
    add(0x80 | (c & 0x3F));
  } else {
    add(0xF0 | (c >> 18));
    add(0x80 | ((c >> 12) & 0x3F));
    add(0x80 | ((c >> 6) & 0x3F));
    add(0x80 | (c & 0x3F));
  }
}

/// The scripts with two cases that most texts are written in: Latin, Greek, Cyrillic, Armenian.
char32_t lower(char32_t c) {
  if (c < 0x80) return c >= U'A' && c <= U'Z' ? c + 32 : c;
  if (c >= 0xC0 && c <= 0xDE && c != 0xD7) return c + 32;
  if (c == 0x130) return U'i';
  if (c == 0x178) return 0xFF;
  if ((c >= 0x100 && c <= 0x137) || (c >= 0x14A && c <= 0x177)) return c | 1;
  if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E)) return c % 2 == 1 ? c + 1 : c;
  if (c >= 0x391 && c <= 0x3AB && c != 0x3A2) return c + 32;
  if (c == 0x386) return 0x3AC;
  if (c >= 0x388 && c <= 0x38A) return c + 37;
  if (c == 0x38C) return 0x3CC;
  if (c == 0x38E || c == 0x38F) return c + 63;
  if (c >= 0x400 && c <= 0x40F) return c + 80;
  if (c >= 0x410 && c <= 0x42F) return c + 32;
  if (c >= 0x460 && c <= 0x4BF) return c | 1;
  if (c >= 0x531 && c <= 0x556) return c + 48;
  if (c >= 0x1E00 && c <= 0x1EFF) return c | 1;
  return c;
}

bool is_ideograph(char32_t c) {
  return (c >= 0x3040 && c <= 0x30FF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x20000 && c <= 0x3FFFF);
}

/// Blanks, punctuation and symbols are not.
bool is_word_part(char32_t c) {
  if (c < 0x80) return (c >= U'0' && c <= U'9') || (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z');
  if (c < 0xC0) return c == 0xAA || c == 0xB5 || c == 0xBA;
  if (c == 0xD7 || c == 0xF7) return false;
  if (c >= 0x2000 && c <= 0x2BFF) return false;  // punctuation, currency, arrows, operators, shapes
  if (c >= 0x3000 && c <= 0x303F) return false;  // of East Asia
  if ((c >= 0xFE10 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF0F) || (c >= 0xFF1A && c <= 0xFF20)) return false;
  return c != 0x1680 && c != 0xFEFF && c != 0xFFFD && c != 0x60C && c != 0x61B && c != 0x61F && c != 0x6D4 &&
         c != 0x964 && c != 0x965;
}

bool is_apostrophe(char32_t c) { return c == U'\'' || c == 0x2019; }

}  // namespace

bool Words::next(std::string_view text, std::size_t& at) {
  word_.clear();
  std::size_t length = 0;
  while (at < text.size()) {
    const char32_t c = character(text, at, length);
    if (is_word_part(c)) {
      if (is_ideograph(c)) {
        if (!word_.empty()) return true;
        append_utf8(c, word_);
        at += length;
        return true;
      }
      append_utf8(lower(c), word_);
      at += length;
      continue;
    }
    if (is_apostrophe(c) && !word_.empty() && at + length < text.size()) {
      std::size_t after = 0;
      const char32_t following = character(text, at + length, after);
      if (is_word_part(following) && !is_ideograph(following)) {
        word_ += '\'';
        at += length;
        continue;
      }
    }
    at += length;
    if (!word_.empty()) return true;
  }
  return !word_.empty();
}

void WordCounts::append_row(const WordCounts& from, std::size_t row) {
  for (std::uint64_t e = from.begin(row); e < from.ends[row]; ++e) {
    words.push_back(from.words[e]);
    counts.push_back(from.counts[e]);
  }
  ends.push_back(words.size());
}

void WordCounts::clear() {
  ends.clear();
  words.clear();
  counts.clear();
}

void WordCounter::count(std::string_view text, WordCounts& counts) {
  found_.clear();
  std::uint64_t before = 0;
  bool first = true;
  words_.for_each(text, [&](std::string_view word) {
    const std::uint64_t hash = hash_bytes(word, 0);
    found_.push_back(hash);
    if (!first) found_.push_back(before * 0xD6E8FEB86659FD93ULL + hash);
    before = hash;
    first = false;
  });
  std::sort(found_.begin(), found_.end());
  for (std::size_t i = 0; i < found_.size();) {
    std::size_t end = i;
    while (end < found_.size() && found_[end] == found_[i]) ++end;
    counts.words.push_back(found_[i]);
    counts.counts.push_back(static_cast<std::uint32_t>(end - i));
    i = end;
  }
  counts.ends.push_back(counts.words.size());
}

void choose_words(const WordCounts& counts, std::span<const Split> split, std::size_t most, FeatureRecipe& recipe) {
  auto texts = static_cast<std::size_t>(std::count(split.begin(), split.end(), Split::train));
  const bool all = texts == 0;
  if (all) texts = counts.rows();
  std::vector<std::uint64_t> met;
  for (std::size_t r = 0; r < counts.rows(); ++r) {
    if (!all && split[r] != Split::train) continue;
    met.insert(met.end(), counts.words.begin() + static_cast<std::ptrdiff_t>(counts.begin(r)),
               counts.words.begin() + static_cast<std::ptrdiff_t>(counts.ends[r]));
  }
  std::sort(met.begin(), met.end());
  struct Word {
    std::uint64_t hash;
    std::uint64_t texts;
  };
  std::vector<Word> words;
  for (const std::size_t fewest : {2, 1}) {
    for (std::size_t i = 0; i < met.size();) {
      std::size_t end = i;
      while (end < met.size() && met[end] == met[i]) ++end;
      if (end - i >= fewest) words.push_back({met[i], end - i});
      i = end;
    }
    if (!words.empty()) break;
  }
  if (words.empty()) words.push_back({0, 0});  // no text has a word: one column that is always 0
  if (words.size() > most) {
    std::stable_sort(words.begin(), words.end(), [](const Word& a, const Word& b) { return a.texts > b.texts; });
    words.resize(most);
    std::sort(words.begin(), words.end(), [](const Word& a, const Word& b) { return a.hash < b.hash; });
  }
  recipe.words.clear();
  recipe.rarity.clear();
  for (const Word& word : words) {
    recipe.words.push_back(word.hash);
    recipe.rarity.push_back(static_cast<float>(
        math::log((1.0 + static_cast<double>(texts)) / (1.0 + static_cast<double>(word.texts))) + 1.0));
  }
}

Features weigh_words(const WordCounts& counts, const FeatureRecipe& recipe) {
  Features features;
  features.rows = counts.rows();
  features.shape = {recipe.words.size()};
  features.offsets = {0};
  for (std::size_t r = 0; r < counts.rows(); ++r) {
    double squares = 0;
    for (std::uint64_t e = counts.begin(r); e < counts.ends[r]; ++e) {
      const auto found = std::lower_bound(recipe.words.begin(), recipe.words.end(), counts.words[e]);
      if (found == recipe.words.end() || *found != counts.words[e]) continue;
      const auto column = static_cast<std::uint32_t>(found - recipe.words.begin());
      const float value = static_cast<float>(counts.counts[e]) * recipe.rarity[column];
      squares += static_cast<double>(value) * value;
      features.indices.push_back(column);
      features.values.push_back(value);
    }
    const auto factor = static_cast<float>(squares > 0 ? 1 / std::sqrt(squares) : 0);
    for (std::uint64_t e = features.offsets.back(); e < features.values.size(); ++e) features.values[e] *= factor;
    features.offsets.push_back(features.indices.size());
  }
  return features;
}

}  // namespace wisecrowd::ingest
