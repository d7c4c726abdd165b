#include "learn/two_stage/two_stage.hpp"

#include <algorithm>

#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::two_stage {
namespace {

/// Labels that never change once the aggregator has spoken.
class FixedLabels final : public SoftLabelModel {
 public:
  FixedLabels(const TrainingSet& set, const Options& options, const RunContext& context) : SoftLabelModel(set) {
    const MethodInfo& method = aggregation_method(options.aggregator);
    CategoryFit stage = aggregate(as_dataset(set), method.name, Parameters(method.parameters), context);
    labels_ = std::move(stage.posterior);
    tables_ = stage.confusion.empty() ? tables_from(set, labels_, 0.1, 0) : std::move(stage.confusion);
    if (!stage.class_prior.empty()) class_prior_ = std::move(stage.class_prior);
    warnings_ = std::move(stage.warnings);
    explanation_ = std::move(stage.explanation);

    auto targets = options.targets;
    if (targets == Options::Targets::automatic) {
      // Shares of votes are no probabilities: as targets they only blur.
      targets = method.name == "majority_vote" ? Options::Targets::hard : Options::Targets::soft;
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
      row[index(stage.labels[i])] = 1;
    }
  }

  void describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const override {
    SoftLabelModel::describe(learned, data, outputs_of);
    learned.crowd.warnings.insert(learned.crowd.warnings.end(), warnings_.begin(), warnings_.end());
    learned.crowd.explanation = explanation_;
  }
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<FixedLabels>(*this); }

 private:
  std::vector<Warning> warnings_;
  std::string explanation_;
};

}  // namespace

Learned TwoStage::fit(const LearningData& data, const NetworkSpec& network, const RunContext& context) const {
  if (options_.targets == Options::Targets::truth && !data.crowd.has_gold()) {
    throw Error(ErrorCode::bad_parameter, "targets=truth needs known truth: give gold, or choose other targets");
  }
  return train(
      data, network, options_.training,
      [&](const TrainingSet& set, Rng) { return std::make_unique<FixedLabels>(set, options_, context); }, context);
}

LearnerInfo info() {
  const Options d;
  LearnerInfo info;
  info.title = "Two stages: aggregate, then train";
  info.summary = "Labels by any aggregation method, then a network trained on them.";
  info.when_to_use = "Many answers per task, or as the yardstick that a joint method has to beat.";
  info.reference = "A baseline of every paper in the field; the aggregators have references of their own";
  std::vector<std::string> names;
  for (const MethodInfo& method : aggregation_methods()) names.push_back(method.name);
  info.parameters = {
      ParameterSpec::choice("aggregator", d.aggregator, names, "which method makes the labels"),
      ParameterSpec::choice("targets", "automatic", {"automatic", "hard", "soft", "confident", "truth"},
                            "what the network is trained on: the label, its probabilities, the label weighted by its "
                            "probability, or known truth alone (what a perfect crowd would have given); automatic is "
                            "hard after majority_vote and soft after the others"),
  };
  for (ParameterSpec& spec : training_parameters(d.training)) info.parameters.push_back(std::move(spec));
  info.uses_gold = true;
  info.assumptions = "Those of the aggregator; the features say nothing about the workers.";
  info.cost = "that of the aggregator, then the network's";
  return info;
}

std::unique_ptr<Learner> make(const Parameters& parameters) {
  Options options;
  options.training = training_options(parameters);
  options.aggregator = parameters.choice("aggregator");
  const std::string& targets = parameters.choice("targets");
  options.targets = targets == "hard"        ? Options::Targets::hard
                    : targets == "soft"      ? Options::Targets::soft
                    : targets == "confident" ? Options::Targets::confident
                    : targets == "truth"     ? Options::Targets::truth
                                             : Options::Targets::automatic;
  return std::make_unique<TwoStage>(std::move(options));
}

}  // namespace wisecrowd::two_stage
