#include "judges/shared/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/linear_algebra.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "wisecrowd/judges.hpp"

namespace wisecrowd {
namespace judges {
namespace {

constexpr int kSteps = 3;
/// Standard deviations of the pull towards sharpness 1 and bias 0. Temperatures may be far off; a judge who favours a
/// class by more than a factor of e in its odds is rare, and hundreds of answers are heard all the same.
constexpr double kSharpnessDeviation = 2, kBiasDeviation = 0.5;
constexpr double kLeastSharpness = 0.01, kMostSharpness = 100, kLongestStep = 1;

double objective(std::span<const double> log_p, std::span<const double> targets, std::size_t classes,
                 const Calibration& calibration) {
  std::vector<double> out(classes);
  double sum = 0;
  for (std::size_t row = 0; row * classes < log_p.size(); ++row) {
    calibration.apply(log_p.subspan(row * classes, classes), out);
    for (std::size_t k = 0; k < classes; ++k) sum += targets[row * classes + k] * out[k];
  }
  sum -= 0.5 * math::pow((calibration.sharpness - 1) / kSharpnessDeviation, 2);
  for (const double b : calibration.bias) sum -= 0.5 * math::pow(b / kBiasDeviation, 2);
  return sum;
}

}  // namespace

void Calibration::apply(std::span<const double> log_p, std::span<double> out) const {
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = sharpness * log_p[k] + bias[k];
  const double sum = log_sum_exp(out);
  for (double& value : out) value -= sum;
}

void improve_calibration(std::span<const double> log_p, std::span<const double> targets, std::size_t classes,
                         bool mirrored, Calibration& calibration) {
  const std::size_t n = classes + 1;
  const std::size_t rows = log_p.size() / classes;
  double now = objective(log_p, targets, classes, calibration);
  for (int step = 0; step < kSteps; ++step) {
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(n));
    Eigen::MatrixXd information = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n));
    std::vector<double> p(classes);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto l = log_p.subspan(row * classes, classes);
      const auto t = targets.subspan(row * classes, classes);
      const double weight = std::accumulate(t.begin(), t.end(), 0.0);
      calibration.apply(l, p);
      for (double& value : p) value = math::exp(value);
      double mean = 0, square = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        mean += p[k] * l[k];
        square += p[k] * l[k] * l[k];
      }
      information(0, 0) += weight * (square - mean * mean);
      for (std::size_t k = 0; k < classes; ++k) {
        const auto i = static_cast<Eigen::Index>(k + 1);
        gradient(0) += (t[k] - weight * p[k]) * l[k];
        gradient(i) += t[k] - weight * p[k];
        information(i, 0) += weight * p[k] * (l[k] - mean);
        for (std::size_t m = 0; m <= k; ++m) {
          information(i, static_cast<Eigen::Index>(m + 1)) += weight * p[k] * ((m == k ? 1.0 : 0.0) - p[m]);
        }
      }
    }
    gradient(0) -= (calibration.sharpness - 1) / (kSharpnessDeviation * kSharpnessDeviation);
    information(0, 0) += 1 / (kSharpnessDeviation * kSharpnessDeviation);
    for (std::size_t k = 0; k < classes; ++k) {
      const auto i = static_cast<Eigen::Index>(k + 1);
      gradient(i) -= calibration.bias[k] / (kBiasDeviation * kBiasDeviation);
      information(i, i) += 1 / (kBiasDeviation * kBiasDeviation);
    }
    const Eigen::VectorXd move = cholesky_solve(information, gradient);
    const double longest = move.cwiseAbs().maxCoeff();
    double scale = longest > kLongestStep ? kLongestStep / longest : 1;
    for (int half = 0; half < 20; ++half, scale /= 2) {
      Calibration tried = calibration;
      tried.sharpness = std::clamp(tried.sharpness + scale * move(0), kLeastSharpness, kMostSharpness);
      for (std::size_t k = 0; k < classes; ++k) tried.bias[k] += scale * move(static_cast<Eigen::Index>(k + 1));
      if (mirrored) tried.bias[0] = tried.bias[1] = (tried.bias[0] + tried.bias[1]) / 2;
      const double then = objective(log_p, targets, classes, tried);
      if (then < now) continue;
      calibration = std::move(tried);
      now = then;
      break;
    }
  }
}

}  // namespace judges

std::vector<double> calibrated(std::span<const double> log_probabilities, double temperature,
                               std::span<const double> bias) {
  std::vector<double> p(log_probabilities.size());
  judges::Calibration{1 / temperature, {bias.begin(), bias.end()}}.apply(log_probabilities, p);
  for (double& value : p) value = math::exp(value);
  return p;
}

}  // namespace wisecrowd
