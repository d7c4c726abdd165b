#pragma once

#include <variant>

#include "wisecrowd/category_result.hpp"
#include "wisecrowd/comparison_result.hpp"
#include "wisecrowd/number_result.hpp"
#include "wisecrowd/sequence_result.hpp"
#include "wisecrowd/set_result.hpp"
#include "wisecrowd/similarity_result.hpp"

namespace wisecrowd {

/// The outcome of one run, whatever the answers are: for those who compose (the command line, the store, the report).
/// They ask once which kind it is; everything below is typed.
using Result =
    std::variant<CategoryResult, NumberResult, ComparisonResult, SimilarityResult, SetResult, SequenceResult>;

[[nodiscard]] inline const RunRecord& record_of(const Result& result) {
  return std::visit([](const auto& own) -> const RunRecord& { return own.record; }, result);
}

/// A result of any kind that somebody else keeps.
class ResultView {
 public:
  ResultView(const CategoryResult& result) : categories_(&result) {}
  ResultView(const NumberResult& result) : numbers_(&result) {}
  ResultView(const ComparisonResult& result) : comparisons_(&result) {}
  ResultView(const SimilarityResult& result) : similarities_(&result) {}
  ResultView(const SetResult& result) : sets_(&result) {}
  ResultView(const SequenceResult& result) : sequences_(&result) {}
  ResultView(const Result& result)
      : categories_(std::get_if<CategoryResult>(&result)),
        numbers_(std::get_if<NumberResult>(&result)),
        comparisons_(std::get_if<ComparisonResult>(&result)),
        similarities_(std::get_if<SimilarityResult>(&result)),
        sets_(std::get_if<SetResult>(&result)),
        sequences_(std::get_if<SequenceResult>(&result)) {}
  [[nodiscard]] const CategoryResult* categories() const noexcept { return categories_; }
  [[nodiscard]] const NumberResult* numbers() const noexcept { return numbers_; }
  [[nodiscard]] const SimilarityResult* similarities() const noexcept { return similarities_; }
  [[nodiscard]] const ComparisonResult* comparisons() const noexcept { return comparisons_; }
  [[nodiscard]] const SetResult* sets() const noexcept { return sets_; }
  [[nodiscard]] const SequenceResult* sequences() const noexcept { return sequences_; }

 private:
  const CategoryResult* categories_ = nullptr;
  const NumberResult* numbers_ = nullptr;
  const ComparisonResult* comparisons_ = nullptr;
  const SimilarityResult* similarities_ = nullptr;
  const SetResult* sets_ = nullptr;
  const SequenceResult* sequences_ = nullptr;
};

}  // namespace wisecrowd
