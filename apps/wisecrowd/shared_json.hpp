#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "wisecrowd/estimate.hpp"
#include "wisecrowd/evaluate.hpp"
#include "wisecrowd/fit_summary.hpp"

namespace wisecrowd::app {

// What several commands print as JSON.

/// Warnings as --json prints them, with the fields that they have in run.json.
[[nodiscard]] nlohmann::ordered_json warnings_json(std::span<const Warning> warnings);
[[nodiscard]] nlohmann::ordered_json distribution_json(const Distribution& distribution);
/// A value with its interval.
[[nodiscard]] nlohmann::ordered_json estimate_json(const Estimate& estimate);

}  // namespace wisecrowd::app
