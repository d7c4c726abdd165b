#include "learn/max_mig/max_mig.hpp"

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::max_mig {
namespace {

using Start = Options::Start;
using Workers = Options::Workers;

/// A way to begin and to treat the workers, as a model that can be trained.
Candidate candidate(const Options& options, Start start, Workers workers, const RunContext& context) {
  Options own = options;
  own.start = start;
  own.workers = workers;
  static constexpr const char* kStarts[] = {"", "votes", "aggregator", "coupled", "random"};
  const std::string name = std::string("start ") + kStarts[static_cast<int>(start)] + " with " +
                           (workers == Workers::inferred ? "inferred" : "trained") + " workers";
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
  const bool any_start = options_.start == Start::automatic, any_workers = options_.workers == Workers::automatic;
  std::vector<Candidate> candidates;
  const auto consider = [&](Start start, Workers workers) {
    if (!any_start) start = options_.start;
    if (!any_workers) workers = options_.workers;
    candidates.push_back(candidate(options_, start, workers, context));
    for (std::size_t c = 0; c + 1 < candidates.size(); ++c) {
      if (candidates[c].name == candidates.back().name) return candidates.pop_back();
    }
  };
  consider(Start::votes, Workers::inferred);
  consider(Start::votes, Workers::trained);
  consider(Start::aggregator, Workers::trained);
  consider(Start::coupled, Workers::trained);
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
                            "automatic tries the first three and keeps the one that knows most of hidden tasks"),
      ParameterSpec::choice("aggregator", d.aggregator, names, "which method start=aggregator asks"),
      ParameterSpec::choice(
          "workers", "automatic", {"automatic", "inferred", "trained"},
          "what becomes of the workers: their tables are inferred after each epoch from what network "
          "and answers say together (steady when answers are few), or their weights are trained (sees "
          "through copies); automatic lets hidden tasks decide"),
      ParameterSpec::choice("class_prior", "learned", {"learned", "uniform"},
                            "how frequent the classes are: learned, or all the same"),
      ParameterSpec::real("pooled_answers", d.pooled_answers, 0, 1e6,
                          "answers by an ordinary worker that are added to each worker's own, per class"),
      ParameterSpec::real("worker_learning_rate", d.worker_learning_rate, 0, 100,
                          "size of the steps of the aggregator's weights"),
      ParameterSpec::integer("warm_up", static_cast<std::int64_t>(d.warm_up), 0, 1e6,
                             "epochs before the workers are first inferred"),
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
  const std::string& workers = parameters.choice("workers");
  options.workers = workers == "inferred"  ? Workers::inferred
                    : workers == "trained" ? Workers::trained
                                           : Workers::automatic;
  options.class_prior =
      parameters.choice("class_prior") == "uniform" ? Options::Prior::uniform : Options::Prior::learned;
  options.pooled_answers = parameters.real("pooled_answers");
  options.worker_learning_rate = parameters.real("worker_learning_rate");
  options.warm_up = static_cast<std::size_t>(parameters.integer("warm_up"));
  return std::make_unique<MaxMig>(std::move(options));
}

}  // namespace wisecrowd::max_mig
