#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "wisecrowd/fit_summary.hpp"

namespace wisecrowd::app {

/// Warnings as --json prints them, with the fields that they have in run.json.
[[nodiscard]] nlohmann::ordered_json warnings_json(std::span<const Warning> warnings);

}  // namespace wisecrowd::app
