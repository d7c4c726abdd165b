#pragma once

#include <cstdint>
#include <mutex>

#include "data/build.hpp"
#include "wisecrowd/set_answers.hpp"

namespace wisecrowd {

struct SetAnswers::Column {
  NameTable classes;
  HugeVector<std::uint64_t> offsets;  ///< answers + 1
  HugeVector<ClassId> members;

  mutable std::once_flag hash_once;
  mutable std::uint64_t hash = 0;
};

/// The payload is the row of an answer in a list of sets.
using SetPiece = AnswerPiece<std::uint32_t>;

/// Sets one after the other: row r is members [offsets[r], offsets[r + 1]), ascending and each once.
struct SetRows {
  std::vector<std::uint64_t> offsets{0};
  std::vector<ClassId> members;

  [[nodiscard]] std::size_t size() const noexcept { return offsets.size() - 1; }
  [[nodiscard]] std::span<const ClassId> operator[](std::size_t row) const {
    return std::span(members).subspan(offsets[row], offsets[row + 1] - offsets[row]);
  }
  /// Ends the row that was begun by appending to `members`: sorts it and takes repeats out.
  void end_row();
};

/// Sorts answers into task order; `rows` has a set per payload.
[[nodiscard]] SetAnswers build_set_answers(std::vector<SetPiece> pieces, const SetRows& rows, SetAnswerNames names,
                                           DuplicatePolicy policy, ThreadPool& pool, BuildReport* report,
                                           std::vector<RepeatedPair>* repeated = nullptr);

/// The same where every row names some classes of its answer: rows of one task and worker are united.
[[nodiscard]] SetAnswers build_united_answers(std::vector<SetPiece> pieces, const SetRows& rows, SetAnswerNames names,
                                              ThreadPool& pool);

}  // namespace wisecrowd
