#pragma once

#include <cstdint>
#include <mutex>

#include "data/build.hpp"
#include "wisecrowd/sequence_answers.hpp"

namespace wisecrowd {

struct SequenceAnswers::Column {
  NameTable types;
  HugeVector<std::uint64_t> token_offsets;  ///< documents + 1
  HugeVector<std::uint32_t> first;          ///< per answer
  HugeVector<std::uint64_t> tag_offsets;    ///< answers + 1
  HugeVector<TagId> tags;
  std::uint64_t tagged = 0;

  mutable std::once_flag hash_once;
  mutable std::uint64_t hash = 0;
};

/// The payload is the row of a tag in a table.
using SequencePiece = AnswerPiece<std::uint32_t>;

/// What is said of tokens, a row each; the pieces say of which document and by whom.
struct TagRows {
  std::span<const std::uint32_t> positions;
  std::span<const TagId> tags;
};

/// A token that a worker tagged twice, by rows.
struct RepeatedToken {
  std::uint32_t earlier;
  std::uint32_t later;
  bool operator<(const RepeatedToken& other) const noexcept { return later < other.later; }
};

/// Sorts tags into answers. Documents are as long as `lengths` says. Of a token that a worker tagged twice the first
/// row counts, and the others are listed in `repeated`.
[[nodiscard]] SequenceAnswers build_sequence_answers(std::vector<SequencePiece> pieces, const TagRows& rows,
                                                     SequenceAnswerNames names, std::span<const std::uint32_t> lengths,
                                                     ThreadPool& pool, std::vector<RepeatedToken>& repeated);

}  // namespace wisecrowd
