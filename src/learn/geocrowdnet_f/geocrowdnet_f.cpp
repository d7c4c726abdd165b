#include "learn/geocrowdnet_f/geocrowdnet_f.hpp"

#include "learn/shared/learner_entry.hpp"
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

Recipe GeoCrowdNetF::recipe(const LearningData&, const NetworkSpec&, const RunContext&) const {
  return {options_.training,
          [this](const TrainingSet& set, Rng) { return std::make_unique<VolumeModel>(set, options_); }};
}

namespace {

void parameters(ParameterVisitor& v, Options& o) {
  table_parameters(v, o.tables);
  table_solver_parameter(v, o.tables);
  v.real("strength", o.strength, 0, 100, "how much the log-volume counts; too much of it collapses the classes");
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "GeoCrowdNet (F): large volume of the class probabilities";
  info.summary = "Coupled cross-entropy that spreads the network's class probabilities as far as the answers allow.";
  info.when_to_use = "No worker knows every class, but many tasks leave no doubt about theirs.";
  info.reference =
      "Ibrahim, Nguyen, Fu: Deep learning from crowdsourced labels: coupled cross-entropy minimization, "
      "identifiability, and regularization, ICLR 2023";
  info.uses_gold = true;
  info.assumptions = "For every class some rows that leave no doubt; batches with more tasks than classes.";
  info.cost = "O(S K + N K²) per epoch beside the network, K³ per step; memory O(M K²)";
  return LearnerEntry::of<GeoCrowdNetF, parameters>(std::move(info));
}

}  // namespace wisecrowd::geocrowdnet_f
