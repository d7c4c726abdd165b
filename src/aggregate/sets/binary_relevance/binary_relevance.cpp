#include "aggregate/sets/binary_relevance/binary_relevance.hpp"

#include <cmath>

#include "aggregate/method.hpp"
#include "aggregate/sets/shared/relevance_pass.hpp"
#include "base/math.hpp"

namespace wisecrowd::binary_relevance {
namespace {

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("base", o.base, kBaseNames, "how each class is decided: by the model of Dawid and Skene, or by a vote");
  v.real("pseudo_count", o.pseudo_count, 1e-9, 1e9, "answers added to every cell of a worker's table of each class");
  sets::iteration_parameters(v, o.em);
}

/// Sensitivity and specificity of every worker and class by themselves, with a fixed number of answers added.
class SeparateTables final : public sets::WorkerModel {
 public:
  SeparateTables(double pseudo_count, std::size_t classes) : pseudo_count_(pseudo_count), classes_(classes) {}

  double update(const sets::Counts& counts, std::size_t worker, sets::LogRow& logs) const override {
    double log_prior = 0;
    for (std::size_t k = 0; k < classes_; ++k) {
      const std::size_t cell = worker * classes_ + k;
      logs.hit[k] = math::log(rate(counts.hits[cell], counts.misses(cell)));
      logs.miss[k] = math::log(rate(counts.misses(cell), counts.hits[cell]));
      logs.false_alarm[k] = math::log(rate(counts.false_alarms(cell), counts.clear(cell, worker)));
      logs.clear[k] = math::log(rate(counts.clear(cell, worker), counts.false_alarms(cell)));
      log_prior += logs.hit[k] + logs.miss[k] + logs.false_alarm[k] + logs.clear[k];
    }
    return pseudo_count_ * log_prior;
  }
  void estimate(const sets::Counts& counts, std::size_t worker, double* sensitivity,
                double* specificity) const override {
    for (std::size_t k = 0; k < classes_; ++k) {
      const std::size_t cell = worker * classes_ + k;
      sensitivity[k] = rate(counts.hits[cell], counts.misses(cell));
      specificity[k] = rate(counts.clear(cell, worker), counts.false_alarms(cell));
    }
  }

 private:
  /// Counts are differences of sums, so that rounding may take them below 0.
  [[nodiscard]] double rate(double of, double other) const {
    const double mine = std::max(of, 0.0) + pseudo_count_;
    return mine / (mine + std::max(other, 0.0) + pseudo_count_);
  }

  double pseudo_count_;
  std::size_t classes_;
};

}  // namespace

Method<Sets> method() {
  MethodInfo info;
  info.title = "Binary relevance";
  info.summary = "Every class by itself: in the set or not, by Dawid–Skene or by a vote.";
  info.when_to_use = "As a baseline, or when workers have many answers and are good at some classes and bad at others.";
  info.reference =
      "M. Zhang, Y. Li, X. Liu and X. Geng, Binary relevance for multi-label learning: an overview, 2018; A. P. Dawid "
      "and A. M. Skene, 1979, for each class";
  info.assumptions = "Classes occur independently, and what a worker does with one says nothing of the others.";
  info.cost = "time S·K per iteration, or the sum of named classes; memory N·K + M·K";
  info.uses_start = true;
  info.uses_gold = true;
  return Method<Sets>::of<BinaryRelevance, parameters>(std::move(info));
}

SetFit BinaryRelevance::fit(const SetData& data, const RunContext& context, const SetStart& start) const {
  SeparateTables model(options_.pseudo_count, data.answers.class_count());
  if (options_.base == Base::dawid_skene) {
    return sets::fit_relevance(data, model, options_.em, start, "log posterior", context);
  }
  SetFit fit = sets::start_set_fit(data, options_.em.sets);
  sets::vote(data, fit, context);
  sets::RelevancePass pass(data, fit, context);
  pass.count();
  for (std::size_t w = 0; w < fit.worker_count; ++w) {
    model.estimate(pass.counts(), w, fit.sensitivity.data() + w * fit.class_count,
                   fit.specificity.data() + w * fit.class_count);
  }
  sets::take_class_prior(fit);
  fit.iterations = 1;
  if (context.cancelled()) fit.status = Status::cancelled;
  return fit;
}

}  // namespace wisecrowd::binary_relevance
