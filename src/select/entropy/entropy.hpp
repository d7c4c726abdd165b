#pragma once

#include <memory>
#include <span>

#include "wisecrowd/select.hpp"

namespace wisecrowd::entropy_selector {

/// −Σ q ln q, in nats.
[[nodiscard]] double score(std::span<const double> posterior);

[[nodiscard]] SelectorInfo info();
[[nodiscard]] std::unique_ptr<Selector> make(const Parameters& parameters);

}  // namespace wisecrowd::entropy_selector
