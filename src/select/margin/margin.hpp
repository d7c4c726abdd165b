#pragma once

#include <span>

#include "wisecrowd/select.hpp"

namespace wisecrowd::margin_selector {

/// 1 − (largest − second largest).
[[nodiscard]] double score(std::span<const double> posterior);

}  // namespace wisecrowd::margin_selector
