#pragma once

#include <cstdint>
#include <mutex>

#include "data/build.hpp"
#include "wisecrowd/similarity_answers.hpp"

namespace wisecrowd {

struct SimilarityAnswers::Column {
  NameTable items;
  std::vector<SimilarPair> pairs;
  HugeVector<std::uint8_t> same;

  mutable std::once_flag hash_once;
  mutable std::uint64_t hash = 0;
};

/// Answers by item and worker in the order of a file.
struct SimilarityRow {
  std::uint32_t left, right;  ///< different items, in any order
  std::uint32_t worker;
  std::uint8_t same;
};

/// Finds the pairs and sorts answers by them. Indices must be in range. `policy` and `repeated` as in
/// build_category_answers; positions of repeats count the rows.
[[nodiscard]] SimilarityAnswers build_similarity_answers(std::span<const SimilarityRow> rows, NameTable items,
                                                         NameTable workers, DuplicatePolicy policy, ThreadPool& pool,
                                                         BuildReport* report,
                                                         std::vector<RepeatedPair>* repeated = nullptr);

}  // namespace wisecrowd
