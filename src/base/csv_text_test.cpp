#include "base/csv_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/rng.hpp"

namespace wisecrowd {
namespace {

std::string probability(double x) {
  std::array<char, kNumberRoom> room{};
  return {room.data(), write_probability(room.data(), x)};
}
std::string number(double x) {
  std::array<char, kNumberRoom> room{};
  return {room.data(), write_number(room.data(), x)};
}

TEST(CsvText, ProbabilitiesHaveSixSignificantDigits) {
  EXPECT_EQ(probability(0), "0");
  EXPECT_EQ(probability(1), "1");
  EXPECT_EQ(probability(0.5), "0.5");
  EXPECT_EQ(probability(1.0 / 3), "0.333333");
  EXPECT_EQ(probability(0.9999994), "0.999999");
  EXPECT_EQ(probability(0.9999996), "1");
  EXPECT_EQ(probability(0.0123456789), "0.0123457");
  EXPECT_EQ(probability(0.00012345678), "0.000123457");
  EXPECT_EQ(probability(0.09999999), "0.1");
  EXPECT_EQ(probability(0.0000999999999), "0.0001");
  EXPECT_EQ(probability(1.5e-7), "1.5e-07");
  EXPECT_EQ(probability(1e-12), "1e-12");
  EXPECT_EQ(probability(2.5e-300), "2.5e-300");
  EXPECT_EQ(probability(std::nextafter(1.0, 0.0)), "1");
}

TEST(CsvText, ProbabilitiesReadBackWithinHalfAUnitOfTheLastDigit) {
  Rng rng(7);
  for (int i = 0; i < 200'000; ++i) {
    const double x = std::exp(-40 * rng.uniform());
    const double back = std::strtod(probability(x).c_str(), nullptr);
    ASSERT_NEAR(back, x, 5.1e-6 * x) << probability(x);
  }
}

TEST(CsvText, OtherNumbers) {
  EXPECT_EQ(number(1234.5678), "1234.57");
  EXPECT_EQ(number(-0.25), "-0.25");
  EXPECT_EQ(number(0.25), "0.25");
  EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN()), "");
}

TEST(CsvText, NamesAreQuotedWhenTheyMustBe) {
  EXPECT_EQ(csv_field("plain name"), "plain name");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_field(" blank"), "\" blank\"");
  EXPECT_EQ(csv_field("😀"), "😀");
  EXPECT_EQ(csv_field(""), "");
}

TEST(CsvText, BufferGrows) {
  TextBuffer buffer;
  std::string expected;
  for (int i = 0; i < 5000; ++i) {
    buffer.append_field("a,b");
    buffer.append_count(static_cast<unsigned long long>(i));
    buffer.append('\n');
    expected.append("\"a,b\"").append(std::to_string(i)).append("\n");
  }
  EXPECT_EQ(buffer.text(), expected);
}

}  // namespace
}  // namespace wisecrowd
