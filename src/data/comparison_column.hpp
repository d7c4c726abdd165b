#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "data/build.hpp"
#include "wisecrowd/comparison_answers.hpp"

namespace wisecrowd {

struct ComparisonAnswers::Column {
  NameTable items;
  HugeVector<ItemPair> pairs;
  HugeVector<std::uint8_t> codes;
  bool sides_known = true;

  mutable std::once_flag hash_once;
  mutable std::uint64_t hash = 0;
};

/// Answers in file order: `tasks` are the items shown on the left, the payload is the outcome as it was said.
struct ComparisonPiece : AnswerPiece<std::uint8_t> {
  HugeVector<std::uint32_t> rights;
};

/// Finds the pairs and sorts answers into their order. Indices must be in range and no item compared with itself.
[[nodiscard]] ComparisonAnswers build_comparison_answers(std::vector<ComparisonPiece> pieces,
                                                         ComparisonAnswerNames names, bool sides_known,
                                                         DuplicatePolicy policy, ThreadPool& pool, BuildReport* report,
                                                         std::vector<RepeatedPair>* repeated = nullptr);

/// Gives items and workers their ids in the order of their names; returns the new ids of the items, none if they keep
/// theirs.
std::vector<std::uint32_t> put_in_order(ComparisonAnswerNames& names, std::vector<ComparisonPiece>& pieces,
                                        ThreadPool& pool);

}  // namespace wisecrowd
