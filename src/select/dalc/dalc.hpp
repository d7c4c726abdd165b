#pragma once

#include <span>

#include "wisecrowd/select.hpp"

namespace wisecrowd::dalc_selector {

/// How unsure the network is: the entropy of its mean over passes, or of the posterior when there are none.
[[nodiscard]] double score(const CrowdView& crowd, TaskId task);

}  // namespace wisecrowd::dalc_selector
