#pragma once

#include <span>

#include "wisecrowd/select.hpp"

namespace wisecrowd::least_confidence_selector {

/// 1 − largest.
[[nodiscard]] double score(std::span<const double> posterior);

}  // namespace wisecrowd::least_confidence_selector
