#pragma once

#include <memory>
#include <span>

#include "wisecrowd/select.hpp"

namespace wisecrowd::bald_selector {

/// H(mean over passes of p) − mean over passes of H(p); 0 when all passes agree.
[[nodiscard]] double score(const CrowdView& crowd, std::size_t task);

[[nodiscard]] SelectorInfo info();
[[nodiscard]] std::unique_ptr<Selector> make(const Parameters& parameters);

}  // namespace wisecrowd::bald_selector
