#pragma once

#include <memory>
#include <span>

#include "wisecrowd/select.hpp"

namespace wisecrowd::margin_selector {

/// 1 − (largest − second largest).
[[nodiscard]] double score(std::span<const double> posterior);

[[nodiscard]] SelectorInfo info();
[[nodiscard]] std::unique_ptr<Selector> make(const Parameters& parameters);

}  // namespace wisecrowd::margin_selector
