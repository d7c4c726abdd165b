#include "judges/shared/calibration.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "wisecrowd/judges.hpp"

namespace wisecrowd {
namespace {

/// Logarithms of probabilities and truths drawn by softmax(sharpness · logs + bias).
struct Drawn {
  std::vector<double> log_p, targets;
};
Drawn drawn(std::size_t rows, double sharpness, const std::vector<double>& bias) {
  Rng rng(5);
  Drawn out;
  for (std::size_t r = 0; r < rows; ++r) {
    std::vector<double> logs(bias.size()), truth(bias.size());
    for (double& log : logs) log = 2 * rng.normal();
    const double sum = log_sum_exp(logs);
    for (double& log : logs) log -= sum;
    for (std::size_t k = 0; k < bias.size(); ++k) truth[k] = sharpness * logs[k] + bias[k];
    softmax(truth);
    const std::size_t z = rng.categorical(truth);
    out.log_p.insert(out.log_p.end(), logs.begin(), logs.end());
    for (std::size_t k = 0; k < bias.size(); ++k) out.targets.push_back(k == z ? 1 : 0);
  }
  return out;
}

TEST(JudgeCalibration, FindsSharpnessAndBias) {
  const Drawn data = drawn(20000, 0.4, {0.5, -0.5, 0});
  judges::Calibration calibration{1, {0, 0, 0}};
  for (int i = 0; i < 10; ++i) judges::improve_calibration(data.log_p, data.targets, 3, false, calibration);
  EXPECT_NEAR(calibration.sharpness, 0.4, 0.03);
  EXPECT_NEAR(calibration.bias[0] - calibration.bias[1], 1, 0.1);
  EXPECT_NEAR(calibration.bias[0] - calibration.bias[2], 0.5, 0.1);
}

TEST(JudgeCalibration, MirroredClassesHaveOneBias) {
  const Drawn data = drawn(2000, 1, {0.5, -0.5, 0});
  judges::Calibration calibration{1, {0, 0, 0}};
  judges::improve_calibration(data.log_p, data.targets, 3, true, calibration);
  EXPECT_EQ(calibration.bias[0], calibration.bias[1]);
}

TEST(JudgeCalibration, TemperatureOneChangesNothing) {
  const std::vector<double> logs{std::log(0.2), std::log(0.3), std::log(0.5)};
  const auto p = calibrated(logs, 1, std::vector<double>{0, 0, 0});
  EXPECT_NEAR(p[0], 0.2, 1e-12);
  EXPECT_NEAR(p[2], 0.5, 1e-12);
  EXPECT_NEAR(calibrated(logs, 1e6, std::vector<double>{0, 0, 0})[0], 1.0 / 3, 1e-5);
}

}  // namespace
}  // namespace wisecrowd
