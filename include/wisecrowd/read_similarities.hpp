#pragma once

#include <optional>
#include <string>

#include "wisecrowd/ingest.hpp"
#include "wisecrowd/similarity_data.hpp"

namespace wisecrowd {

/// Reads answers that say whether two items are the same, one per row: columns worker, left, right and label. The label
/// is same or different, yes or no, true or false, 1 or 0, match or no match and the like. Which item is left means
/// nothing. `value_columns` of the options name the columns of the items.
///
/// Gold is a table of items with their clusters (item, cluster), or of pairs (left, right, label). Errors are those of
/// read_dataset: file, line, value and remedy.
[[nodiscard]] SimilarityData read_similarities(const std::string& answers_path,
                                               const std::optional<std::string>& gold_path, const ReadOptions& options,
                                               const RunContext& context, DataReport* report = nullptr);

/// Reads gold for items that are known by name: fills the gold of `data` from a table of clusters or of pairs.
void read_similarity_gold(const std::string& path, const ReadOptions& options, const RunContext& context,
                          SimilarityData& data, DataReport* report = nullptr);

}  // namespace wisecrowd
