#include "base/hypotenuse.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace wisecrowd {
namespace {

TEST(Hypotenuse, IsThatOfTheLibraryUpToTheLastBits) {
  std::mt19937_64 chance(1);
  std::uniform_real_distribution<double> exponent(-300, 300), near(-3, 3);
  for (int n = 0; n < 10'000; ++n) {
    const double a = std::pow(10, exponent(chance)), b = a * std::pow(10, near(chance)) * (n % 2 == 0 ? 1 : -1);
    const double expected = std::hypot(a, b);
    EXPECT_NEAR(hypotenuse(a, b) / expected, 1, 4e-16) << a << ' ' << b;
    EXPECT_EQ(hypotenuse(a, b), hypotenuse(b, a));
  }
  EXPECT_EQ(hypotenuse(3, -4), 5);
  EXPECT_EQ(hypotenuse(0, 0), 0);
  EXPECT_EQ(hypotenuse(0, -2), 2);
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(hypotenuse(-inf, 1), inf);
  EXPECT_TRUE(std::isnan(hypotenuse(std::nan(""), 1)));
}

}  // namespace
}  // namespace wisecrowd
