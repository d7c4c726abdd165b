#include "learn/lfc/lfc.hpp"

#include "learn/shared/learner_entry.hpp"

namespace wisecrowd::lfc {

Recipe Lfc::recipe(const LearningData&, const NetworkSpec&, const RunContext& context) const {
  return {options_.training, [this, &context](const TrainingSet& set, Rng) {
            auto reliability = std::make_unique<PerWorkerLogistic>(
                *set.inputs, set.worker_count, PerWorkerLogistic::Options{.ridge = options_.ridge}, context.pool());
            return std::make_unique<ReliabilityModel>(set, std::move(reliability),
                                                      ReliabilityModel::Options{.warm_up = options_.warm_up});
          }};
}

namespace {

void parameters(ParameterVisitor& v, Options& o) {
  v.real("ridge", o.ridge, 1e-9, 1e9,
         "pull of a worker's weights towards 0, and of their level towards that of all workers");
  v.integer("warm_up", o.warm_up, 0, 1e6, "epochs in which the answers alone make the labels");
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "Learning from crowds with features: expertise that varies";
  info.summary =
      "EM with a linear classifier and, for each worker, a logistic regression of being right on the features.";
  info.when_to_use = "Few workers with many answers each, whose skill depends on the features.";
  info.reference =
      "Yan et al.: Modeling annotator expertise: learning when everybody knows a bit of something, "
      "AISTATS 2010";
  info.uses_gold = true;
  info.linear_only = true;
  info.assumptions = "Given truth and features, workers answer independently; a wrong answer is any wrong class alike.";
  info.cost =
      "O(S D) per iteration of the reliability, some tens per epoch; memory O(M D), for sparse features only "
      "the columns that a worker has seen";
  return LearnerEntry::of<Lfc, parameters>(std::move(info));
}

}  // namespace wisecrowd::lfc
