#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/evaluate.hpp"
#include "wisecrowd/sequence_data.hpp"

namespace wisecrowd {

/// Spans that were found and spans that are there. Where tags are unknown on either side, both sides count as outside.
struct SpanCounts {
  std::uint64_t found = 0, truth = 0;
  std::uint64_t right = 0;          ///< strict: both ends and the type agree
  std::uint64_t found_touched = 0;  ///< relaxed: spans found that share a token with a true one of their type
  std::uint64_t truth_touched = 0;  ///< relaxed: true spans that share a token with one found of their type

  void add(const SpanCounts& other) noexcept;
  /// 2 right / (found + truth); NaN where there is no span at all.
  [[nodiscard]] double strict_f1() const noexcept;
};
/// Of one document, or the part of it that both sides have; `of_type` gets the same per type unless it is empty.
[[nodiscard]] SpanCounts compare_spans(std::span<const TagId> found, std::span<const TagId> truth,
                                       std::span<SpanCounts> of_type = {});

/// How well spans were found, with 95 % intervals over documents.
struct SpanScore {
  Estimate precision, recall, f1;
};

struct TypeScore {
  SpanCounts counts;
  SpanScore strict;
};

struct SequenceEvaluation {
  std::size_t documents = 0;  ///< with gold for some token
  std::size_t tokens = 0;     ///< with gold
  Estimate token_accuracy;    ///< share of right tags, with an interval over documents
  SpanCounts counts;
  SpanScore strict;   ///< both ends and the type agree
  SpanScore relaxed;  ///< a token is shared and the type agrees
  std::vector<TypeScore> types;
};

/// Scores tags against gold, both one per token (kNoTag where unknown). A span is B-x and the I-x that follow; an I-x
/// after O or after another type begins a span of its own. Throws bad_input when no token has both.
[[nodiscard]] SequenceEvaluation evaluate_sequences(std::span<const std::uint64_t> token_offsets,
                                                    std::span<const TagId> tags, std::span<const TagId> gold,
                                                    std::size_t type_count);

/// What the answers look like before any method is run. Documents are the tasks.
struct SequenceDescription : GraphDescription {
  std::uint64_t tokens = 0;
  std::uint64_t tags = 0;             ///< that all answers have together
  std::uint64_t untagged_tokens = 0;  ///< without any answer
  std::uint64_t partial_answers = 0;  ///< that leave out tokens of their document
  std::uint64_t misplaced_tags = 0;   ///< I-x after O or after another type
  double outside_share = 0;           ///< of the tags
  double token_alpha = 0;             ///< Krippendorff's, nominal, over tokens with two tags at least
  /// Two workers on one document: spans of one against those of the other, all pairs pooled; NaN without pairs.
  double pairwise_f1 = 0, pairwise_relaxed_f1 = 0;
  std::vector<std::uint64_t> spans_of_type;  ///< in all answers
  std::vector<double> pairwise_f1_of_type;
  std::vector<Warning> warnings;
};
[[nodiscard]] SequenceDescription describe(const SequenceAnswers& answers);

}  // namespace wisecrowd
