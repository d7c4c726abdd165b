#pragma once

#include <span>
#include <vector>

#include "wisecrowd/select.hpp"

namespace wisecrowd::expected_information_selector {

/// q^power, normalised: what a posterior says when its answers count less than as independent evidence.
[[nodiscard]] std::vector<double> tempered(std::span<const double> posterior, std::size_t classes, double power,
                                           const RunContext& context);

}  // namespace wisecrowd::expected_information_selector
