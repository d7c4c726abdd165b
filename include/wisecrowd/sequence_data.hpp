#pragma once

#include <span>
#include <vector>

#include "wisecrowd/sequence_answers.hpp"

namespace wisecrowd {

struct Sequences;

/// Everything that a method for sequences may look at. Only `answers` is required.
struct SequenceData {
  using Kind = Sequences;

  SequenceAnswers answers;

  /// Known truth of every token (kNoTag where unknown), or empty.
  std::vector<TagId> gold;

  /// The tokens themselves, or empty. Methods do not look at them; spans are shown with them.
  NameTable tokens;

  /// The number that files give to the first token of a document: 0 or 1.
  std::uint32_t first_position = 0;

  [[nodiscard]] bool has_gold() const noexcept { return !gold.empty(); }
  [[nodiscard]] std::span<const TagId> gold_of(TaskId document) const noexcept {
    if (gold.empty()) return {};
    return std::span(gold).subspan(answers.token_offsets()[index(document)], answers.length(document));
  }
};

/// Throws bad_input unless gold and tokens fit the answers.
void validate(const SequenceData& data);

}  // namespace wisecrowd
