#include "aggregate/held_out.hpp"

#include "aggregate/sequences/shared/sequence_method.hpp"

namespace wisecrowd {

/// Whole answers are hidden: all that a worker said of a document.
template <>
void divide<Sequences>(const SequenceData& data, std::span<const std::uint32_t> fold_of, std::uint32_t fold,
                       SequenceData& visible, std::vector<SequenceAnswer>& hidden) {
  const SequenceAnswers& answers = data.answers;
  const auto offsets = answers.task_offsets();
  std::vector<SequenceAnswer> seen;
  seen.reserve(answers.answer_count());
  std::vector<std::uint32_t> lengths;
  for (std::size_t d = 0; d < answers.task_count(); ++d) {
    lengths.push_back(static_cast<std::uint32_t>(answers.length(TaskId(d))));
    for (AnswerIndex a = offsets[d]; a < offsets[d + 1]; ++a) {
      (fold_of[a] == fold ? hidden : seen)
          .push_back({TaskId(d), answers.workers()[a], answers.first(a), answers.tags(a)});
    }
  }
  visible.answers = make_sequence_answers(
      seen, {blank_names(answers.task_count()), blank_names(answers.worker_count()), answers.type_names()}, lengths);
  visible.gold = data.gold;
}

WISECROWD_HELD_OUT(Sequences);

}  // namespace wisecrowd
