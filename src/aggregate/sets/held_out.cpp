#include "aggregate/held_out.hpp"

#include "wisecrowd/set_methods.hpp"

namespace wisecrowd {

template <>
void divide<Sets>(const SetData& data, std::span<const std::uint32_t> fold_of, std::uint32_t fold, SetData& visible,
                  std::vector<SetAnswer>& hidden) {
  const SetAnswers& answers = data.answers;
  const auto offsets = answers.task_offsets();
  std::vector<SetAnswer> seen;
  seen.reserve(answers.answer_count());
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      (fold_of[a] == fold ? hidden : seen).push_back({TaskId(t), answers.workers()[a], answers.set(a)});
    }
  }
  visible.answers = make_set_answers(
      seen, {blank_names(answers.task_count()), blank_names(answers.worker_count()), answers.class_names()},
      DuplicatePolicy::repeat);
  visible.gold = data.gold;
}

WISECROWD_HELD_OUT(Sets);

}  // namespace wisecrowd
