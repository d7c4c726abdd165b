#include "ingest/text_features.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace wisecrowd::ingest {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> list;
  Words words;
  words.for_each(text, [&](std::string_view word) { list.emplace_back(word); });
  return list;
}
using List = std::vector<std::string>;

TEST(Words, AreCutAndLowered) {
  EXPECT_EQ(words_of("The cast is GREAT , isn't it?"), (List{"the", "cast", "is", "great", "isn't", "it"}));
  EXPECT_EQ(words_of("'quoted' rock'n'roll 3.5 a-b"), (List{"quoted", "rock'n'roll", "3", "5", "a", "b"}));
  EXPECT_EQ(words_of("don’t"), (List{"don't"})) << "the typographic apostrophe is the same";
  EXPECT_EQ(words_of(""), List{});
  EXPECT_EQ(words_of(" ,.!\n"), List{});
}

TEST(Words, OtherScripts) {
  EXPECT_EQ(words_of("CAFÉ Ünïted ŁÓDŹ Œuvre"), (List{"café", "ünïted", "łódź", "œuvre"}));
  EXPECT_EQ(words_of("ΑΘΉΝΑ Ёлка МОСКВА"), (List{"αθήνα", "ёлка", "москва"}));
  EXPECT_EQ(words_of("今日は、良い。abc日"), (List{"今", "日", "は", "良", "い", "abc", "日"}));
  EXPECT_EQ(words_of("wow… “so—good” €5"), (List{"wow", "so", "good", "5"}));
  EXPECT_EQ(words_of("naïve\xF0\x9F\x98\x80 x"), (List{"naïve😀", "x"})) << "emoji say something";
  EXPECT_EQ(words_of("a\xFF\xC3"), (List{"a"})) << "damage separates, and is not read past";
}

WordCounts counts_of(const List& texts) {
  WordCounts counts;
  WordCounter counter;
  for (const auto& text : texts) counter.count(text, counts);
  return counts;
}

TEST(WordCounter, CountsWordsAndPairs) {
  const WordCounts counts = counts_of({"a b a b", "b a", ""});
  ASSERT_EQ(counts.rows(), 3U);
  EXPECT_EQ(counts.ends[0], 4U) << "a, b, a b, b a";
  EXPECT_TRUE(std::is_sorted(counts.words.begin(), counts.words.begin() + 4));
  std::multiset<std::uint32_t> repeated(counts.counts.begin(), counts.counts.begin() + 4);
  EXPECT_EQ(repeated, (std::multiset<std::uint32_t>{1, 2, 2, 2}));
  EXPECT_EQ(counts.ends[1] - counts.ends[0], 3U) << "b, a, b a";
  EXPECT_EQ(counts.ends[2], counts.ends[1]);
}

/// By the definition, over a map.
TEST(TextFeatures, MatchTheSlowWay) {
  const List texts = {"good film", "good good fun", "bad film", "not good", "a bad bad thing", "good thing"};
  const std::vector<Split> split = {Split::train, Split::train, Split::train, Split::train, Split::test, Split::test};
  const WordCounts counts = counts_of(texts);
  FeatureRecipe recipe;
  choose_words(counts, split, 1000, recipe);
  // In two train texts: good (3 of 4) and film (2 of 4); all pairs occur once.
  ASSERT_EQ(recipe.words.size(), 2U);
  EXPECT_TRUE(std::is_sorted(recipe.words.begin(), recipe.words.end()));
  const double good = std::log(5.0 / 4) + 1, film = std::log(5.0 / 3) + 1;
  EXPECT_NEAR(std::max(recipe.rarity[0], recipe.rarity[1]), film, 1e-6);
  EXPECT_NEAR(std::min(recipe.rarity[0], recipe.rarity[1]), good, 1e-6);
  const std::size_t film_at = recipe.rarity[0] > recipe.rarity[1] ? 0 : 1;
  const Features features = weigh_words(counts, recipe);
  ASSERT_EQ(features.rows, 6U);
  ASSERT_EQ(features.columns(), 2U);
  const auto at = [&](std::size_t row, std::size_t column) {
    for (auto e = features.offsets[row]; e < features.offsets[row + 1]; ++e) {
      if (features.indices[e] == column) return features.values[e];
    }
    return 0.0F;
  };
  EXPECT_NEAR(at(0, film_at), film / std::hypot(film, good), 1e-6);
  EXPECT_NEAR(at(0, 1 - film_at), good / std::hypot(film, good), 1e-6);
  EXPECT_NEAR(at(1, 1 - film_at), 1, 1e-6) << "twice good, nothing else that counts";
  EXPECT_EQ(features.offsets[5], features.offsets[4]) << "a text of unknown words is empty";
  EXPECT_NEAR(at(5, 1 - film_at), 1, 1e-6);
}

TEST(TextFeatures, TheMostCommonAreKept) {
  FeatureRecipe recipe;
  choose_words(counts_of({"a b c", "a b", "a c", "b a"}), std::vector<Split>(4, Split::train), 2, recipe);
  ASSERT_EQ(recipe.words.size(), 2U);
  EXPECT_NEAR(std::min(recipe.rarity[0], recipe.rarity[1]), 1.0, 1e-6) << "a is in every text";
  EXPECT_NEAR(std::max(recipe.rarity[0], recipe.rarity[1]), std::log(5.0 / 4) + 1, 1e-6) << "b is in three";
}

TEST(TextFeatures, SmallAndEmptyCollections) {
  FeatureRecipe recipe;
  choose_words(counts_of({"one two"}), std::vector<Split>{Split::train}, 100, recipe);
  EXPECT_EQ(recipe.words.size(), 3U) << "when nothing occurs twice, everything counts";
  const WordCounts none = counts_of({"", "..."});
  choose_words(none, std::vector<Split>(2, Split::train), 100, recipe);
  EXPECT_EQ(recipe.words.size(), 1U);
  EXPECT_TRUE(weigh_words(none, recipe).indices.empty());
  choose_words(counts_of({"a", "a"}), std::vector<Split>(2, Split::test), 100, recipe);
  EXPECT_EQ(recipe.words.size(), 1U) << "without train texts, all are looked at";
}

}  // namespace
}  // namespace wisecrowd::ingest
