#pragma once

#include <nlohmann/json_fwd.hpp>

#include "wisecrowd/result.hpp"

namespace wisecrowd {

/// The record of a run as it stands in run.json, but for the name of the program and the list of files. Timings,
/// threads and the command are the only entries that may differ between two runs on the same data with the same
/// parameters and seed.
[[nodiscard]] nlohmann::ordered_json run_record_json(const Result& result);

[[nodiscard]] nlohmann::ordered_json evaluation_json(const Evaluation& evaluation);

}  // namespace wisecrowd
