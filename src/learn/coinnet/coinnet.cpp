#include "learn/coinnet/coinnet.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "learn/shared/learner_entry.hpp"
#include "learn/shared/volume.hpp"

namespace wisecrowd::coinnet {
namespace {

constexpr double kLeast = 1e-10;
/// The penalty's slope is a narrow barrier around 0: it begins soft and ends as in the paper.
constexpr double kFirstSoftening = 1e-2, kLastSoftening = 1e-10;

}  // namespace

OutlierModel::OutlierModel(const TrainingSet& set, const Options& options)
    : CoupledTables(set, options.tables),
      options_(options),
      corrections_(std::vector<double>(set.answer_count() * set.class_count, 0.0), set.class_count,
                   options.outlier_learning_rate),
      zeta_(kFirstSoftening),
      mixed_(set.class_count),
      slope_(set.class_count),
      e_(set.class_count) {}

void OutlierModel::centred(std::uint32_t answer, std::span<double> e) const {
  const auto free = corrections_.of(answer);
  double mean = 0;
  for (const double value : free) mean += value;
  mean /= static_cast<double>(free.size());
  for (std::size_t l = 0; l < free.size(); ++l) e[l] = free[l] - mean;
}

void OutlierModel::begin_epoch(const Epoch& epoch) {
  CoupledTables::begin_epoch(epoch);
  corrections_move_ = warm();
  if (!corrections_move_) return;
  if (!first_epoch_) first_epoch_ = epoch.number;
  // From the first epoch in which corrections move: a barrier that has narrowed before would never have been soft.
  const double progress = static_cast<double>(epoch.number - *first_epoch_) /
                          static_cast<double>(std::max<std::size_t>(epoch.total - *first_epoch_, 2) - 1);
  zeta_ = kFirstSoftening * math::pow(kLastSoftening / kFirstSoftening, progress);
}

double OutlierModel::answer_loss(const Term& term) {
  const auto th = table(term.worker);
  centred(term.answer, e_);
  double total = 0;
  for (std::size_t l = 0; l < classes(); ++l) {
    double sum = e_[l];
    for (std::size_t k = 0; k < classes(); ++k) sum += term.f[k] * th[k * classes() + l];
    mixed_[l] = std::clamp(sum, kLeast, 1 - kLeast);
    slope_[l] = mixed_[l] == sum ? term.weight : 0;  // a number at its bound does not follow
    total += mixed_[l];
  }
  const double value = math::log(total) - math::log(mixed_[index(term.label)]);
  for (std::size_t l = 0; l < classes(); ++l) {
    slope_[l] *= 1 / total - (l == index(term.label) ? 1 / mixed_[l] : 0);
  }
  for (std::size_t k = 0; k < classes(); ++k) {
    for (std::size_t l = 0; l < classes(); ++l) term.at_f[k] += slope_[l] * th[k * classes() + l];
  }
  if (tables_move()) {
    const auto at_table = table_gradient(term.worker);
    for (std::size_t k = 0; k < classes(); ++k) {
      for (std::size_t l = 0; l < classes(); ++l) at_table[k * classes() + l] += slope_[l] * term.f[k];
    }
  }
  if (corrections_move_) {
    double mean = 0;
    for (const double value_at : slope_) mean += value_at;
    mean /= static_cast<double>(classes());
    const auto at_e = corrections_.gradient(term.answer);
    for (std::size_t l = 0; l < classes(); ++l) at_e[l] += slope_[l] - mean;
  }
  return value;
}

double OutlierModel::outlier_score(std::size_t task) const {
  std::vector<double> e(classes());
  double sum = 0;
  for (std::uint32_t a = set().offset[task]; a < set().offset[task + 1]; ++a) {
    centred(a, e);
    for (const double value : e) sum += value * value;
  }
  return sum;
}

double OutlierModel::penalty(std::span<const std::uint32_t> tasks, double, MatrixView<const double> probabilities,
                             MatrixView<double> gradients) {
  const double share = options_.outlier_strength / static_cast<double>(tasks.size());
  double sum = 0;
  for (const std::uint32_t i : tasks) {
    const double size = outlier_score(i) + zeta_;
    sum += share * math::pow(size, options_.power / 2);
    if (!corrections_move_) continue;
    const double slope = share * options_.power * math::pow(size, options_.power / 2 - 1);
    for (std::uint32_t a = set().offset[i]; a < set().offset[i + 1]; ++a) {
      centred(a, e_);
      const auto at_e = corrections_.gradient(a);
      for (std::size_t l = 0; l < classes(); ++l) at_e[l] += slope * e_[l];
    }
  }
  if (options_.volume_strength > 0) {
    ++steps_;
    const auto volume = volume_penalty(probabilities, options_.volume_strength, gradients);
    if (!volume) ++collapsed_;
    sum += volume.value_or(0);
  }
  return sum;
}

void OutlierModel::step(double pace) {
  CoupledTables::step(pace);
  corrections_.step(pace);
}

void OutlierModel::describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const {
  CoupledTables::describe(learned, data, outputs_of);
  learned.crowd.task_score_name = "outlier";
  learned.crowd.task_score.assign(data.crowd.answers.task_count(), 0.0);
  for (std::size_t i = 0; i < set().task_count(); ++i)
    learned.crowd.task_score[index(set().task[i])] = outlier_score(i);
  warn_of_collapse(learned, collapsed_, steps_);
}

Recipe CoinNet::recipe(const LearningData&, const NetworkSpec&, const RunContext&) const {
  return {options_.training,
          [this](const TrainingSet& set, Rng) { return std::make_unique<OutlierModel>(set, options_); }};
}

namespace {

void parameters(ParameterVisitor& v, Options& o) {
  table_parameters(v, o.tables);
  v.real("outlier_strength", o.outlier_strength, 0, 1e9,
         "price of a task that is an outlier, in units of the mean surprise (nats) of its answers: a "
         "hundredth makes it worth while to correct every answer, a huge one "
         "allows no outlier");
  v.real("volume_strength", o.volume_strength, 0, 100,
         "how much the log-volume of the class probabilities counts, as in geocrowdnet_f");
  v.real("power", o.power, 0.01, 2, "how sparse outliers are: below 1 few large ones are cheaper than many small ones");
  v.real("outlier_learning_rate", o.outlier_learning_rate, 0, 100, "size of the steps of the corrections");
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "COINNet: confusions and outliers by instance";
  info.summary =
      "Worker tables for ordinary tasks, and a sparse correction per answer for tasks that confuse everyone.";
  info.when_to_use = "A minority of tasks is confusing in its own way.";
  info.reference =
      "Nguyen, Ibrahim, Fu: Noisy label learning with instance-dependent outliers: identifiability via crowd wisdom, "
      "NeurIPS 2024";
  info.uses_gold = true;
  info.assumptions = "Most tasks follow the worker tables; outliers are few.";
  info.cost = "O(S K²) per epoch beside the network; memory O(M K² + S K)";
  return LearnerEntry::of<CoinNet, parameters>(std::move(info));
}

}  // namespace wisecrowd::coinnet
