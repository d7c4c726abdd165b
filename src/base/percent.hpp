#pragma once

#include <string>

namespace wisecrowd {

/// "12.3 %"; "unknown" for NaN. What is not all is not shown as all, and what is not none not as none.
[[nodiscard]] std::string percent(double share);
/// "82.4 to 94.4 %"
[[nodiscard]] std::string percents(double low, double high);

}  // namespace wisecrowd
