#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "data/interner.hpp"
#include "ingest/byte_source.hpp"
#include "ingest/text_features.hpp"
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

/// Texts whose words are counted but not yet weighted: that waits until it is known which rows are for training.
struct TextTable {
  NameTable names;
  std::vector<Split> split;
  WordCounts counts;
};

/// A table with a row of features per task: numbers, or texts. Without a column `split`, that is left empty.
using FeatureRows = std::variant<FeatureTable, TextTable>;
[[nodiscard]] FeatureRows read_feature_rows(const Input& input, const FeatureOptions& options, const Tuning& tuning,
                                            const RunContext& context, DataReport& report);

}  // namespace wisecrowd::ingest
