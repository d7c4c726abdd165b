#include "aggregate/held_out.hpp"

#include "aggregate/registry.hpp"
#include "wisecrowd/ordered_classes.hpp"

namespace wisecrowd {

template <>
void divide<Categories>(const CategoryData& data, std::span<const std::uint32_t> fold_of, std::uint32_t fold,
                        CategoryData& visible, std::vector<CategoryAnswer>& hidden) {
  const CategoryAnswers& answers = data.answers;
  const auto offsets = answers.task_offsets();
  std::vector<CategoryAnswer> seen;
  seen.reserve(answers.answer_count());
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      (fold_of[a] == fold ? hidden : seen).push_back({TaskId(t), answers.workers()[a], answers.labels()[a]});
    }
  }
  visible.answers = inherited(
      answers,
      make_category_answers(
          seen, {blank_names(answers.task_count()), blank_names(answers.worker_count()), answers.class_names()},
          DuplicatePolicy::repeat));
  visible.gold = data.gold;
  visible.task_priors = data.task_priors;
  visible.trusted = data.trusted;
  visible.worker_groups = data.worker_groups;
}

template <>
std::unique_ptr<CategoryAggregator> method_for<Categories>(const CategoryData& data, const MethodStage& stage) {
  require_fit(aggregation_method(stage.method), data, false);
  return make_aggregator(stage.method, stage.parameters);
}

WISECROWD_HELD_OUT(Categories);

}  // namespace wisecrowd
