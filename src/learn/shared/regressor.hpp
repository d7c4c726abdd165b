#pragma once

#include <memory>
#include <string>
#include <vector>

#include "learn/shared/classifier.hpp"
#include "wisecrowd/learn_numbers.hpp"

namespace wisecrowd {

/// A network whose outputs are numbers: dimension d of a row is offset[d] + factor[d] · output d. The folder of one is
/// that of a classifier whose classes are the dimensions, and numbers.json with the rest.
struct RegressorParts {
  ClassifierParts network;
  std::vector<double> factor, offset;
  std::vector<double> deviation;  ///< how far predictions are off, as a standard deviation; empty: not known
};

[[nodiscard]] std::shared_ptr<const Regressor> make_regressor(RegressorParts parts);

}  // namespace wisecrowd
