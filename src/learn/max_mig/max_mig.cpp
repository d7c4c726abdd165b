#include "learn/max_mig/max_mig.hpp"

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::max_mig {
namespace {

using Start = Options::Start;
using Prior = Options::Prior;

/// A way to begin and to treat the prior, as a model that can be trained.
Candidate candidate(const Options& options, Start start, Prior prior, const RunContext& context) {
  Options own = options;
  own.start = start;
  own.class_prior = prior;
  static constexpr const char* kStarts[] = {"", "votes", "aggregator", "coupled", "random"};
  const std::string name = std::string("start ") + kStarts[static_cast<int>(start)] + " with a " +
                           (prior == Prior::uniform ? "uniform" : "learned") + " prior";
  return {name, [own, &context](const TrainingSet& set, Rng rng) {
            std::vector<double> labels;
            if (own.start == Start::aggregator) {
              const MethodInfo& method = aggregation_method(own.aggregator);
              labels = aggregate(as_dataset(set), method.name, Parameters(method.parameters), context).posterior;
            }
            return std::make_unique<MaxMigModel>(set, own, labels, rng);
          }};
}

}  // namespace

Learned MaxMig::fit(const LearningData& data, const NetworkSpec& network, const RunContext& context) const {
  const std::vector<Start> starts =
      options_.start == Start::automatic ? std::vector{Start::votes, Start::coupled} : std::vector{options_.start};
  const std::vector<Prior> priors = options_.class_prior == Prior::automatic
                                        ? std::vector{Prior::uniform, Prior::learned}
                                        : std::vector{options_.class_prior};
  std::vector<Candidate> candidates;
  for (const Start start : starts) {
    for (const Prior prior : priors) candidates.push_back(candidate(options_, start, prior, context));
  }
  return train(data, network, options_.training, candidates, context);
}

LearnerInfo info() {
  const Options d;
  LearnerInfo info;
  info.title = "Max-MIG: mutual information of network and crowd";
  info.summary = "Trains a network and an aggregator of the answers so that each tells as much as it can of the other.";
  info.when_to_use =
      "Workers who copy each other, naive workers in the majority, few answers per task: the usual first choice.";
  info.reference =
      "Cao, Xu, Kong, Wang: Max-MIG: an information theoretic approach for joint learning from crowds, ICLR 2019";
  std::vector<std::string> names;
  for (const MethodInfo& method : aggregation_methods()) names.push_back(method.name);
  info.parameters = {
      ParameterSpec::choice("divergence", "kl", {"kl", "pearson", "js"}, "how information is measured"),
      ParameterSpec::choice("start", "automatic", {"automatic", "votes", "aggregator", "coupled", "random"},
                            "what the aggregator begins with: tables from the vote, from a method of aggregation, from "
                            "a network trained on single answers (right even when most workers copy), or chance; "
                            "automatic tries votes and coupled and lets hidden answers decide"),
      ParameterSpec::choice("aggregator", d.aggregator, names, "which method start=aggregator asks"),
      ParameterSpec::choice("class_prior", "automatic", {"automatic", "uniform", "learned"},
                            "how frequent the classes are: all the same, learned from the forecast, or what hidden "
                            "answers speak for"),
      ParameterSpec::real("pooled_answers", d.pooled_answers, 0, 1e6,
                          "answers by an ordinary worker that are added to each worker's own, per class"),
      ParameterSpec::integer("warm_up", static_cast<std::int64_t>(d.warm_up), 0, 1e6,
                             "epochs in which only the network learns, from the aggregator as it began"),
      ParameterSpec::real("worker_learning_rate", d.worker_learning_rate, 0, 100,
                          "size of the steps of the aggregator's weights"),
  };
  for (ParameterSpec& spec : training_parameters(d.training)) info.parameters.push_back(std::move(spec));
  info.uses_gold = true;
  info.assumptions = "Among the workers are some who, given the truth, answer independently of the features.";
  info.cost = "O(S K) per epoch beside the network (js: O(N B K)), once more for each start tried; memory O(M K²)";
  return info;
}

std::unique_ptr<Learner> make(const Parameters& parameters) {
  Options options;
  options.training = training_options(parameters);
  const std::string& divergence = parameters.choice("divergence");
  options.divergence = divergence == "pearson" ? Divergence::pearson
                       : divergence == "js"    ? Divergence::js
                                               : Divergence::kl;
  const std::string& start = parameters.choice("start");
  options.start = start == "votes"        ? Start::votes
                  : start == "aggregator" ? Start::aggregator
                  : start == "coupled"    ? Start::coupled
                  : start == "random"     ? Start::random
                                          : Start::automatic;
  options.aggregator = parameters.choice("aggregator");
  const std::string& prior = parameters.choice("class_prior");
  options.class_prior = prior == "uniform" ? Prior::uniform : prior == "learned" ? Prior::learned : Prior::automatic;
  options.pooled_answers = parameters.real("pooled_answers");
  options.warm_up = static_cast<std::size_t>(parameters.integer("warm_up"));
  options.worker_learning_rate = parameters.real("worker_learning_rate");
  return std::make_unique<MaxMig>(std::move(options));
}

}  // namespace wisecrowd::max_mig
