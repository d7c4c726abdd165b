#include "learn/ccem/ccem.hpp"

#include "learn/shared/learner_entry.hpp"

namespace wisecrowd::ccem {

Recipe Ccem::recipe(const LearningData&, const NetworkSpec&, const RunContext&) const {
  return {options_.training,
          [this](const TrainingSet& set, Rng) { return std::make_unique<CoupledTables>(set, options_.tables); }};
}

namespace {

void parameters(ParameterVisitor& v, Options& o) {
  table_parameters(v, o.tables);
  table_solver_parameter(v, o.tables);
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "Coupled cross-entropy minimisation";
  info.summary = "Trains the network and a confusion table per worker together, by the likelihood of each answer.";
  info.when_to_use =
      "Workers who copy each other or err together: each answer is judged by itself, so no independence is needed.";
  info.reference =
      "Ibrahim, Nguyen, Fu: Deep learning from crowdsourced labels: coupled cross-entropy minimization, "
      "identifiability, and regularization, ICLR 2023";
  info.uses_gold = true;
  info.assumptions = "Some workers who know each class, or rows that leave no doubt about their class.";
  info.cost = "O(S K) per epoch beside the network; memory O(M K²)";
  return LearnerEntry::of<Ccem, parameters>(std::move(info));
}

}  // namespace wisecrowd::ccem
