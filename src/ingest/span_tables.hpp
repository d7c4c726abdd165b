#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ingest/read.hpp"

namespace wisecrowd::ingest {

/// Answers, gold and texts of sequences as tables of tags, whatever shape the files have.
struct TagInputs {
  SequenceInputs inputs;
  ReadOptions options;
  std::shared_ptr<const std::string> answers, gold, tokens;  ///< tables that were made hold the memory here
  DataReport found;                                          ///< of rows that were left out of them
};

/// Files whose rows are spans (document, worker, start, end, type) become tables of tags; others stay as they are. How
/// long documents are must be known: `inputs.tokens` lists tokens, or holds texts or lengths of the documents.
[[nodiscard]] TagInputs tags_of_spans(SequenceInputs inputs, const ReadOptions& options, const Tuning& tuning,
                                      const RunContext& context);

}  // namespace wisecrowd::ingest
