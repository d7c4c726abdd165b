#include "learn/deep_bp/deep_bp.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "learn/shared/answer_memory.hpp"
#include "learn/shared/clip.hpp"
#include "learn/shared/learner_entry.hpp"

namespace wisecrowd::deep_bp {
namespace {

/// bp counts each kind of wrong answer; here, as in deep_mf, `wrong` is all kinds together.
Parameters propagation(const Options& options, std::size_t classes) {
  constexpr double kLeastCount = 1e-3;  // that bp takes
  const auto others = static_cast<double>(std::max<std::size_t>(classes, 2) - 1);
  Parameters parameters(aggregation_method("bp").parameters);
  parameters.set("model", options.model);
  const bool coin = options.model == "one_coin";
  parameters.set_value(coin ? "right" : "diagonal", options.right);
  parameters.set_value(coin ? "wrong" : "off_diagonal",
                       coin ? options.wrong : std::max(options.wrong / others, kLeastCount));
  parameters.set_value("particles", static_cast<std::int64_t>(options.particles));
  parameters.set_value("max_iterations", static_cast<std::int64_t>(options.max_iterations));
  parameters.set_value("tolerance", options.tolerance);
  return parameters;
}

}  // namespace

DeepBpModel::DeepBpModel(const TrainingSet& set, const Options& options, const RunContext& context)
    : SoftLabelModel(set),
      options_(options),
      context_(&context),
      session_(make_belief_session(as_dataset(set), propagation(options, set.class_count))) {}

DeepBpModel::DeepBpModel(const DeepBpModel& other)
    : SoftLabelModel(other),
      options_(other.options_),
      context_(other.context_),
      session_(other.session_->clone()),
      bethe_(other.bethe_),
      iterations_(other.iterations_),
      converged_(other.converged_) {}

void DeepBpModel::infer(std::span<const double> task_priors) {
  CategoryFit beliefs = session_->infer(task_priors, *context_);
  labels_ = std::move(beliefs.posterior);
  tables_ = std::move(beliefs.confusion);
  class_prior_ = std::move(beliefs.class_prior);
  iterations_ = beliefs.iterations;
  converged_ = beliefs.status != Status::iteration_limit;
  bethe_ = beliefs.trace.empty() ? 0 : beliefs.trace.back();
}

void DeepBpModel::infer_labels(const Epoch& epoch, bool with_network) {
  std::vector<double> priors(set().task_count() * classes(), 1 / static_cast<double>(classes()));
  if (with_network) priors = network_probabilities(epoch);
  for (std::size_t i = 0; i < set().task_count(); ++i) {
    const auto row = std::span(priors).subspan(i * classes(), classes());
    clip(row, options_.ceiling);
    for (double& p : row) p = std::max(p, kProbabilityFloor);
    normalise(row);
  }
  infer(priors);
}

void DeepBpModel::posterior(std::span<const double> outputs, const TaskAnswers& answers,
                            std::span<double> probabilities) const {
  // A task that was trained on has a belief, which does not count its own answers among what is known of its workers.
  const auto place = std::lower_bound(set().task.begin(), set().task.end(), answers.task);
  if (answers.task != kNoTask && place != set().task.end() && *place == answers.task) {
    const auto i = static_cast<std::size_t>(place - set().task.begin());
    std::copy_n(labels_.begin() + static_cast<std::ptrdiff_t>(i * classes()), classes(), probabilities.begin());
    return;
  }
  std::vector<double> log_prior(class_prior_);
  if (!outputs.empty()) {
    classify(outputs, log_prior);
    clip(log_prior, options_.ceiling);
  }
  for (double& p : log_prior) p = math::log(std::max(p, kProbabilityFloor));
  posterior_from_tables(log_prior, answers, tables_, probabilities);
}

void DeepBpModel::remember(AnswerMemory& memory) const {
  SoftLabelModel::remember(memory);
  memory.ceiling = lowest_ceiling(options_.ceiling, classes());
}

void DeepBpModel::describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const {
  SoftLabelModel::describe(learned, data, outputs_of);
  learned.crowd.learned.emplace_back("bethe_log_evidence", bethe_);
  if (!converged_) {
    learned.crowd.warnings.push_back({"messages_not_settled", "the last inference ended before its messages settled",
                                      "raise propagation_iterations, or the prior's strength."});
  }
}

Recipe DeepBp::recipe(const LearningData&, const NetworkSpec&, const RunContext& context) const {
  return {options_.training, [this, &context](const TrainingSet& set, Rng) {
            return std::make_unique<DeepBpModel>(set, options_, context);
          }};
}

namespace {

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("model", o.model, {"one_coin", "two_coin", "tables"},
           "what a worker is: one accuracy; one accuracy per class (two classes only); or a whole "
           "confusion table, by particles");
  v.real("right", o.right, 1e-3, 1e6,
         "prior of an accuracy, Beta(right, wrong); for tables, prior count of a right answer");
  v.real("wrong", o.wrong, 1e-3, 1e6, "see right; for tables, of all kinds of wrong answers together");
  v.integer("particles", o.particles, 1, 1e6, "tables: draws per worker; the same ones every time");
  v.integer("propagation_iterations", o.max_iterations, 1, 1e9,
            "iterations of belief propagation before each epoch, at most");
  v.real("propagation_tolerance", o.tolerance, 0, 1,
         "it ends earlier when no message, as a probability, changes by more than this");
  v.real("ceiling", o.ceiling, 0, 1,
         "how sure the network may be when labels are inferred (at least 1/classes, which is to leave "
         "it out): less where features say little");
  v.integer("warm_up", o.warm_up, 0, 1e6,
            "epochs in which the answers alone make the labels, until the network is of use");
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "deepBP: belief propagation with a network";
  info.summary = "Labels by belief propagation with the network as each task's prior; the network learns the beliefs.";
  info.when_to_use =
      "Sparse answers (two or three per task, a few per worker) and a sensible prior of workers; stands tireless "
      "spammers.";
  info.reference = "Kim, Cho, Kim, Ok: Robust deep learning from crowds with belief propagation, AISTATS 2022";
  info.uses_gold = true;
  info.assumptions = "Workers are draws of the prior and err independently of each other and of the features.";
  info.cost =
      "one coin: S·sqrt(answers per worker) per iteration of propagation, a few of them per epoch; tables: "
      "S·K·particles";
  return LearnerEntry::of<DeepBp, parameters>(std::move(info));
}

}  // namespace wisecrowd::deep_bp
