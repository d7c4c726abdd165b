#pragma once

#include <span>

#include "wisecrowd/select.hpp"

namespace wisecrowd::predictive_entropy_selector {

/// H(mean over passes of p).
[[nodiscard]] double score(const CrowdView& crowd, TaskId task);

}  // namespace wisecrowd::predictive_entropy_selector
