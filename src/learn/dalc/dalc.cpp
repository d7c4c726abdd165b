#include "learn/dalc/dalc.hpp"

#include "learn/shared/learner_entry.hpp"
#include "learn/shared/per_worker_logistic.hpp"

namespace wisecrowd::dalc {

std::unique_ptr<Reliability> make_reliability(const Options& options, const TrainingSet& set, Rng rng,
                                              const RunContext& context) {
  if (options.reliability == Options::Kind::low_rank) {
    return std::make_unique<LowRank>(*set.inputs, set.worker_count, options.low_rank, rng, context.pool());
  }
  const PerWorkerLogistic::Options own{options.own_ridge, options.reliability == Options::Kind::per_worker_logistic,
                                       options.pooled_level};
  return std::make_unique<PerWorkerLogistic>(*set.inputs, set.worker_count, own, context.pool());
}

Recipe Dalc::recipe(const LearningData&, const NetworkSpec& network, const RunContext& context) const {
  // Without dropout all draws are the same.
  const bool drops = network.kind != "linear" && network.dropout > 0;
  const ReliabilityModel::Options model{.samples = drops ? options_.samples : 1, .warm_up = options_.warm_up};
  return {options_.training, [this, model, &context](const TrainingSet& set, Rng rng) {
            return std::make_unique<ReliabilityModel>(set, make_reliability(options_, set, rng, context), model);
          }};
}

namespace {

constexpr auto kReliabilityNames =
    enum_names<Options::Kind>({{Options::Kind::low_rank, "low_rank"},
                               {Options::Kind::per_worker_logistic, "per_worker_logistic"},
                               {Options::Kind::one_coin, "one_coin"}});

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("reliability", o.reliability, kReliabilityNames,
           "how a worker's reliability depends on the task: by a few dimensions that all workers "
           "share, by weights of each worker's own (needs many answers each), or not at all");
  v.choice_formerly("own_weights", "per_worker_logistic");
  v.integer("rank", o.low_rank.rank, 1, 1000, "reliability=low_rank: how many dimensions");
  v.real("worker_ridge", o.low_rank.worker_ridge, 1e-9, 1e9,
         "reliability=low_rank: pull of each worker towards the ordinary one; more when answers are "
         "few");
  v.real("shared_ridge", o.low_rank.shared_ridge, 1e-9, 1e9,
         "reliability=low_rank: pull of the influence of each feature towards none, for features of "
         "deviation 1");
  v.real("own_ridge", o.own_ridge, 1e-9, 1e9,
         "the other two: pull of a worker's weights towards 0, and of their level towards that of all "
         "workers");
  v.flag(
      "pooled_level", o.pooled_level,
      "the other two: whether the level of a worker is drawn towards that of all workers; otherwise towards a coin's, "
      "as published");
  v.integer("samples", o.samples, 1, 1e6,
            "draws of MC-dropout whose mean is the network's opinion when labels are inferred");
  v.integer("warm_up", o.warm_up, 0, 1e6, "epochs in which the answers alone make the labels");
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "DALC: reliability that depends on the task";
  info.summary =
      "EM with a network, where each worker's reliability is a low-rank function of the features, shared by all.";
  info.when_to_use =
      "Very many workers with few answers each whose skill depends on the kind of task; says how far each single "
      "answer "
      "can be trusted.";
  info.reference =
      "Yang, Drake, Damianou, Maarek: Leveraging crowdsourcing data for deep active learning, an application: learning "
      "intents in Alexa, WWW 2018";
  info.uses_gold = true;
  info.assumptions = "Given truth and features, workers answer independently; a wrong answer is any wrong class alike.";
  info.cost =
      "O(S r + N r D) per iteration of the reliability, a few per epoch, and the draws of the network; memory "
      "O(M r + D r + N r)";
  return LearnerEntry::of<Dalc, parameters>(std::move(info));
}

Options options_from(const Parameters& values) { return read_parameters(parameters, values); }

}  // namespace wisecrowd::dalc
