#include <algorithm>
#include <cmath>

#include "base/intervals.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "simulate/crowd.hpp"

// Workers who see the rank of the true class with a bias and a noise of their own, and say the nearest class.
namespace wisecrowd::ordered_scale_crowd {

SimulationInfo info() {
  SimulationInfo info;
  info.summary = "Ordered classes: workers see the true rank with a bias and noise of their own, and say the nearest.";
  info.parameters = {
      ParameterSpec::real("bias", 0.4, 0, 1e3, "deviation of the workers' biases, in ranks"),
      ParameterSpec::real("noise", 0.8, 1e-3, 1e3, "the noise of a typical worker, in ranks"),
      ParameterSpec::real("noise_spread", 0.4, 0, 10, "how much workers differ: deviation of the logarithm of noise")};
  return info;
}

Crowd draw(const CrowdRequest& request) {
  const std::size_t classes = request.size.classes, workers = request.size.workers;
  Crowd crowd;
  crowd.ordered = true;
  crowd.kinds.assign(workers, "honest");
  crowd.confusion.resize(workers * classes * classes);
  for (std::size_t w = 0; w < workers; ++w) {
    Rng rng = request.rng.fork("worker", w);
    const double bias = request.parameters.real("bias") * rng.normal();
    const double noise =
        request.parameters.real("noise") * math::exp(request.parameters.real("noise_spread") * rng.normal());
    for (std::size_t k = 0; k < classes; ++k) {
      double* const row = crowd.confusion.data() + (w * classes + k) * classes;
      double reached = 0;
      for (std::size_t l = 0; l < classes; ++l) {
        const double cut = (static_cast<double>(l) + 0.5 - static_cast<double>(k) - bias) / noise;
        const double until = l + 1 == classes ? 1 : normal_below(cut);
        row[l] = std::max(0.0, until - reached);
        reached = until;
      }
      normalise({row, classes});
    }
  }
  return crowd;
}

}  // namespace wisecrowd::ordered_scale_crowd
