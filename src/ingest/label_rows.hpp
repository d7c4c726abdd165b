#pragma once

#include "ingest/table.hpp"

namespace wisecrowd::ingest {

/// A table of one label per task after its repeats are settled: the first row of each task counts.
struct SettledLabels {
  Table table;
  std::vector<std::uint16_t> codes;  ///< per task, of table.classes
  std::vector<std::uint64_t> rows;   ///< per task: its row in table.numbers
};

/// Reads it and settles its problems; rows that contradict an earlier one of the same task are such. `with_numbers`:
/// also the columns probability and p_<class>.
[[nodiscard]] SettledLabels read_settled_labels(const Input& input, bool with_numbers, const PlanColumns& plan,
                                                const ReadOptions& options, const Tuning& tuning,
                                                const RunContext& context, DataReport& report);

}  // namespace wisecrowd::ingest
