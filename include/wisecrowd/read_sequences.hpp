#pragma once

#include <optional>
#include <string>

#include "wisecrowd/ingest.hpp"
#include "wisecrowd/sequence_data.hpp"

namespace wisecrowd {

/// Where sequences stand.
struct SequenceFiles {
  /// A row per tag: document, position, worker, tag. A wide table (ReadOptions::layout): document, position, perhaps
  /// the token, and a column of tags per worker. Spans: document, worker, start, end, type; ReadOptions::value_columns
  /// names start and end, if the header does not tell.
  std::string answers;
  std::optional<std::string> gold;  ///< document, position, tag; or document, start, end, type
  /// Document, position, token: the texts, and how long documents are. Without it every token must have an answer or
  /// gold. Spans need it; there, document and text, or document and length, will do.
  std::optional<std::string> tokens;
  /// Names of the columns of positions, found by the known aliases if empty. Documents, workers and tags are the tasks,
  /// workers and labels of ReadOptions.
  std::string position_column;
  std::string gold_position_column;
};

/// Reads answers, gold and tokens. Strict by default: throws bad_input whose message lists the first 20 problems and
/// counts the rest. Types of spans are those of answers and gold together. Positions are counted from 0, or from 1 if
/// no document has a token 0.
[[nodiscard]] SequenceData read_sequences(const SequenceFiles& files, const ReadOptions& options,
                                          const RunContext& context, DataReport* report = nullptr);

/// A table of one tag per token: gold files, and the tags.csv that wisecrowd writes.
struct TagTable {
  NameTable documents;
  NameTable types;
  std::vector<std::uint32_t> document;  ///< per row
  std::vector<std::uint32_t> position;  ///< per row, as it stands there
  std::vector<TagId> tags;              ///< per row
};
[[nodiscard]] TagTable read_tag_table(const std::string& path, const ReadOptions& options,
                                      const std::string& position_column, const RunContext& context,
                                      DataReport* report = nullptr);

}  // namespace wisecrowd
