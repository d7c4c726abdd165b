#include "learn/aggnet/aggnet.hpp"

#include <algorithm>
#include <cmath>

#include "base/numeric.hpp"
#include "learn/shared/clip.hpp"

namespace wisecrowd::aggnet {

AggNetModel::AggNetModel(const TrainingSet& set, const Options& options) : SoftLabelModel(set), options_(options) {
  tables_ = tables_from(set, labels_, options.pseudo_count, options.diagonal_count);
}

void AggNetModel::begin_epoch(const Epoch& epoch) {
  // E-step: before the network has learned anything, the crowd alone.
  std::vector<double> prior;
  if (epoch.number >= options_.warm_up) prior = network_probabilities(epoch);
  std::vector<double> log_class(classes());
  for (std::size_t i = 0; i < set().task_count(); ++i) {
    if (prior.empty()) {
      std::copy(class_prior_.begin(), class_prior_.end(), log_class.begin());
    } else {
      std::copy_n(prior.begin() + static_cast<std::ptrdiff_t>(i * classes()), classes(), log_class.begin());
      clip(log_class, options_.ceiling);
    }
    for (double& p : log_class) p = std::log(std::max(p, kProbabilityFloor));
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

Learned AggNet::fit(const LearningData& data, const NetworkSpec& network, const RunContext& context) const {
  return train(
      data, network, options_.training,
      [this](const TrainingSet& set, Rng) { return std::make_unique<AggNetModel>(set, options_); }, context);
}

LearnerInfo info() {
  const Options d;
  LearnerInfo info;
  info.title = "AggNet: expectation maximisation with a network";
  info.summary = "Infers labels from network and answers, trains the network on them, and so on.";
  info.when_to_use = "Workers who err independently of each other; strong when that holds, misled by copies.";
  info.reference =
      "Albarqouni et al.: AggNet: deep learning from crowds for mitosis detection in breast cancer histology images, "
      "IEEE TMI 2016";
  info.parameters = {
      ParameterSpec::integer("warm_up", static_cast<std::int64_t>(d.warm_up), 0, 1e6,
                             "epochs in which the answers alone make the labels, until the network is of use"),
      ParameterSpec::real("pseudo_count", d.pseudo_count, 1e-6, 1e6, "answers added to every cell of a worker's table"),
      ParameterSpec::real("diagonal_count", d.diagonal_count, 0, 1e6, "further ones added for the right answer"),
      ParameterSpec::real("ceiling", d.ceiling, 0, 1,
                          "how sure the network may be when labels are inferred (at least 1/classes): less keeps it "
                          "from talking itself into its own errors"),
  };
  for (ParameterSpec& spec : training_parameters(d.training)) info.parameters.push_back(std::move(spec));
  info.uses_gold = true;
  info.assumptions = "Given the truth, workers answer independently of each other and of the features.";
  info.cost = "O(S K) per epoch beside the network; memory O(M K²)";
  return info;
}

std::unique_ptr<Learner> make(const Parameters& parameters) {
  Options options;
  options.training = training_options(parameters);
  options.warm_up = static_cast<std::size_t>(parameters.integer("warm_up"));
  options.pseudo_count = parameters.real("pseudo_count");
  options.diagonal_count = parameters.real("diagonal_count");
  options.ceiling = parameters.real("ceiling");
  return std::make_unique<AggNet>(std::move(options));
}

}  // namespace wisecrowd::aggnet
