#include "ingest/short_decimal.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cstdint>
#include <string>

#include "base/rng.hpp"

namespace wisecrowd {
namespace {

using ingest::short_decimal;

double by_the_library(const std::string& text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  EXPECT_TRUE(code == std::errc() && end == text.data() + text.size()) << text;
  return value;
}

/// Bit for bit what from_chars says, of every length and every place of the point.
TEST(ShortDecimal, IsCorrectlyRounded) {
  Rng rng(1);
  std::size_t taken = 0;
  for (int round = 0; round < 200000; ++round) {
    const std::size_t length = 1 + rng.below(15);
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += static_cast<char>('0' + rng.below(10));
    if (rng.bernoulli(0.8)) text.insert(rng.below(length + 1), ".");
    if (rng.bernoulli(0.5)) text.insert(0, "-");
    const auto found = short_decimal(text);
    ASSERT_TRUE(found.has_value()) << text;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(*found), std::bit_cast<std::uint64_t>(by_the_library(text))) << text;
    ++taken;
  }
  EXPECT_EQ(taken, 200000U);
}

TEST(ShortDecimal, LeavesTheRestToTheLibrary) {
  for (const char* text : {"", "-", ".", "-.", "+1", "1e3", "1.2.3", " 1", "1 ", "nan", "inf", "0x10", "--1", "1,5",
                           "1234567890123456", "0.1234567890123456", "1_000", "１"}) {
    EXPECT_FALSE(short_decimal(text).has_value()) << text;
  }
  for (const auto& [text, value] : {std::pair("5.", 5.0), {".5", 0.5}, {"-0", -0.0}, {"007", 7.0}, {"0.10", 0.1}}) {
    EXPECT_EQ(short_decimal(text), value) << text;
  }
}

}  // namespace
}  // namespace wisecrowd
