#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/trust.hpp"

namespace wisecrowd {
namespace {

void check(std::span<const double> table, std::size_t classes) {
  if (classes > 0 && table.size() == classes * classes) return;
  throw Error(ErrorCode::bad_input, fmt::format("a table of {} cells does not fit {} classes", table.size(), classes));
}

}  // namespace

double spammer_score(std::span<const double> table, std::size_t classes) {
  check(table, classes);
  if (classes < 2) return 0;
  double sum = 0;
  for (std::size_t a = 0; a < classes; ++a) {
    for (std::size_t b = a + 1; b < classes; ++b) {
      for (std::size_t l = 0; l < classes; ++l) {
        const double d = table[a * classes + l] - table[b * classes + l];
        sum += d * d;
      }
    }
  }
  return sum / static_cast<double>(classes * (classes - 1));
}

Capacity channel_capacity(std::span<const double> table, std::size_t classes, double tolerance,
                          std::size_t max_iterations) {
  check(table, classes);
  Capacity capacity;
  capacity.input.assign(classes, 1.0 / static_cast<double>(classes));
  std::vector<double> output(classes), weight(classes);
  for (std::size_t iteration = 0; iteration < max_iterations; ++iteration) {
    std::fill(output.begin(), output.end(), 0.0);
    for (std::size_t k = 0; k < classes; ++k) {
      for (std::size_t l = 0; l < classes; ++l) output[l] += capacity.input[k] * table[k * classes + l];
    }
    double sum = 0;
    for (std::size_t k = 0; k < classes; ++k) {
      double divergence = 0;
      for (std::size_t l = 0; l < classes; ++l) {
        const double p = table[k * classes + l];
        if (p > 0) divergence += p * math::log(p / output[l]);
      }
      weight[k] = math::exp(divergence);
      sum += capacity.input[k] * weight[k];
    }
    capacity.nats = std::max(math::log(sum), 0.0);
    capacity.gap = math::log(*std::max_element(weight.begin(), weight.end())) - math::log(sum);
    if (capacity.gap < tolerance) break;
    for (std::size_t k = 0; k < classes; ++k) capacity.input[k] *= weight[k] / sum;
  }
  return capacity;
}

}  // namespace wisecrowd
