#include "aggregate/held_out.hpp"

namespace wisecrowd {

template <>
void divide<Numbers>(const NumberData& data, std::span<const std::uint32_t> fold_of, std::uint32_t fold,
                     NumberData& visible, std::vector<NumberAnswer>& hidden) {
  const NumberAnswers& answers = data.answers;
  const auto offsets = answers.task_offsets();
  std::vector<NumberAnswer> seen;
  seen.reserve(answers.answer_count());
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      (fold_of[a] == fold ? hidden : seen).push_back({TaskId(t), answers.workers()[a], answers.value(a)});
    }
  }
  visible.answers = make_number_answers(
      seen, {blank_names(answers.task_count()), blank_names(answers.worker_count()), answers.dimension_names()},
      DuplicatePolicy::repeat);
  visible.gold = data.gold;
}

WISECROWD_HELD_OUT(Numbers);

}  // namespace wisecrowd
