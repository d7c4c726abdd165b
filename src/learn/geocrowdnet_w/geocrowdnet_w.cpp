#include "learn/geocrowdnet_w/geocrowdnet_w.hpp"

#include <algorithm>

#include "learn/shared/learner_entry.hpp"
#include "learn/shared/volume.hpp"

namespace wisecrowd::geocrowdnet_w {

TableVolumeModel::TableVolumeModel(const TrainingSet& set, const Options& options)
    : CoupledTables(set, options.tables), strength_(options.strength), gram_(classes() * classes(), 0.0) {
  sum_gram();
}

void TableVolumeModel::add_to_gram(WorkerId worker, double sign) {
  const auto th = table(worker);
  for (std::size_t k = 0; k < classes(); ++k) {
    for (std::size_t m = 0; m < classes(); ++m) {
      double sum = 0;
      for (std::size_t l = 0; l < classes(); ++l) sum += th[k * classes() + l] * th[m * classes() + l];
      gram_[k * classes() + m] += sign * sum;
    }
  }
}

void TableVolumeModel::sum_gram() {
  std::fill(gram_.begin(), gram_.end(), 0.0);
  for (std::size_t j = 0; j < set().worker_count; ++j) add_to_gram(WorkerId(j), 1);
}

void TableVolumeModel::begin_epoch(const Epoch& epoch) {
  CoupledTables::begin_epoch(epoch);
  sum_gram();  // once per epoch anew, so that rounding does not add up
}

void TableVolumeModel::refresh(WorkerId worker) {
  add_to_gram(worker, -1);
  CoupledTables::refresh(worker);
  add_to_gram(worker, 1);
}

double TableVolumeModel::penalty(std::span<const std::uint32_t> tasks, double weight, MatrixView<const double>,
                                 MatrixView<double>) {
  if (strength_ == 0) return 0;
  ++steps_;
  const auto determinant = log_determinant(gram_, classes());
  if (!determinant) {
    ++collapsed_;
    return 0;
  }
  if (tables_move()) {
    for (const std::uint32_t i : tasks) {
      for (const WorkerId worker : set().workers_of(i)) {
        const double scale = 2 * strength_ * weight * share_of_worker(worker);
        const auto th = table(worker);
        const auto gradient = table_gradient(worker);
        for (std::size_t k = 0; k < classes(); ++k) {
          for (std::size_t m = 0; m < classes(); ++m) {
            const double inverse = scale * determinant->inverse[k * classes() + m];
            for (std::size_t l = 0; l < classes(); ++l) gradient[k * classes() + l] -= inverse * th[m * classes() + l];
          }
        }
      }
    }
  }
  return -strength_ * determinant->value;
}

void TableVolumeModel::describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const {
  CoupledTables::describe(learned, data, outputs_of);
  warn_of_collapse(learned, collapsed_, steps_);
}

Recipe GeoCrowdNetW::recipe(const LearningData&, const NetworkSpec&, const RunContext&) const {
  return {options_.training,
          [this](const TrainingSet& set, Rng) { return std::make_unique<TableVolumeModel>(set, options_); }};
}

namespace {

void parameters(ParameterVisitor& v, Options& o) {
  table_parameters(v, o.tables);
  v.real("strength", o.strength, 0, 100, "how much the log-volume counts");
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "GeoCrowdNet (W): large volume of the worker tables";
  info.summary = "Coupled cross-entropy that prefers worker tables which tell the classes apart.";
  info.when_to_use = "Every class has workers who know it, but few rows that leave no doubt.";
  info.reference =
      "Ibrahim, Nguyen, Fu: Deep learning from crowdsourced labels: coupled cross-entropy minimization, "
      "identifiability, and regularization, ICLR 2023";
  info.uses_gold = true;
  info.assumptions = "For every class some workers who never mistake it.";
  info.cost = "O(S K³) per epoch beside the network; memory O(M K²)";
  return LearnerEntry::of<GeoCrowdNetW, parameters>(std::move(info));
}

}  // namespace wisecrowd::geocrowdnet_w
