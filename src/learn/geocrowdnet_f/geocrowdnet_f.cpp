#include "learn/geocrowdnet_f/geocrowdnet_f.hpp"

#include "learn/shared/volume.hpp"

namespace wisecrowd::geocrowdnet_f {

double VolumeModel::penalty(std::span<const std::uint32_t>, double, MatrixView<const double> probabilities,
                            MatrixView<double> gradients) {
  if (strength_ == 0) return 0;
  ++steps_;
  const auto value = volume_penalty(probabilities, strength_, gradients);
  if (!value) ++collapsed_;
  return value.value_or(0);
}

void VolumeModel::describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const {
  CoupledTables::describe(learned, data, outputs_of);
  warn_of_collapse(learned, collapsed_, steps_);
}

Learned GeoCrowdNetF::fit(const LearningData& data, const NetworkSpec& network, const RunContext& context) const {
  return train(
      data, network, options_.training,
      [this](const TrainingSet& set, Rng) { return std::make_unique<VolumeModel>(set, options_); }, context);
}

LearnerInfo info() {
  const Options d;
  LearnerInfo info;
  info.title = "GeoCrowdNet (F): large volume of the class probabilities";
  info.summary = "Coupled cross-entropy that spreads the network's class probabilities as far as the answers allow.";
  info.when_to_use = "No worker knows every class, but many tasks leave no doubt about theirs.";
  info.reference =
      "Ibrahim, Nguyen, Fu: Deep learning from crowdsourced labels: coupled cross-entropy minimization, "
      "identifiability, and regularization, ICLR 2023";
  info.parameters = CoupledTables::parameters(d.tables, true);
  info.parameters.push_back(ParameterSpec::real(
      "strength", d.strength, 0, 100, "how much the log-volume counts; too much of it collapses the classes"));
  for (ParameterSpec& spec : training_parameters(d.training)) info.parameters.push_back(std::move(spec));
  info.uses_gold = true;
  info.assumptions = "For every class some rows that leave no doubt; batches with more tasks than classes.";
  info.cost = "O(S K + N K²) per epoch beside the network, K³ per step; memory O(M K²)";
  return info;
}

std::unique_ptr<Learner> make(const Parameters& parameters) {
  return std::make_unique<GeoCrowdNetF>(
      Options{training_options(parameters), CoupledTables::options(parameters, true), parameters.real("strength")});
}

}  // namespace wisecrowd::geocrowdnet_f
