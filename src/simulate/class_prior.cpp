#include "simulate/class_prior.hpp"

#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd {

std::vector<ParameterSpec> class_prior_parameters() {
  return {ParameterSpec::choice(
              "class_prior", "uniform", {"uniform", "dirichlet", "skewed"},
              "how often each class is the truth: alike, drawn at random, or falling from class to class"),
          ParameterSpec::real("prior_concentration", 1, 1e-3, 1e6,
                              "dirichlet only: its concentration per class; small is uneven"),
          ParameterSpec::real("skew", 0.5, 0, 0.999,
                              "skewed only: each class is 1 - skew times as frequent as the one before")};
}

std::vector<double> draw_class_prior(std::size_t classes, const Parameters& parameters, Rng rng) {
  std::vector<double> prior(classes, 1.0 / static_cast<double>(classes));
  const std::string& choice = parameters.choice("class_prior");
  if (choice == "dirichlet") {
    const std::vector<double> alpha(classes, parameters.real("prior_concentration"));
    rng.dirichlet(alpha, prior);
  } else if (choice == "skewed") {
    for (std::size_t k = 0; k < classes; ++k) prior[k] = math::pow(1 - parameters.real("skew"), static_cast<double>(k));
    normalise(prior);
  }
  return prior;
}

}  // namespace wisecrowd
