#include "learn/bayes_dgc/bayes_dgc.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "learn/shared/answer_memory.hpp"
#include "learn/shared/learner_entry.hpp"

namespace wisecrowd::bayes_dgc {
namespace {

constexpr std::uint32_t kAbsent = 0xFFFFFFFF;

}  // namespace

BayesDgcModel::BayesDgcModel(const TrainingSet& set, const Options& options)
    : set_(&set),
      options_(options),
      tables_(set.worker_count, set.class_count, options.tables),
      class_parameters_(set.class_count, options.class_count),
      log_classes_(set.class_count, 0.0),
      class_share_(set.class_count, 0.0),
      answers_of_worker_(set.worker_count, 0),
      place_(set.worker_count, kAbsent) {
  const std::vector<double> votes = vote_shares(set);
  tables_.update(set, votes);
  for (std::size_t cell = 0; cell < votes.size(); ++cell) class_share_[cell % set.class_count] += votes[cell];
  for (std::size_t k = 0; k < set.class_count; ++k) class_parameters_[k] += class_share_[k];
  normalise(class_share_);
  for (const WorkerId worker : set.worker) ++answers_of_worker_[index(worker)];
  refresh_classes();
}

void BayesDgcModel::refresh_classes() {
  if (options_.prior == Options::Prior::network) return;
  const double total = std::accumulate(class_parameters_.begin(), class_parameters_.end(), 0.0);
  for (std::size_t k = 0; k < log_classes_.size(); ++k) {
    log_classes_[k] = digamma(class_parameters_[k]) - digamma(total);
    if (options_.prior == Options::Prior::divide) {
      log_classes_[k] -= math::log(std::max(class_share_[k], kProbabilityFloor));
    }
  }
}

double BayesDgcModel::infer(std::span<const double> outputs, const TaskAnswers& answers, ClassId gold,
                            std::span<double> labels) const {
  const std::size_t classes = labels.size();
  if (outputs.empty()) {
    for (std::size_t k = 0; k < classes; ++k) labels[k] = math::log(std::max(class_share_[k], kProbabilityFloor));
  } else {
    std::copy(outputs.begin(), outputs.end(), labels.begin());
    const double log_sum = log_sum_exp(labels);
    for (std::size_t k = 0; k < classes; ++k) labels[k] += log_classes_[k] - log_sum;
  }
  for (std::size_t a = 0; a < answers.workers.size(); ++a) {
    const double* const table =
        tables_.geometric().data() + index(answers.workers[a]) * classes * classes + index(answers.labels[a]);
    for (std::size_t k = 0; k < classes; ++k) labels[k] += math::log(table[k * classes]);
  }
  if (gold == kNoClass) return softmax(labels);
  const double value = labels[index(gold)];
  std::fill(labels.begin(), labels.end(), 0.0);
  labels[index(gold)] = 1;
  return value;
}

double BayesDgcModel::loss(std::span<const std::uint32_t> tasks, MatrixView<const double> outputs,
                           MatrixView<double> output_gradients) {
  const std::size_t classes = set_->class_count, cells = classes * classes;
  for (const WorkerId worker : touched_) place_[index(worker)] = kAbsent;
  touched_.clear();
  seen_.clear();
  counts_.clear();
  batch_ = tasks.size();
  batch_classes_.assign(classes, 0.0);
  std::vector<double> q(classes);
  const double share = 1 / static_cast<double>(tasks.size());
  double sum = 0;
  for (std::size_t b = 0; b < tasks.size(); ++b) {
    const std::uint32_t i = tasks[b];
    const auto gradient = output_gradients.row(b);
    const auto said = warming_up_ ? std::span<const double>() : std::span<const double>(outputs.row(b));
    const double log_evidence = infer(said, {set_->workers_of(i), set_->labels_of(i)}, set_->gold[i], q);
    std::copy_n(outputs.row(b).begin(), classes, gradient.begin());
    const double log_sum = softmax(gradient);
    if (warming_up_) {  // cross-entropy to labels that the network had no part in
      for (std::size_t k = 0; k < classes; ++k) sum -= q[k] * (outputs.row(b)[k] - log_sum);
    } else {
      sum -= log_evidence;
    }
    for (std::size_t k = 0; k < classes; ++k) {
      gradient[k] = share * (gradient[k] - q[k]);
      batch_classes_[k] += q[k];
    }
    for (std::uint32_t a = set_->offset[i]; a < set_->offset[i + 1]; ++a) {
      const WorkerId worker = set_->worker[a];
      if (place_[index(worker)] == kAbsent) {
        place_[index(worker)] = static_cast<std::uint32_t>(touched_.size());
        touched_.push_back(worker);
        seen_.push_back(0);
        counts_.resize(counts_.size() + cells, 0.0);
      }
      ++seen_[place_[index(worker)]];
      double* const counts = counts_.data() + place_[index(worker)] * cells + index(set_->label[a]);
      for (std::size_t k = 0; k < classes; ++k) counts[k * classes] += q[k];
    }
  }
  return sum * share;
}

void BayesDgcModel::step(double) {
  const std::size_t classes = set_->class_count, cells = classes * classes;
  const double rate = math::pow(static_cast<double>(steps_) + options_.delay, -options_.forgetting);
  const double share = std::min(rate, 1.0);
  ++steps_;
  const double scale = static_cast<double>(set_->task_count()) / static_cast<double>(batch_);
  for (std::size_t k = 0; k < classes; ++k) {
    class_parameters_[k] =
        (1 - share) * class_parameters_[k] + share * (options_.class_count + scale * batch_classes_[k]);
    class_share_[k] = (1 - share) * class_share_[k] + share * batch_classes_[k] / static_cast<double>(batch_);
  }
  refresh_classes();
  // Each worker's answers of the batch stand for all of them; who is absent stays where they are.
  for (std::size_t p = 0; p < touched_.size(); ++p) {
    const auto counts = std::span(counts_).subspan(p * cells, cells);
    const double each = static_cast<double>(answers_of_worker_[index(touched_[p])]) / static_cast<double>(seen_[p]);
    for (double& count : counts) count *= each;
    tables_.move(touched_[p], counts, share);
  }
}

double BayesDgcModel::bound(std::span<const double> outputs) const {
  const std::size_t classes = set_->class_count;
  std::vector<double> q(classes);
  double sum = -tables_.divergence();
  for (std::size_t i = 0; i < set_->task_count(); ++i) {
    sum += infer(outputs.subspan(i * classes, classes), {set_->workers_of(i), set_->labels_of(i)}, set_->gold[i], q);
  }
  if (options_.prior != Options::Prior::network) {
    const std::vector<double> before(classes, options_.class_count);
    const double total = std::accumulate(class_parameters_.begin(), class_parameters_.end(), 0.0);
    sum -= log_beta(before) - log_beta(class_parameters_);
    for (std::size_t k = 0; k < classes; ++k) {
      sum -= (class_parameters_[k] - before[k]) * (digamma(class_parameters_[k]) - digamma(total));
    }
  }
  return sum;
}

void BayesDgcModel::end_training(const Epoch& epoch) {
  const std::size_t classes = set_->class_count;
  std::vector<double> outputs(set_->task_count() * classes), q(classes);
  epoch.predict(outputs);
  bound_ = bound(outputs);
  class_mass_.assign(classes, 0.0);
  for (std::size_t i = 0; i < set_->task_count(); ++i) {
    infer(std::span(outputs).subspan(i * classes, classes), {set_->workers_of(i), set_->labels_of(i)}, set_->gold[i],
          q);
    for (std::size_t k = 0; k < classes; ++k) class_mass_[k] += q[k];
  }
}

void BayesDgcModel::posterior(std::span<const double> outputs, const TaskAnswers& answers,
                              std::span<double> probabilities) const {
  infer(outputs, answers, kNoClass, probabilities);
}

double BayesDgcModel::answer_probability(std::span<const double> outputs, WorkerId worker, ClassId label) const {
  std::vector<double> f(outputs.size());
  for (std::size_t k = 0; k < f.size(); ++k) f[k] = outputs[k] + log_classes_[k];
  softmax(f);
  return answer_from_tables(f, tables_.means(), worker, label);
}

void BayesDgcModel::remember(AnswerMemory& memory) const {
  memory.tables = tables_.means();
  memory.log_weights = log_of_tables(tables_.geometric());
  memory.bias = log_classes_;
}

void BayesDgcModel::describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const {
  AnswerModel::describe(learned, data, outputs_of);
  learned.crowd.learned.emplace_back("evidence_lower_bound", bound_);
  const auto votes = vote_shares(*set_);
  std::vector<double> voted(set_->class_count, 0.0);
  for (std::size_t cell = 0; cell < votes.size(); ++cell) voted[cell % set_->class_count] += votes[cell];
  for (std::size_t k = 0; k < class_mass_.size(); ++k) {
    if (class_mass_[k] >= 1 || voted[k] < 2) continue;
    learned.crowd.warnings.push_back(
        {"class_vanished",
         fmt::format(
             "class '{}' has no task left, though it got votes worth {:.0f} tasks{}",
             data.crowd.answers.class_names()[k], voted[k],
             options_.prior == Options::Prior::product ? ": prior=product counts how frequent a class is twice" : ""),
         options_.prior == Options::Prior::product ? "set prior=network." : "try more answers, or another seed.",
         Severity::serious});
  }
}

Recipe BayesDgc::recipe(const LearningData&, const NetworkSpec&, const RunContext&) const {
  return {options_.training,
          [this](const TrainingSet& set, Rng) { return std::make_unique<BayesDgcModel>(set, options_); }};
}

namespace {

constexpr auto kPriorNames = enum_names<Options::Prior>(
    {{Options::Prior::network, "network"}, {Options::Prior::product, "product"}, {Options::Prior::divide, "divide"}});

void parameters(ParameterVisitor& v, Options& o) {
  dirichlet_parameters(v, o.tables);
  v.choice("prior", o.prior, kPriorNames,
           "what a task is believed to be before its answers: what the network says; that times "
           "the class prior (as published; counts frequent classes twice and can lose rare ones); "
           "or that times the class prior over the mean label");
  v.integer("warm_up", o.warm_up, 0, 1e6,
            "epochs in which the answers alone make the labels, until the network is of use");
  v.real("class_pseudo_count", o.class_count, 1e-3, 1e9, "Dirichlet parameter of every class");
  v.real("delay", o.delay, 1e-3, 1e9,
         "the t-th step of workers and classes goes the share (t + delay)^-forgetting of the way; "
         "more delay makes the first steps smaller");
  v.real("forgetting", o.forgetting, 0, 1, "see delay; 0 is the whole way at each step, right only with batch=0");
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "BayesDGC: a network and Bayesian workers by stochastic variational inference";
  info.summary = "Network, class prior and a Dirichlet table per worker, all moved by each batch on one bound.";
  info.when_to_use = "Independent workers and few answers; data too large for passes over all tasks between epochs.";
  info.reference =
      "Li, Huang, Chen: Crowdsourcing aggregation with deep Bayesian learning, Science China Information Sciences 64, "
      "2021";
  info.uses_gold = true;
  info.assumptions = "Given the truth, workers answer independently of each other and of the features.";
  info.cost = "O(S K) and a table per worker of the batch per epoch beside the network; memory O(M K²)";
  return LearnerEntry::of<BayesDgc, parameters>(std::move(info));
}

}  // namespace wisecrowd::bayes_dgc
