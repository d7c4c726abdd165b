#include "learn/deep_mf/deep_mf.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "learn/shared/answer_memory.hpp"
#include "learn/shared/clip.hpp"
#include "learn/shared/learner_entry.hpp"

namespace wisecrowd::deep_mf {

DeepMfModel::DeepMfModel(const TrainingSet& set, const Options& options)
    : SoftLabelModel(set), options_(options), workers_(set.worker_count, set.class_count, options.tables) {
  workers_.update(set, labels_);
  tables_ = workers_.means();
}

void DeepMfModel::update(std::span<const double> task_priors) {
  bound_ = 0;
  std::vector<double> log_prior(classes());
  for (std::size_t i = 0; i < set().task_count(); ++i) {
    for (std::size_t k = 0; k < classes(); ++k) {
      log_prior[k] = math::log(std::max(task_priors[i * classes() + k], kProbabilityFloor));
    }
    const auto q = std::span(labels_).subspan(i * classes(), classes());
    posterior_from_tables(log_prior, {set().workers_of(i), set().labels_of(i)}, workers_.geometric(), q);
    if (const ClassId gold = set().gold[i]; gold != kNoClass) {
      std::fill(q.begin(), q.end(), 0.0);
      q[index(gold)] = 1;
    }
    bound_ += entropy(q);
    for (std::size_t k = 0; k < classes(); ++k) bound_ += q[k] * log_prior[k];
  }
  workers_.update(set(), labels_);
  // The rest of the bound, E ln p(answers | truth, tables), with the tables as they are now.
  for (std::size_t i = 0; i < set().task_count(); ++i) {
    for (std::uint32_t a = set().offset[i]; a < set().offset[i + 1]; ++a) {
      const double* const table =
          workers_.geometric().data() + index(set().worker[a]) * classes() * classes() + index(set().label[a]);
      for (std::size_t k = 0; k < classes(); ++k) {
        const double q = labels_[i * classes() + k];
        if (q > 0) bound_ += q * math::log(table[k * classes()]);
      }
    }
  }
  bound_ -= workers_.divergence();
  tables_ = workers_.means();
  std::fill(class_prior_.begin(), class_prior_.end(), 0.0);
  for (std::size_t cell = 0; cell < labels_.size(); ++cell) class_prior_[cell % classes()] += labels_[cell];
  normalise(class_prior_);
}

void DeepMfModel::infer_labels(const Epoch& epoch, bool with_network) {
  std::vector<double> priors(set().task_count() * classes(), 1 / static_cast<double>(classes()));
  if (with_network) priors = network_probabilities(epoch);
  for (std::size_t i = 0; i < set().task_count(); ++i) {
    clip(std::span(priors).subspan(i * classes(), classes()), options_.ceiling);
  }
  for (std::size_t round = 0; round < options_.updates; ++round) update(priors);
}

void DeepMfModel::posterior(std::span<const double> outputs, const TaskAnswers& answers,
                            std::span<double> probabilities) const {
  std::vector<double> log_prior(class_prior_);
  if (!outputs.empty()) {
    classify(outputs, log_prior);
    clip(log_prior, options_.ceiling);
  }
  for (double& p : log_prior) p = math::log(std::max(p, kProbabilityFloor));
  posterior_from_tables(log_prior, answers, workers_.geometric(), probabilities);
}

void DeepMfModel::remember(AnswerMemory& memory) const {
  SoftLabelModel::remember(memory);
  memory.ceiling = lowest_ceiling(options_.ceiling, classes());
  memory.log_weights = log_of_tables(workers_.geometric());
}

void DeepMfModel::describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const {
  SoftLabelModel::describe(learned, data, outputs_of);
  learned.crowd.learned.emplace_back("evidence_lower_bound", bound_);
}

Recipe DeepMf::recipe(const LearningData&, const NetworkSpec&, const RunContext&) const {
  return {options_.training,
          [this](const TrainingSet& set, Rng) { return std::make_unique<DeepMfModel>(set, options_); }};
}

namespace {

void parameters(ParameterVisitor& v, Options& o) {
  dirichlet_parameters(v, o.tables);
  v.real("ceiling", o.ceiling, 0, 1,
         "how sure the network may be when labels are inferred (at least 1/classes, which is to leave "
         "it out): less where features say little");
  v.integer("warm_up", o.warm_up, 0, 1e6,
            "epochs in which the answers alone make the labels, until the network is of use");
  v.integer("updates", o.updates, 1, 1e6, "updates of labels and workers before each epoch");
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "deepMF: mean-field inference with a network";
  info.summary = "Labels by variational Bayes with the network as each task's prior; the network learns the labels.";
  info.when_to_use =
      "Few answers per worker, so that a prior of workers helps; cheaper than deep_bp, which keeps the uncertainty "
      "about workers and stands tireless spammers better.";
  info.reference = "Kim, Cho, Kim, Ok: Robust deep learning from crowds with belief propagation, AISTATS 2022";
  info.uses_gold = true;
  info.assumptions = "Workers are draws of the prior and err independently of each other and of the features.";
  info.cost = "O(S K) per epoch beside the network; memory O(M K²)";
  return LearnerEntry::of<DeepMf, parameters>(std::move(info));
}

}  // namespace wisecrowd::deep_mf
