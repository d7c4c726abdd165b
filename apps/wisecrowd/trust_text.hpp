#pragma once

#include <string>

#include "terminal.hpp"
#include "wisecrowd/trust_study.hpp"

namespace wisecrowd::app {

/// Who to look at and why, the worst first, in a screenful; and what cannot be known.
[[nodiscard]] std::string trust_summary(const TrustRun& run, const Screen& screen);

}  // namespace wisecrowd::app
