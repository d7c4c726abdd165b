#include "base/intervals.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace wisecrowd {
namespace {

TEST(Intervals, NormalHalfWidths) {
  EXPECT_EQ(normal_half_width(.95), kNormal95);
  EXPECT_NEAR(normal_half_width(.995), 2.807033768343811, 1e-12);
}

TEST(Intervals, NormalQuantileLeavesFivePercentOutside) {
  EXPECT_NEAR(std::erf(kNormal95 / std::sqrt(2.0)), 0.95, 1e-15);
}

TEST(Intervals, WilsonAt95PercentFitsTheOtherLevels) {
  const Interval fixed = wilson_interval(30, 40), computed = wilson_interval(30, 40, std::nextafter(0.95, 1));
  EXPECT_NEAR(fixed.low, computed.low, 1e-14);
  EXPECT_NEAR(fixed.high, computed.high, 1e-14);
}

}  // namespace
}  // namespace wisecrowd
