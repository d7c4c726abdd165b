#pragma once

#include <span>

#include "wisecrowd/select.hpp"

namespace wisecrowd::entropy_selector {

/// −Σ q ln q, in nats.
[[nodiscard]] double score(std::span<const double> posterior);

}  // namespace wisecrowd::entropy_selector
