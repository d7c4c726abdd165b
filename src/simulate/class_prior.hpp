#pragma once

#include <cstddef>
#include <vector>

#include "base/rng.hpp"
#include "wisecrowd/parameters.hpp"

namespace wisecrowd {

/// The parameters that choose how often each class is the truth; kinds list them among their own.
[[nodiscard]] std::vector<ParameterSpec> class_prior_parameters();

[[nodiscard]] std::vector<double> draw_class_prior(std::size_t classes, const Parameters& parameters, Rng rng);

}  // namespace wisecrowd
