#pragma once

#include <memory>
#include <span>

#include "wisecrowd/select.hpp"

namespace wisecrowd::least_confidence_selector {

/// 1 − largest.
[[nodiscard]] double score(std::span<const double> posterior);

[[nodiscard]] SelectorInfo info();
[[nodiscard]] std::unique_ptr<Selector> make(const Parameters& parameters);

}  // namespace wisecrowd::least_confidence_selector
