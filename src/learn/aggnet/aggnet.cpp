#include "learn/aggnet/aggnet.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "learn/shared/answer_memory.hpp"
#include "learn/shared/clip.hpp"
#include "learn/shared/learner_entry.hpp"

namespace wisecrowd::aggnet {

AggNetModel::AggNetModel(const TrainingSet& set, const Options& options) : SoftLabelModel(set), options_(options) {
  tables_ = tables_from(set, labels_, options.pseudo_count, options.diagonal_count);
}

void AggNetModel::believe(std::span<double> probabilities) const {
  clip(probabilities, options_.ceiling);
  for (double& p : probabilities) p = math::log(std::max(p, kProbabilityFloor));
}

void AggNetModel::posterior(std::span<const double> outputs, const TaskAnswers& answers,
                            std::span<double> probabilities) const {
  if (outputs.empty()) return SoftLabelModel::posterior(outputs, answers, probabilities);
  std::vector<double> log_class(outputs.size());
  classify(outputs, log_class);
  believe(log_class);
  posterior_from_tables(log_class, answers, tables_, probabilities);
}

void AggNetModel::remember(AnswerMemory& memory) const {
  SoftLabelModel::remember(memory);
  memory.ceiling = lowest_ceiling(options_.ceiling, classes());
}

void AggNetModel::begin_epoch(const Epoch& epoch) {
  if (epoch.number % options_.label_every != 0) return;
  // E-step: before the network has learned anything, the crowd alone.
  std::vector<double> prior;
  if (epoch.number >= options_.warm_up) prior = network_probabilities(epoch);
  std::vector<double> log_class(classes());
  for (std::size_t i = 0; i < set().task_count(); ++i) {
    if (prior.empty()) {
      for (std::size_t k = 0; k < classes(); ++k)
        log_class[k] = math::log(std::max(class_prior_[k], kProbabilityFloor));
    } else {
      std::copy_n(prior.begin() + static_cast<std::ptrdiff_t>(i * classes()), classes(), log_class.begin());
      believe(log_class);
    }
    posterior_from_tables(log_class, {set().workers_of(i), set().labels_of(i)}, tables_,
                          std::span(labels_).subspan(i * classes(), classes()));
  }
  pin_gold();
  // M-step of the tables; the network's is the epoch that follows.
  tables_ = tables_from(set(), labels_, options_.pseudo_count, options_.diagonal_count);
  std::fill(class_prior_.begin(), class_prior_.end(), 0.0);
  for (std::size_t cell = 0; cell < labels_.size(); ++cell) class_prior_[cell % classes()] += labels_[cell];
  normalise(class_prior_);
}

Recipe AggNet::recipe(const LearningData&, const NetworkSpec&, const RunContext&) const {
  return {options_.training,
          [this](const TrainingSet& set, Rng) { return std::make_unique<AggNetModel>(set, options_); }};
}

namespace {

void parameters(ParameterVisitor& v, Options& o) {
  v.integer("warm_up", o.warm_up, 0, 1e6,
            "epochs in which the answers alone make the labels, until the network is of use");
  v.real("pseudo_count", o.pseudo_count, 1e-6, 1e6, "answers added to every cell of a worker's table");
  v.real("diagonal_count", o.diagonal_count, 0, 1e6, "further ones added for the right answer");
  v.real("ceiling", o.ceiling, 0, 1,
         "how sure the network may be when labels are inferred (at least 1/classes): less keeps it "
         "from talking itself into its own errors");
  v.integer("label_every", o.label_every, 1, 1e6, "epochs of the network between two inferences of the labels");
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "AggNet: expectation maximisation with a network";
  info.summary = "Infers labels from network and answers, trains the network on them, and so on.";
  info.when_to_use = "Workers who err independently of each other; strong when that holds, misled by copies.";
  info.reference =
      "Albarqouni et al.: AggNet: deep learning from crowds for mitosis detection in breast cancer histology images, "
      "IEEE TMI 2016";
  info.uses_gold = true;
  info.assumptions = "Given the truth, workers answer independently of each other and of the features.";
  info.cost = "O(S K) per epoch beside the network; memory O(M K²)";
  return LearnerEntry::of<AggNet, parameters>(std::move(info));
}

}  // namespace wisecrowd::aggnet
