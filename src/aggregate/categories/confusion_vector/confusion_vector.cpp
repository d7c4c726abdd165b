#include "aggregate/categories/confusion_vector/confusion_vector.hpp"

#include "aggregate/categories/shared/accuracy_tables.hpp"

namespace wisecrowd::confusion_vector {
namespace {

class AccuracyPerClass final : public CrowdModel {
 public:
  AccuracyPerClass(std::size_t classes, std::size_t stride, const Options& options)
      : classes_(classes), stride_(stride), right_(options.right_pseudo_count), wrong_(options.wrong_pseudo_count) {}

  double update(std::size_t, const double* counts, double* log_rows) const override {
    double objective = 0;
    for (std::size_t k = 0; k < stride_; ++k) {
      if (k >= classes_) {
        for (std::size_t l = 0; l < classes_; ++l) log_rows[l * stride_ + k] = 0;
        continue;
      }
      double all = 0;
      for (std::size_t l = 0; l < classes_; ++l) all += counts[l * stride_ + k];
      const double right = counts[k * stride_ + k];
      const AccuracyLogs logs = accuracy_logs(right, all - right, right_, wrong_, classes_);
      for (std::size_t l = 0; l < classes_; ++l) log_rows[l * stride_ + k] = l == k ? logs.right : logs.each_wrong;
      objective += logs.objective;
    }
    return objective;
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
  info.title = "Confusion-vector Dawid–Skene";
  info.summary = "One accuracy per worker and class; wrong answers fall on the other classes evenly.";
  info.when_to_use =
      "Between one_coin and dawid_skene: workers are better at some classes than at others, but there are too few "
      "answers for a "
      "full table of many classes.";
  info.reference = "The class-wise accuracy model between Dawid and Skene's one-coin and full models, 1979";
  info.assumptions =
      "Each worker recognises some classes better than others, and errs at random. Answers are independent given the "
      "truth.";
  info.cost = "time S·K per iteration; memory N·K + M·K²";
  info.uses_start = true;
  info.parameters = accuracy_parameters(defaults.right_pseudo_count, defaults.wrong_pseudo_count);
  info.uses_gold = true;
  info.uses_task_priors = true;
  return info;
}

std::unique_ptr<CategoryAggregator> make(const Parameters& parameters) {
  return std::make_unique<ConfusionVector>(Options{.em = em_options_from(parameters),
                                                   .right_pseudo_count = parameters.real("right_pseudo_count"),
                                                   .wrong_pseudo_count = parameters.real("wrong_pseudo_count")});
}

CategoryFit ConfusionVector::fit(const CategoryData& data, const RunContext& context,
                                 const CategoryStart& start) const {
  return fit_confusion_em(data, context, options_.em, start, [this](const ConfusionPass& pass) {
    return std::make_unique<AccuracyPerClass>(pass.class_count(), pass.stride(), options_);
  });
}

}  // namespace wisecrowd::confusion_vector
