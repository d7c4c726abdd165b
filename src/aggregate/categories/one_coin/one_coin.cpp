#include "aggregate/categories/one_coin/one_coin.hpp"

#include "aggregate/categories/one_coin/without_tables.hpp"
#include "aggregate/categories/shared/accuracy_tables.hpp"
#include "aggregate/categories/shared/memory_need.hpp"

namespace wisecrowd::one_coin {
namespace {

class OneAccuracy final : public CrowdModel {
 public:
  OneAccuracy(std::size_t classes, std::size_t stride, const Options& options)
      : classes_(classes), stride_(stride), right_(options.right_pseudo_count), wrong_(options.wrong_pseudo_count) {}

  double update(std::size_t, const double* counts, double* log_rows) const override {
    double right = 0, all = 0;
    for (std::size_t l = 0; l < classes_; ++l) {
      right += counts[l * stride_ + l];
      for (std::size_t k = 0; k < classes_; ++k) all += counts[l * stride_ + k];
    }
    const AccuracyLogs logs = accuracy_logs(right, all - right, right_, wrong_, classes_);
    for (std::size_t l = 0; l < classes_; ++l) {
      for (std::size_t k = 0; k < stride_; ++k) log_rows[l * stride_ + k] = k == l ? logs.right : logs.each_wrong;
    }
    return logs.objective;
  }

 private:
  std::size_t classes_;
  std::size_t stride_;
  double right_;
  double wrong_;
};

}  // namespace

MethodInfo info() {
  const Options defaults;
  MethodInfo info;
  info.title = "One-coin Dawid–Skene";
  info.summary = "One accuracy per worker; wrong answers fall on the other classes evenly.";
  info.when_to_use =
      "Few answers per worker and errors without a pattern. Not for workers who favour a class: there it can end far "
      "below "
      "majority vote.";
  info.reference = "The homogeneous model of Dawid and Skene, 1979; Y. Zhang et al., Spectral methods meet EM, 2014";
  info.assumptions =
      "Workers err at random: no favourite class, no favourite confusion. Answers are independent given the truth.";
  info.cost = "time S·K per iteration; memory N·K + M·K², or N·K + 16·S where tables would be too large";
  info.uses_start = true;
  info.parameters = accuracy_parameters(defaults.right_pseudo_count, defaults.wrong_pseudo_count);
  info.uses_gold = true;
  info.uses_task_priors = true;
  return info;
}

std::unique_ptr<CategoryAggregator> make(const Parameters& parameters) {
  return std::make_unique<OneCoin>(Options{.em = em_options_from(parameters),
                                           .right_pseudo_count = parameters.real("right_pseudo_count"),
                                           .wrong_pseudo_count = parameters.real("wrong_pseudo_count")});
}

CategoryFit OneCoin::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  if (!tables_fit(shape_of(data.answers, context))) return fit_without_tables(data, context, options_, start);
  CategoryFit result = fit_confusion_em(data, context, options_.em, start, [this](const ConfusionPass& pass) {
    return std::make_unique<OneAccuracy>(pass.class_count(), pass.stride(), options_);
  });
  // The diagonal is the same in every row.
  result.skill.resize(result.worker_count);
  for (std::size_t w = 0; w < result.skill.size() && result.class_count > 0; ++w) {
    result.skill[w] = result.confusion[w * result.class_count * result.class_count];
  }
  return result;
}

}  // namespace wisecrowd::one_coin
