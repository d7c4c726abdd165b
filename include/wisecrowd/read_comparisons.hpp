#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wisecrowd/comparison_data.hpp"
#include "wisecrowd/ingest.hpp"

namespace wisecrowd {

/// Every answer counts, because people may see the same two items in several settings.
struct ComparisonReadOptions : ReadOptions {
  ComparisonReadOptions() { duplicates = DuplicatePolicy::repeat; }
};

/// Reads comparisons, one per row: columns worker, left, right and label. The label is the winner's name, or one of
/// left, right, tie (also a, b, model_a, model_b, draw, equal, both …). Files with the columns chosen and rejected need
/// no label; without a worker column all answers count as one worker's. `value_columns` of the options name the items.
///
/// Gold is a table of pairs (left, right, label), or of items with a number each (item, score), the higher, the better.
/// Errors are those of read_dataset: file, line, value and remedy.
[[nodiscard]] ComparisonData read_comparisons(const std::string& answers_path,
                                              const std::optional<std::string>& gold_path, const ReadOptions& options,
                                              const RunContext& context, DataReport* report = nullptr);

/// Numbers known of items, from a table with a column of items (item, model, task …) and columns of numbers, all of
/// them or those of the options' value_columns. Every item of the answers needs a row; others are left aside.
[[nodiscard]] ItemFeatures read_item_features(const std::string& path, const NameTable& items,
                                              const ReadOptions& options, const RunContext& context);

/// A ranking.csv that wisecrowd wrote, or any table of items with a score.
struct ItemScores {
  NameTable items;
  std::vector<double> scores;
};
[[nodiscard]] ItemScores read_item_scores(const std::string& path, const ReadOptions& options,
                                          const RunContext& context, DataReport* report = nullptr);

/// Gold of pairs or items, for a ranking of these items that is to be scored: pairs of others are left aside with a
/// warning. The answers of what is returned are the gold pairs themselves.
[[nodiscard]] ComparisonData gold_for_ranking(const std::string& path, const NameTable& items,
                                              const RunContext& context, DataReport* report = nullptr);

}  // namespace wisecrowd
