#pragma once

#include <string>

#include "wisecrowd/asking.hpp"

namespace wisecrowd::app {

/// Reads a CSV file with the columns worker, cost, capacity, available and response (the probability that the worker
/// answers when asked); all but the first may be left out, in any order, and a blank cell is the usual value (1,
/// unlimited, yes, 1). Throws bad_input that names the line.
[[nodiscard]] NamedOffers read_offers(const std::string& path);

}  // namespace wisecrowd::app
