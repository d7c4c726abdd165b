#include "aggregate/held_out.hpp"

#include "wisecrowd/similarity_aggregator.hpp"

namespace wisecrowd {

/// What others say of a pair's items tells of the pair, so that it may be hidden whole.
template <>
inline constexpr bool kHidesWholeTasks<Similarities> = true;

template <>
void divide<Similarities>(const SimilarityData& data, std::span<const std::uint32_t> fold_of, std::uint32_t fold,
                          SimilarityData& visible, std::vector<SimilarityAnswer>& hidden) {
  const SimilarityAnswers& answers = data.answers;
  const auto offsets = answers.task_offsets();
  std::vector<SimilarityAnswer> seen;
  seen.reserve(answers.answer_count());
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      (fold_of[a] == fold ? hidden : seen).push_back({TaskId(t), answers.workers()[a], answers.same()[a] != 0});
    }
  }
  visible = data;
  visible.answers = with_answers(answers, seen);
}

WISECROWD_HELD_OUT(Similarities);

}  // namespace wisecrowd
