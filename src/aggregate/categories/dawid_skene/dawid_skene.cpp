#include "aggregate/categories/dawid_skene/dawid_skene.hpp"

#include "aggregate/categories/shared/fixed_smoothing.hpp"

namespace wisecrowd::dawid_skene {

MethodInfo info() {
  const Options defaults;
  MethodInfo info;
  info.title = "Dawid–Skene";
  info.summary = "Each worker has a full confusion table; EM finds tables and truth together.";
  info.when_to_use =
      "The workhorse: workers who confuse some classes more than others, are biased, or cheat, with ten or more "
      "answers each.";
  info.reference =
      "A. P. Dawid and A. M. Skene, Maximum likelihood estimation of observer error-rates using the EM algorithm, 1979";
  info.assumptions = "Answers are independent given the truth; workers have enough answers to fill their tables.";
  info.cost = "time S·K per iteration; memory N·K + M·K²";
  info.uses_start = true;
  info.parameters = {
      ParameterSpec::real("pseudo_count", defaults.pseudo_count, 0, 1e9,
                          "answers added to every cell of every confusion table"),
      ParameterSpec::real("diagonal_pseudo_count", defaults.diagonal_pseudo_count, 0, 1e9,
                          "right answers added to every class of every worker"),
  };
  for (auto& parameter : em_parameters()) info.parameters.push_back(std::move(parameter));
  info.uses_gold = true;
  info.uses_task_priors = true;
  return info;
}

std::unique_ptr<CategoryAggregator> make(const Parameters& parameters) {
  return std::make_unique<DawidSkene>(Options{.em = em_options_from(parameters),
                                              .pseudo_count = parameters.real("pseudo_count"),
                                              .diagonal_pseudo_count = parameters.real("diagonal_pseudo_count")});
}

CategoryFit DawidSkene::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  return fit_confusion_em(data, context, options_.em, start, [this](const ConfusionPass& pass) {
    return std::make_unique<FixedSmoothing>(pass.class_count(), pass.stride(), options_.pseudo_count,
                                            options_.diagonal_pseudo_count);
  });
}

}  // namespace wisecrowd::dawid_skene
