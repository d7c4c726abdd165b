#pragma once

#include "ingest/table.hpp"

namespace wisecrowd::ingest {

/// A table of one label per task after its repeats are settled: row r is the first one of task r.
struct SettledLabels {
  Table table;
  std::vector<std::uint16_t> codes;   ///< per task, of table.classes
  std::vector<std::uint64_t> rows;    ///< per task: its row in table.numbers
};

/// Reads it; rows that contradict an earlier one of the same task are problems. `with_numbers`: also the columns
/// probability and p_<class>.
[[nodiscard]] SettledLabels read_settled_labels(const Input& input, bool with_numbers, bool headerless_allowed,
                                                const ReadOptions& options, const Tuning& tuning,
                                                const RunContext& context, DataReport& report);

}  // namespace wisecrowd::ingest
