#pragma once

#include <memory>
#include <span>

#include "wisecrowd/select.hpp"

namespace wisecrowd::predictive_entropy_selector {

/// H(mean over passes of p).
[[nodiscard]] double score(const CrowdView& crowd, std::size_t task);

[[nodiscard]] SelectorInfo info();
[[nodiscard]] std::unique_ptr<Selector> make(const Parameters& parameters);

}  // namespace wisecrowd::predictive_entropy_selector
