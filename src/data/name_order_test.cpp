#include "data/name_order.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/rng.hpp"

namespace wisecrowd {
namespace {

TEST(NameOrder, NumbersInNamesCompareAsNumbers) {
  const std::vector<std::string> ordered{"",
                                         "-1",
                                         "/",
                                         "0",
                                         "00",
                                         "01",
                                         "1",
                                         "2",
                                         "9",
                                         "010",
                                         "10",
                                         "10a",
                                         "10a2",
                                         "10a10",
                                         "99",
                                         "100",
                                         ":",
                                         "A",
                                         "a",
                                         "a-1",
                                         "a1b9",
                                         "a1b0010",
                                         "a01b11",
                                         "t",
                                         "t 1",
                                         "t1",
                                         "t2",
                                         "t10",
                                         "t10b",
                                         "t123456789",
                                         "t1234567890",
                                         "t1234567891",
                                         "t12345678901",
                                         "t99999999999999999999999",
                                         "ta",
                                         "u0",
                                         "\xC3\xA9"};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      EXPECT_EQ(comes_before(ordered[i], ordered[j]), i < j) << ordered[i] << " and " << ordered[j];
    }
  }
}

/// Ranks against a plain sort by comes_before.
void expect_sorted(std::vector<std::string> names, std::uint64_t seed) {
  std::vector<std::string> expected = names;
  std::stable_sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) { return comes_before(a, b); });
  for (const unsigned threads : {1U, 3U}) {
    ThreadPool pool(threads);
    EXPECT_TRUE(ranks_in_order(NameTable(expected), pool).empty());
    Rng rng(seed);
    rng.shuffle(std::span(names));
    const NameTable table(names);
    const auto ranks = ranks_in_order(table, pool);
    const NameTable sorted = reordered(table, ranks, pool);
    ASSERT_EQ(sorted.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(sorted[i], expected[i]);
    for (std::size_t i = 0; i < ranks.size(); ++i) ASSERT_EQ(expected[ranks[i]], names[i]);
  }
}

TEST(NameOrder, RanksAreThoseOfAPlainSort) {
  std::vector<std::string> plain, prefixed, padded, mixed, alike;
  Rng rng(3);
  for (std::size_t i = 0; i < 40'000; ++i) {
    plain.push_back(fmt::format("{}", i * 7));
    prefixed.push_back(fmt::format("https://tasks.example/{}/image-{}.png", i % 13, i));
    padded.push_back(fmt::format("1{:06}", i));
  }
  for (std::size_t i = 0; i < 3000; ++i) {
    std::string name;
    for (std::size_t c = rng.below(14); c > 0; --c) name += static_cast<char>("0019ab\xC3.-"[rng.below(9)]);
    mixed.push_back(name);
    alike.push_back(i % 3 == 0 ? "same" : fmt::format("same{:x}", rng.below(500)));
  }
  expect_sorted(plain, 1);
  expect_sorted(prefixed, 2);
  expect_sorted(padded, 3);
  expect_sorted(mixed, 4);
  expect_sorted(alike, 5);
  expect_sorted({"b", "a"}, 6);
}

TEST(NameOrder, NothingToOrder) {
  ThreadPool pool(2);
  EXPECT_TRUE(ranks_in_order(NameTable(), pool).empty());
  EXPECT_TRUE(ranks_in_order(NameTable(std::vector<std::string>{"one"}), pool).empty());
  EXPECT_TRUE(ranks_in_order(NameTable("", std::vector<std::uint64_t>(100, 0)), pool).empty());
}

}  // namespace
}  // namespace wisecrowd
