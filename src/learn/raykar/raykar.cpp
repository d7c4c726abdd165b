#include "learn/raykar/raykar.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "learn/shared/learner_entry.hpp"
#include "learn/shared/trainer.hpp"
#include "learn/shared/training_run.hpp"

namespace wisecrowd::raykar {
namespace {

/// λ that gives the logit of an ordinary row the same variance beforehand, whatever the number and the size of the
/// features: Var(xᵀw + b) = (‖x‖² + 1)/λ.
double weight_penalty(double logit_penalty, const Features& inputs, std::span<const std::uint32_t> rows) {
  double squares = 0;
  const auto add = [&](float value) { squares += static_cast<double>(value) * value; };
  for (const std::uint32_t row : rows) {
    if (inputs.is_sparse()) {
      for (std::uint64_t e = inputs.offsets[row]; e < inputs.offsets[row + 1]; ++e) add(inputs.values[e]);
    } else {
      for (const float value : inputs.row(row)) add(value);
    }
  }
  return logit_penalty * (1 + squares / static_cast<double>(rows.size()));
}

}  // namespace

void RaykarModel::update_tables() {
  tables_ = tables_from(set(), labels_, options_.pseudo_count, options_.diagonal_count);
  std::fill(class_prior_.begin(), class_prior_.end(), 0.0);
  for (std::size_t cell = 0; cell < labels_.size(); ++cell) class_prior_[cell % classes()] += labels_[cell];
  normalise(class_prior_);
}

double RaykarModel::infer_labels(std::span<const double> logits) {
  double objective = 0;
  for (std::size_t row = 0; row < tables_.size() / classes(); ++row) {
    for (std::size_t l = 0; l < classes(); ++l) {
      const double added = options_.pseudo_count + (row % classes() == l ? options_.diagonal_count : 0);
      objective += added * math::log(tables_[row * classes() + l]);
    }
  }
  for (std::size_t i = 0; i < set().task_count(); ++i) {
    const auto score = std::span(labels_).subspan(i * classes(), classes());
    std::copy_n(logits.begin() + static_cast<std::ptrdiff_t>(i * classes()), classes(), score.begin());
    const double log_sum = log_sum_exp(score);
    for (std::uint32_t a = set().offset[i]; a < set().offset[i + 1]; ++a) {
      const double* const table =
          tables_.data() + index(set().worker[a]) * classes() * classes() + index(set().label[a]);
      for (std::size_t k = 0; k < classes(); ++k) score[k] += math::log(table[k * classes()]);
    }
    if (const ClassId gold = set().gold[i]; gold != kNoClass) {
      objective += score[index(gold)] - log_sum;
      std::fill(score.begin(), score.end(), 0.0);
      score[index(gold)] = 1;
    } else {
      objective += softmax(score) - log_sum;
    }
  }
  return objective;
}

Learned Raykar::fit(const LearningData& data, const NetworkSpec& network, const RunContext& context) const {
  const TrainingSet set = tasks_to_learn_from(data);
  const Scaling scaling = options_.standardise ? standardise(data.features, set.row) : Scaling{};
  const Features inputs = scaled(data.features, scaling);
  TrainingOptions training;
  training.epochs = options_.max_iterations;
  training.average_epochs = 0;  // the weights are set, not stepped
  TrainingRun run(
      set, inputs, network, training,
      [this](const TrainingSet& all, Rng) { return std::make_unique<RaykarModel>(all, options_); }, "training",
      context);
  auto& model = dynamic_cast<RaykarModel&>(run.model());
  const LogisticRegression regression(inputs, set.row, set.class_count,
                                      {.penalty = weight_penalty(options_.penalty, inputs, set.row)}, context.pool());
  std::vector<double> weights(regression.weight_count(), 0.0), logits(set.task_count() * set.class_count);

  Learned learned;
  CategoryFit& crowd = learned.crowd;
  crowd.status = Status::iteration_limit;
  const auto started = std::chrono::steady_clock::now();
  while (crowd.trace.size() < options_.max_iterations) {
    // M-step: closed form for the tables, a few Newton steps for the weights; then E-step.
    model.update_tables();
    regression.improve(model.soft_labels(), options_.newton_steps, weights);
    regression.logits(weights, logits);
    const double objective = model.infer_labels(logits) + regression.log_prior(weights);
    if (!std::isfinite(objective)) {
      throw Diverged(
          "the fit left the finite numbers: the features are too large; set standardise=true, or bring them to an "
          "ordinary scale");
    }
    const double before = crowd.trace.empty() ? -std::numeric_limits<double>::infinity() : crowd.trace.back();
    crowd.trace.push_back(objective);
    learned.curve.push_back(
        {-objective / static_cast<double>(set.task_count()), std::numeric_limits<double>::quiet_NaN()});
    context.report({.stage = "training",
                    .done = static_cast<double>(crowd.trace.size()),
                    .total = static_cast<double>(options_.max_iterations),
                    .objective = objective,
                    .has_objective = true});
    if (context.cancelled()) {
      crowd.status = Status::cancelled;
      break;
    }
    if (objective - before <= options_.tolerance * std::abs(objective)) {
      crowd.status = Status::converged;
      break;
    }
  }
  model.update_tables();
  std::transform(weights.begin(), weights.end(), run.network().parameters().begin(),
                 [](double w) { return static_cast<float>(w); });

  crowd.task_count = data.crowd.answers.task_count();
  crowd.worker_count = set.worker_count;
  crowd.class_count = set.class_count;
  crowd.iterations = learned.epochs = learned.chosen_epoch = crowd.trace.size();
  crowd.seconds_per_iteration = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count() /
                                static_cast<double>(crowd.iterations);
  crowd.objective_name = "log posterior";
  crowd.objective_is_monotone = true;
  conclude(run, nullptr, data, network, scaling, 1, learned);
  return learned;
}

namespace {

void parameters(ParameterVisitor& v, Options& o) {
  v.real("pseudo_count", o.pseudo_count, 1e-6, 1e6, "answers added to every cell of a worker's table");
  v.real("diagonal_count", o.diagonal_count, 0, 1e6, "further ones added for the right answer");
  v.real("logit_penalty", o.penalty, 1e-9, 1e9,
         "pull of the classifier towards not knowing: the inverse variance of an ordinary row's logit "
         "beforehand, so that it means the same for two features and for thousands");
  v.integer("newton_steps", o.newton_steps, 1, 1000, "Newton steps for the classifier in each iteration");
  v.integer("max_iterations", o.max_iterations, 1, 1e9, "give up after this many iterations");
  v.real("tolerance", o.tolerance, 0, 1, "stop when the objective rises by less than this share");
  v.flag("standardise", o.standardise, "bring each feature to mean 0 and deviation 1");
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "Raykar: logistic regression and confusion tables by EM";
  info.summary = "A linear classifier and a table per worker, fitted together by exact maximum of the posterior.";
  info.when_to_use =
      "Features that a linear classifier can use, workers who err independently of each other; no step sizes to set.";
  info.reference = "Raykar et al.: Learning from crowds, JMLR 11, 2010";
  info.uses_gold = true;
  info.linear_only = true;
  info.assumptions =
      "Given the truth, workers answer independently of each other and of the features; the classes are linearly "
      "separable up to noise.";
  info.cost = "O(S K) and about 50 passes over the features per iteration; memory O(M K²)";
  return LearnerEntry::of<Raykar, parameters>(std::move(info));
}

}  // namespace wisecrowd::raykar
