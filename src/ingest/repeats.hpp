#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "data/build.hpp"
#include "ingest/table.hpp"

namespace wisecrowd::ingest {

// What becomes of answers that repeat a task and worker, whatever the kind of answers.

/// So that "keep the last" keeps the first.
template <class Payload>
void reverse_rows(std::vector<AnswerPiece<Payload>>& pieces) {
  std::reverse(pieces.begin(), pieces.end());
  for (auto& piece : pieces) {
    std::reverse(piece.tasks.begin(), piece.tasks.end());
    std::reverse(piece.workers.begin(), piece.workers.end());
    std::reverse(piece.payload.begin(), piece.payload.end());
  }
}

/// Adds a problem for every repeated pair.
void note_repeats(const Table& table, const AnswerGraph& answers, std::span<const RepeatedPair> repeated,
                  const BuildReport& built, DataReport& report);

/// Counts answers that repeat a task and worker, and warns of them.
void note_duplicates(const std::string& file, const BuildReport& built, bool first_kept, DataReport& notes);

}  // namespace wisecrowd::ingest
