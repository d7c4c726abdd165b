#include "learn/two_stage/two_stage.hpp"

#include <algorithm>

#include "learn/shared/learner_entry.hpp"
#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::two_stage {
namespace {

/// Least weight of a row whose features disagree with the crowd.
constexpr double kLeastWeight = 0.1;

/// Labels that never change once the aggregator has spoken. With `seen`, what a classifier makes of each row (rows ×
/// classes), a task counts as far as that agrees with them.
class FixedLabels final : public SoftLabelModel {
 public:
  FixedLabels(const TrainingSet& set, const Options& options, std::span<const double> seen, const RunContext& context)
      : SoftLabelModel(set) {
    const MethodInfo& method = aggregation_method(options.aggregator);
    CategoryFit stage = aggregate(as_dataset(set), method.name, Parameters(method.parameters), context);
    labels_ = std::move(stage.posterior);
    tables_ = stage.confusion.empty() ? tables_from(set, labels_, 0.1, 0) : std::move(stage.confusion);
    if (!stage.class_prior.empty()) class_prior_ = std::move(stage.class_prior);
    warnings_ = std::move(stage.warnings);
    explanation_ = std::move(stage.explanation);

    const std::vector<double> agreement = agreement_with(set, seen);
    set_targets(set, options, stage.labels, method.name);
    if (agreement.empty()) return;
    if (weights_.empty()) weights_.assign(set.task_count(), 1.0);
    for (std::size_t i = 0; i < set.task_count(); ++i) weights_[i] *= agreement[i];
  }

  void describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const override {
    SoftLabelModel::describe(learned, data, outputs_of);
    learned.crowd.warnings.insert(learned.crowd.warnings.end(), warnings_.begin(), warnings_.end());
    learned.crowd.explanation = explanation_;
  }
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<FixedLabels>(*this); }

 private:
  /// Σ_k q_ik f_k(x_i) per task, from .1 to 1; tasks with known truth count in full.
  [[nodiscard]] std::vector<double> agreement_with(const TrainingSet& set, std::span<const double> seen) const {
    std::vector<double> agreement;
    if (seen.empty()) return agreement;
    for (std::size_t i = 0; i < set.task_count(); ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < classes(); ++k) {
        sum += labels_[i * classes() + k] * seen[std::size_t{set.row[i]} * classes() + k];
      }
      agreement.push_back(set.gold[i] == kNoClass ? std::clamp(sum, kLeastWeight, 1.0) : 1.0);
    }
    return agreement;
  }

  void set_targets(const TrainingSet& set, const Options& options, std::span<const ClassId> chosen,
                   const std::string& method) {
    auto targets = options.targets;
    if (targets == Options::Targets::automatic) {
      // Shares of votes are no probabilities: as targets they only blur.
      targets = method == "majority_vote" ? Options::Targets::hard : Options::Targets::soft;
    }
    if (targets == Options::Targets::soft) return;
    if (targets == Options::Targets::truth) {
      for (const ClassId gold : set.gold) weights_.push_back(gold == kNoClass ? 0 : 1);
      pin_gold();
      return;
    }
    if (targets == Options::Targets::confident) weights_.resize(set.task_count());
    for (std::size_t i = 0; i < set.task_count(); ++i) {
      const auto row = std::span(labels_).subspan(i * classes(), classes());
      if (!weights_.empty()) weights_[i] = *std::max_element(row.begin(), row.end());
      std::fill(row.begin(), row.end(), 0.0);
      row[index(chosen[i])] = 1;
    }
  }

  std::vector<Warning> warnings_;
  std::string explanation_;
};

}  // namespace

Learned TwoStage::fit(const LearningData& data, const NetworkSpec& network, const RunContext& context) const {
  if (options_.targets == Options::Targets::truth && !data.crowd.has_gold()) {
    throw Error(ErrorCode::bad_parameter, "targets=truth needs known truth: give gold, or choose other targets");
  }
  const auto fit_once = [&](std::span<const double> seen) {
    return train(
        data, network, options_.training,
        [&](const TrainingSet& set, Rng) { return std::make_unique<FixedLabels>(set, options_, seen, context); },
        context);
  };
  Learned learned = fit_once({});
  if (!options_.doubt_features || context.cancelled()) return learned;
  const std::vector<double> seen = std::move(learned.row_probabilities);
  return fit_once(seen);
}

namespace {

constexpr auto kTargetNames = enum_names<Options::Targets>({{Options::Targets::automatic, "automatic"},
                                                            {Options::Targets::hard, "hard"},
                                                            {Options::Targets::soft, "soft"},
                                                            {Options::Targets::confident, "confident"},
                                                            {Options::Targets::truth, "truth"}});

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("aggregator", o.aggregator, aggregator_names(), "which method makes the labels");
  v.choice("targets", o.targets, kTargetNames,
           "what the network is trained on: the label, its probabilities, the label weighted by its "
           "probability, or known truth alone (what a perfect crowd would have given); automatic is "
           "hard after majority_vote and soft after the others");
  v.flag("doubt_features", o.doubt_features,
         "train a second time, where a row counts as far as the first classifier agrees with the crowd, a tenth at "
         "least: for features that do not belong to their tasks, or are spoilt");
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "Two stages: aggregate, then train";
  info.summary = "Labels by any aggregation method, then a network trained on them.";
  info.when_to_use = "Many answers per task, or as the yardstick that a joint method has to beat.";
  info.reference = "A baseline of every paper in the field; the aggregators have references of their own";
  info.uses_gold = true;
  info.assumptions = "Those of the aggregator; the features say nothing about the workers.";
  info.cost = "that of the aggregator, then the network's";
  return LearnerEntry::of<TwoStage, parameters>(std::move(info));
}

}  // namespace wisecrowd::two_stage
