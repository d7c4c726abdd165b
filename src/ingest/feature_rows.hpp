#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/interner.hpp"
#include "ingest/byte_source.hpp"
#include "ingest/tuning.hpp"
#include "wisecrowd/features.hpp"
#include "wisecrowd/ingest.hpp"
#include "wisecrowd/read_features.hpp"

namespace wisecrowd::ingest {

/// tasks.csv: which row of the features belongs to which task, and to which part of an experiment.
struct TaskList {
  std::string file;
  NameTable tasks;
  std::vector<std::uint64_t> lines;
  std::vector<Split> split;
  std::vector<std::uint64_t> rows;  ///< empty when the file has no such column
};

[[nodiscard]] TaskList read_task_list(const Input& input, bool lenient, const Tuning& tuning, const RunContext& context,
                                      DataReport& report);

/// A table with a row of features per task: numbers, or a text that is counted. Without a column `split`, that is
/// empty.
[[nodiscard]] FeatureTable read_feature_rows(const Input& input, const FeatureOptions& options, const Tuning& tuning,
                                             const RunContext& context, DataReport& report);

}  // namespace wisecrowd::ingest
