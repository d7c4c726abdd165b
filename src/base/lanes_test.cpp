#include "base/lanes.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "base/rng.hpp"

namespace wisecrowd {
namespace {

/// The rule that lane_sums follows, written out.
double by_eights(const std::vector<double>& values) {
  std::vector<double> parts(8, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) parts[i % 8] += values[i];
  return ((parts[0] + parts[4]) + (parts[2] + parts[6])) + ((parts[1] + parts[5]) + (parts[3] + parts[7]));
}

TEST(Lanes, SumsInTheSameOrderWhateverTheLength) {
  Rng rng(3);
  std::vector<double> values;
  for (int n = 0; n < 70; ++n) {
    const auto sums = lane_sums<double, 2>(values.size(), [&](std::size_t i) {
      return std::array{values[i], 2 * values[i]};
    });
    EXPECT_EQ(sums[0], by_eights(values)) << n;
    EXPECT_EQ(sums[1], 2 * by_eights(values)) << n;
    EXPECT_EQ(lane_sum<double>(values.size(), [&](std::size_t i) { return values[i]; }), sums[0]);
    values.push_back(rng.normal());
  }
}

TEST(Lanes, TermsMayWriteToTheirOwnPlaces) {
  std::vector<double> squares(21);
  const double sum = lane_sum<double>(
      squares.size(), [to = squares.data()](std::size_t i) { return to[i] = static_cast<double>(i * i); });
  EXPECT_EQ(sum, 2870);
  EXPECT_EQ(squares[20], 400);
}

TEST(Lanes, FloatsHaveSixteen) {
  std::vector<float> values(33, 0.0F);
  values[0] = 1e8F;
  values[16] = 1;  // lost: it joins the first lane
  values[1] = 3;
  const float sum = lane_sum<float>(values.size(), [&](std::size_t i) { return values[i]; });
  EXPECT_EQ(sum, 1e8F + 3);
}

}  // namespace
}  // namespace wisecrowd
