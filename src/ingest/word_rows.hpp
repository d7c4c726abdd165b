#pragma once

#include <optional>

#include "ingest/feature_rows.hpp"
#include "ingest/row_scan.hpp"

namespace wisecrowd::ingest {

/// The columns of a table whose rows say how often a word is in the text of a task.
struct WordColumns {
  std::size_t task = kNoColumn, word = kNoColumn, count = kNoColumn;
};

/// The columns task, word and count, if the table has them and no others.
[[nodiscard]] std::optional<WordColumns> find_word_columns(const RowScan& scan);

/// Reads them as texts whose words are counted already. Rows of one task may stand anywhere; counts of one word add up.
[[nodiscard]] TextTable read_word_counts(RowScan& scan, const WordColumns& columns, const FeatureOptions& options,
                                         DataReport& report);

}  // namespace wisecrowd::ingest
