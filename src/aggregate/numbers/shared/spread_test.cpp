#include "aggregate/numbers/shared/spread.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace wisecrowd {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Spread, SomethingUsableIsAlwaysFound) {
  const numbers::Around all{10, 2};
  EXPECT_EQ(numbers::usable({5, 1}, all).middle, 5);
  EXPECT_EQ(numbers::usable({5, 1}, all).deviation, 1);
  for (const numbers::Around unknown : {numbers::Around{kNaN, 1}, {5, kNaN}, {kInfinity, 1}, {5, kInfinity}, {}}) {
    EXPECT_EQ(numbers::usable(unknown, all).middle, 10);
    EXPECT_EQ(numbers::usable(unknown, all).deviation, 2);
  }
  EXPECT_DOUBLE_EQ(numbers::usable({5, 0}, all).deviation, 5e-9);
  EXPECT_GT(numbers::usable({0, 0}, all).deviation, 0);
  EXPECT_EQ(numbers::usable({}, {-7, kNaN}).deviation, 7);
  EXPECT_EQ(numbers::usable({}, {}).middle, 0);
  EXPECT_EQ(numbers::usable({}, {}).deviation, 1);
}

TEST(Spread, LogDensitiesByHand) {
  EXPECT_NEAR(numbers::normal_log_density(0, 1), -0.9189385332, 1e-9);
  EXPECT_NEAR(numbers::normal_log_density(6, 2), -0.9189385332 - std::log(2) - 4.5, 1e-9);
  EXPECT_NEAR(numbers::laplace_log_density(-3, std::sqrt(2.0)), -std::log(2) - 3, 1e-12);
}

/// A method that leaves some things unknown, and has the density of its base.
class Unsure final : public NumberAggregator {
 public:
  explicit Unsure(NumberFit fit) : fit_(std::move(fit)) {}
  [[nodiscard]] NumberFit fit(const NumberData&, const RunContext&, const NumberStart&) const override { return fit_; }

 private:
  NumberFit fit_;
};

TEST(Spread, DensitiesAreFiniteWhateverAFitLeavesUnknown) {
  NumberAnswersBuilder builder;
  builder.add("t1", "a", 1).add("t1", "b", 3).add_task("t2").add_worker("c");
  const NumberData data{builder.build(), {}};
  for (const double unknown : {kNaN, kInfinity, -kInfinity}) {
    for (int which = 0; which < 16; ++which) {
      NumberFit fit = numbers::start_number_fit(data);
      const auto value = [&](int bit, double known) { return (which >> bit & 1) != 0 ? unknown : known; };
      fit.estimate.assign(2, value(0, 2));
      fit.deviation.assign(2, value(1, 0.5));
      fit.bias.assign(3, value(2, 0.25));
      fit.scale.assign(3, value(3, 1));
      for (const double y : {2.0, 1e100, -1e100}) {
        const NumberAnswer answer{TaskId{1}, WorkerId{2}, std::span(&y, 1)};
        const auto logs = Unsure(fit).log_predictive(data, std::span(&answer, 1), RunContext());
        EXPECT_TRUE(std::isfinite(logs.at(0))) << which << " " << unknown << " " << y;
      }
    }
  }
}

}  // namespace
}  // namespace wisecrowd
