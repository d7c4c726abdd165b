#include "learn/lfc/lfc.hpp"

namespace wisecrowd::lfc {

Learned Lfc::fit(const LearningData& data, const NetworkSpec& network, const RunContext& context) const {
  return train(
      data, network, options_.training,
      [&](const TrainingSet& set, Rng) {
        auto reliability = std::make_unique<PerWorkerLogistic>(
            *set.inputs, set.worker_count, PerWorkerLogistic::Options{.ridge = options_.ridge}, context.pool());
        return std::make_unique<ReliabilityModel>(set, std::move(reliability),
                                                  ReliabilityModel::Options{.warm_up = options_.warm_up});
      },
      context);
}

LearnerInfo info() {
  const Options d;
  LearnerInfo info;
  info.title = "Learning from crowds with features: expertise that varies";
  info.summary =
      "EM with a linear classifier and, for each worker, a logistic regression of being right on the features.";
  info.when_to_use = "Few workers with many answers each, whose skill depends on the features.";
  info.reference =
      "Yan et al.: Modeling annotator expertise: learning when everybody knows a bit of something, "
      "AISTATS 2010";
  info.parameters = {
      ParameterSpec::real("ridge", d.ridge, 1e-9, 1e9,
                          "pull of a worker's weights towards 0, and of their level towards that of all workers"),
      ParameterSpec::integer("warm_up", static_cast<std::int64_t>(d.warm_up), 0, 1e6,
                             "epochs in which the answers alone make the labels"),
  };
  for (ParameterSpec& spec : training_parameters(d.training)) info.parameters.push_back(std::move(spec));
  info.uses_gold = true;
  info.linear_only = true;
  info.assumptions = "Given truth and features, workers answer independently; a wrong answer is any wrong class alike.";
  info.cost =
      "O(S D) per iteration of the reliability, some tens per epoch; memory O(M D), for sparse features only "
      "the columns that a worker has seen";
  return info;
}

std::unique_ptr<Learner> make(const Parameters& parameters) {
  return std::make_unique<Lfc>(Options{training_options(parameters), parameters.real("ridge"),
                                       static_cast<std::size_t>(parameters.integer("warm_up"))});
}

}  // namespace wisecrowd::lfc
