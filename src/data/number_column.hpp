#pragma once

#include <cstdint>
#include <mutex>

#include "data/build.hpp"
#include "wisecrowd/number_answers.hpp"

namespace wisecrowd {

struct NumberAnswers::Column {
  NameTable dimensions;
  HugeVector<double> values;  ///< answers × dimensions

  mutable std::once_flag hash_once;
  mutable std::uint64_t hash = 0;
};

/// The payload is the row of an answer in a table of numbers.
using NumberPiece = AnswerPiece<std::uint32_t>;

/// Sorts answers into task order; `values` holds a row of numbers per payload.
[[nodiscard]] NumberAnswers build_number_answers(std::vector<NumberPiece> pieces, std::span<const double> values,
                                                 NumberAnswerNames names, DuplicatePolicy policy, ThreadPool& pool,
                                                 BuildReport* report, std::vector<RepeatedPair>* repeated = nullptr);

}  // namespace wisecrowd
