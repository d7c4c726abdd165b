#pragma once

#include <span>

#include "wisecrowd/select.hpp"

namespace wisecrowd::bald_selector {

/// H(mean over passes of p) − mean over passes of H(p); 0 when all passes agree.
[[nodiscard]] double score(const CrowdView& crowd, TaskId task);

}  // namespace wisecrowd::bald_selector
