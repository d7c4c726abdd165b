#include "aggregate/held_out.hpp"

#include "wisecrowd/comparison_aggregator.hpp"

namespace wisecrowd {

/// Other pairs tell the scores of both items.
template <>
inline constexpr bool kHidesWholeTasks<Comparisons> = true;

template <>
void divide<Comparisons>(const ComparisonData& data, std::span<const std::uint32_t> fold_of, std::uint32_t fold,
                         ComparisonData& visible, std::vector<ComparisonAnswer>& hidden) {
  const ComparisonAnswers& answers = data.answers;
  const auto offsets = answers.task_offsets();
  std::vector<ComparisonAnswer> seen;
  seen.reserve(answers.answer_count());
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      (fold_of[a] == fold ? hidden : seen).push_back(answers.answer(TaskId(t), a));
    }
  }
  visible.answers = with_answers(answers, seen);
  visible.gold = data.gold;
  visible.features = data.features;
}

WISECROWD_HELD_OUT(Comparisons);

}  // namespace wisecrowd
