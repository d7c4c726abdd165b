#pragma once

#include <string>
#include <vector>

#include "wisecrowd/trust_study.hpp"

namespace wisecrowd {

/// Writes workers.csv, pairs.csv, groups.csv, alarms.csv, attacked_tasks.csv and run.json into `directory`, as
/// write_result does: whole or not at all.
Status write_trust(const TrustRun& run, const std::string& directory, const RunContext& context);
/// The run as a JSON object, as in run.json.
[[nodiscard]] std::string trust_json(const TrustRun& run);
/// The tables of a folder that write_trust made, in the same order. Throws bad_input that names file, row and column
/// when one is not as it was written.
[[nodiscard]] std::vector<ValueTable> read_trust_tables(const std::string& folder);

}  // namespace wisecrowd
