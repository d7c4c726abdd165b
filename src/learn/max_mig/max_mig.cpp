#include "learn/max_mig/max_mig.hpp"

#include "learn/shared/learner_entry.hpp"
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

namespace {

constexpr auto kDivergenceNames =
    enum_names<Divergence>({{Divergence::kl, "kl"}, {Divergence::pearson, "pearson"}, {Divergence::js, "js"}});
constexpr auto kStartNames = enum_names<Options::Start>({{Options::Start::automatic, "automatic"},
                                                         {Options::Start::votes, "votes"},
                                                         {Options::Start::aggregator, "aggregator"},
                                                         {Options::Start::coupled, "coupled"},
                                                         {Options::Start::random, "random"}});
constexpr auto kPriorNames = enum_names<Options::Prior>({{Options::Prior::automatic, "automatic"},
                                                         {Options::Prior::uniform, "uniform"},
                                                         {Options::Prior::learned, "learned"}});

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("divergence", o.divergence, kDivergenceNames, "how information is measured");
  v.choice("start", o.start, kStartNames,
           "what the aggregator begins with: tables from the vote, from a method of aggregation, from "
           "a network trained on single answers (right even when most workers copy), or chance; "
           "automatic tries votes and coupled and lets held-out answers decide");
  v.choice("aggregator", o.aggregator, aggregator_names(), "which method start=aggregator asks");
  v.choice("class_prior", o.class_prior, kPriorNames,
           "how frequent the classes are: all the same, learned from the forecast, or what held-out "
           "answers speak for");
  v.real("pooled_answers", o.pooled_answers, 0, 1e6,
         "answers by an ordinary worker that are added to each worker's own, per class");
  v.integer("warm_up", o.warm_up, 0, 1e6, "epochs in which only the network learns, from the aggregator as it began");
  v.real("worker_learning_rate", o.worker_learning_rate, 0, 100, "size of the steps of the aggregator's weights");
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "Max-MIG: mutual information of network and crowd";
  info.summary = "Trains a network and an aggregator of the answers so that each tells as much as it can of the other.";
  info.when_to_use =
      "Workers who copy each other, naive workers in the majority, few answers per task: the usual first choice.";
  info.reference =
      "Cao, Xu, Kong, Wang: Max-MIG: an information theoretic approach for joint learning from crowds, ICLR 2019";
  info.uses_gold = true;
  info.assumptions = "Among the workers are some who, given the truth, answer independently of the features.";
  info.cost = "O(S K) per epoch beside the network (js: O(N B K)), once more for each start tried; memory O(M K²)";
  return LearnerEntry::of<MaxMig, parameters>(std::move(info));
}

}  // namespace wisecrowd::max_mig
