#pragma once

#include <string_view>
#include <vector>

namespace wisecrowd {

/// "0.85,0.15": positive numbers that sum to 1 within rounding. Nothing if the text is anything else.
///
/// A text parameter one of whose choices is such a list takes any such list: the choice is the example that is shown.
[[nodiscard]] std::vector<double> shares_in(std::string_view text);

/// The example for two classes.
inline constexpr std::string_view kSharesExample = "0.85,0.15";

}  // namespace wisecrowd
