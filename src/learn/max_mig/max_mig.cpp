#include "learn/max_mig/max_mig.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/shares.hpp"
#include "learn/shared/learner_entry.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::max_mig {
namespace {

using Start = Options::Start;
using Prior = Options::Prior;

/// Shares are near even if as many equal classes as there are nearly all of these would be as uncertain: exp of their
/// entropy is at least so much of the number of classes (55 : 45 are, 60 : 40 are not).
constexpr double kNearEven = 0.99;

bool near_even(std::span<const double> shares) {
  double entropy = 0;
  for (const double share : shares) entropy -= share > 0 ? share * math::log(share) : 0;
  return math::exp(entropy) >= kNearEven * static_cast<double>(shares.size());
}

/// A way to begin and to treat the prior, as a model that can be trained.
Candidate candidate(const Options& options, Start start, Prior prior, const RunContext& context) {
  Options own = options;
  own.start = start;
  own.class_prior = prior;
  static constexpr const char* kStarts[] = {"", "votes", "aggregator", "coupled", "random"};
  static constexpr const char* kPriors[] = {"", "uniform", "learned", "known"};
  return {fmt::format("start {} with a {} prior", kStarts[static_cast<int>(start)], kPriors[static_cast<int>(prior)]),
          [own, &context](const TrainingSet& set, Rng rng) {
            std::vector<double> labels;
            if (own.start == Start::aggregator) {
              const MethodInfo& method = aggregation_method(own.aggregator);
              labels = aggregate(as_dataset(set), method.name, Parameters(method.parameters), context).posterior;
            }
            return std::make_unique<MaxMigModel>(set, own, labels, rng);
          }};
}

/// The same with a uniform prior, beside the learned one of the same start. Where the shares that were learned are
/// near even, it is preferred, for it has less to learn; elsewhere it must be clearly better.
Candidate beside_learned(const Options& options, Start start, const RunContext& context) {
  Candidate uniform = candidate(options, start, Prior::uniform, context);
  uniform.must_win_by = [start](const AnswerModel& best) -> std::optional<double> {
    const auto& learned = dynamic_cast<const MaxMigModel&>(best);
    if (learned.start() != start) return {};
    return near_even(learned.class_prior()) ? -kClearAdvantage : kClearAdvantage;
  };
  return uniform;
}

/// Known shares as they are used: exactly one per class.
std::vector<double> known_shares(std::vector<double> shares, const CategoryAnswers& answers) {
  if (shares.size() != answers.class_count()) {
    throw Error(
        ErrorCode::bad_parameter,
        fmt::format("parameter 'class_prior' has {} numbers, but there are {} classes: give a share for each of "
                    "them, '{}' first and '{}' last",
                    shares.size(), answers.class_count(), answers.class_names()[0],
                    answers.class_names()[answers.class_count() - 1]));
  }
  normalise(shares);
  return shares;
}

}  // namespace

Recipe MaxMig::recipe(const LearningData& data, const NetworkSpec&, const RunContext& context) const {
  Options options = options_;
  if (options.class_prior == Prior::known) options.shares = known_shares(options.shares, data.crowd.answers);
  const std::vector<Start> starts =
      options.start == Start::automatic ? std::vector{Start::votes, Start::coupled} : std::vector{options.start};
  const bool automatic = options.class_prior == Prior::automatic;
  std::vector<Candidate> candidates;
  for (const Start start : starts) {
    candidates.push_back(candidate(options, start, automatic ? Prior::learned : options.class_prior, context));
  }
  for (const Start start : starts) {
    if (automatic) candidates.push_back(beside_learned(options, start, context));
  }
  return {options.training, std::move(candidates)};
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

void prior_parameter(ParameterVisitor& v, Options& o) {
  std::string text(name_in(kPriorNames, o.class_prior));
  std::vector<std::string> choices = names_in(kPriorNames);
  choices.emplace_back(kSharesExample);
  v.choice(
      "class_prior", text, std::move(choices),
      "how frequent the classes are: all the same, learned from the forecast, or known shares, in the order of the "
      "classes; automatic learns them, and takes equal ones instead where those learned are near even or held-out "
      "answers speak for it");
  o.shares = shares_in(text);
  o.class_prior = o.shares.empty() ? value_in(kPriorNames, "class_prior", text) : Options::Prior::known;
}

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("divergence", o.divergence, kDivergenceNames, "how information is measured");
  v.choice("start", o.start, kStartNames,
           "what the aggregator begins with: tables from the vote, from a method of aggregation, from "
           "a network trained on single answers (right even when most workers copy), or chance; "
           "automatic tries votes and coupled and lets held-out answers decide");
  v.choice("aggregator", o.aggregator, aggregator_names(), "which method start=aggregator asks");
  prior_parameter(v, o);
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
