#include "learn/conal/conal.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "learn/shared/answer_memory.hpp"
#include "learn/shared/learner_entry.hpp"

namespace wisecrowd::conal {
namespace {

/// Added to a squared distance, so that equal tables have a direction-free gradient of 0.
constexpr double kSoftening = 1e-8;

/// The mean of the tables that the workers start with, by how much each answers.
std::vector<double> pooled_logits(const TrainingSet& set, std::span<const double> tables) {
  const std::size_t block = set.class_count * set.class_count;
  std::vector<double> sum(block, 0.0);
  for (const WorkerId worker : set.worker) {
    for (std::size_t cell = 0; cell < block; ++cell) sum[cell] += tables[index(worker) * block + cell];
  }
  for (double& value : sum) {
    value = math::log(
        std::max(value / static_cast<double>(std::max<std::size_t>(set.answer_count(), 1)), kProbabilityFloor));
  }
  return sum;
}

std::vector<double> small_numbers(std::size_t count, Rng rng) {
  std::vector<double> values(count);
  for (double& value : values) value = 0.1 * rng.normal();
  return values;
}

}  // namespace

GateModel::GateModel(const TrainingSet& set, const Options& options, Rng rng)
    : FeatureDependentTables(set, options.tables, options.gate_width),
      options_(options),
      common_logits_(pooled_logits(set, worker_tables()), set.class_count * set.class_count,
                     options.tables.worker_learning_rate),
      gates_(small_numbers(set.worker_count * options.gate_width, rng.fork("gates")), options.gate_width,
             options.tables.worker_learning_rate),
      common_(set.class_count * set.class_count) {
  refresh_common();
}

void GateModel::refresh_common() {
  std::copy(common_logits_.all().begin(), common_logits_.all().end(), common_.begin());
  for (std::size_t k = 0; k < classes(); ++k) softmax(std::span(common_).subspan(k * classes(), classes()));
}

double GateModel::gate(std::span<const double> further, WorkerId worker) const {
  const auto v = gates_.of(worker);
  double sum = 0;
  for (std::size_t d = 0; d < further.size(); ++d) sum += further[d] * v[d];
  return sigmoid(sum);
}

double GateModel::answer_loss(const Term& term) {
  const auto own = table(term.worker);
  const double o = gate(term.further, term.worker);
  double s = kProbabilityFloor, difference = 0;
  for (std::size_t k = 0; k < classes(); ++k) {
    const std::size_t cell = k * classes() + index(term.label);
    s += term.f[k] * (o * common_[cell] + (1 - o) * own[cell]);
    difference += term.f[k] * (common_[cell] - own[cell]);
  }
  const double slope = term.weight / s;
  for (std::size_t k = 0; k < classes(); ++k) {
    const std::size_t cell = k * classes() + index(term.label);
    term.at_f[k] -= slope * (o * common_[cell] + (1 - o) * own[cell]);
  }
  if (!tables_move()) return -math::log(s);
  const auto at_common = common_logits_.gradient(0);
  const auto at_own = table_gradient(term.worker);
  for (std::size_t k = 0; k < classes(); ++k) {
    const std::size_t cell = k * classes() + index(term.label);
    at_common[cell] -= slope * o * term.f[k];
    at_own[cell] -= slope * (1 - o) * term.f[k];
  }
  const double at_gate = -slope * difference * o * (1 - o);
  const auto v = gates_.of(term.worker);
  const auto at_v = gates_.gradient(term.worker);
  for (std::size_t d = 0; d < v.size(); ++d) {
    term.at_further[d] += at_gate * v[d];
    at_v[d] += at_gate * term.further[d];
  }
  return -math::log(s);
}

double GateModel::penalty(std::span<const std::uint32_t> tasks, double weight, MatrixView<const double>,
                          MatrixView<double>) {
  if (options_.strength == 0) return 0;
  double sum = 0;
  for (const std::uint32_t i : tasks) {
    for (const WorkerId worker : set().workers_of(i)) {
      const auto own = table(worker);
      double square = kSoftening;
      for (std::size_t cell = 0; cell < own.size(); ++cell) {
        square += (common_[cell] - own[cell]) * (common_[cell] - own[cell]);
      }
      const double distance = std::sqrt(square), scale = options_.strength * weight * share_of_worker(worker);
      sum -= scale * distance;
      if (!tables_move()) continue;
      const auto at_common = common_logits_.gradient(0);
      const auto at_own = table_gradient(worker);
      for (std::size_t cell = 0; cell < own.size(); ++cell) {
        const double push = scale * (common_[cell] - own[cell]) / distance;
        at_common[cell] -= push;
        at_own[cell] += push;
      }
    }
  }
  return sum;
}

void GateModel::gradients_to_logits() {
  FeatureDependentTables::gradients_to_logits();
  if (!tables_move()) return;
  const auto gradient = common_logits_.gradient(0);
  for (std::size_t k = 0; k < classes(); ++k) {
    softmax_backward(std::span(common_).subspan(k * classes(), classes()), gradient.subspan(k * classes(), classes()));
  }
}

void GateModel::step(double pace) {
  FeatureDependentTables::step(pace);
  common_logits_.step(pace);
  gates_.step(pace);
  refresh_common();
}

void GateModel::table_at(std::span<const double> further, WorkerId worker, std::span<double> out) const {
  const double o = gate(further, worker);
  const auto own = table(worker);
  for (std::size_t cell = 0; cell < own.size(); ++cell) out[cell] = o * common_[cell] + (1 - o) * own[cell];
}

void GateModel::remember(AnswerMemory& memory) const {
  FeatureDependentTables::remember(memory);
  memory.common = common_;
  memory.gates = gates_.all();
}

void GateModel::describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const {
  FeatureDependentTables::describe(learned, data, outputs_of);
  // How much of each task's answers is common confusion.
  const CategoryAnswers& answers = data.crowd.answers;
  std::vector<double> row(outputs());
  learned.crowd.task_score_name = "common_share";
  learned.crowd.task_score.assign(answers.task_count(), 0.5);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId(t));
    if (workers.empty() || !outputs_of(t, row)) continue;
    double sum = 0;
    for (const WorkerId worker : workers) {
      sum += gate(std::span<const double>(row).subspan(classes()), worker);
    }
    learned.crowd.task_score[t] = sum / static_cast<double>(workers.size());
  }
}

Recipe CoNal::recipe(const LearningData&, const NetworkSpec&, const RunContext&) const {
  return {options_.training,
          [this](const TrainingSet& set, Rng rng) { return std::make_unique<GateModel>(set, options_, rng); }};
}

namespace {

void parameters(ParameterVisitor& v, Options& o) {
  table_parameters(v, o.tables);
  v.integer("gate_width", o.gate_width, 1, 4096, "numbers per row and per worker that the gate compares");
  v.real("strength", o.strength, 0, 100, "how hard the common table is kept away from the workers' own");
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "CoNAL: common and individual confusion";
  info.summary = "Each answer comes from a table that all workers share or from the worker's own; a gate learns which.";
  info.when_to_use = "Workers are confused by the same tasks in the same way.";
  info.reference = "Chu, Ma, Wang: Learning from crowds by modeling common confusions, AAAI 2021";
  info.uses_gold = true;
  info.assumptions = "What confuses workers is partly common to all of them and shows in the features.";
  info.cost = "O(S (K² + gate width)) per epoch beside the network; memory O(M (K² + gate width))";
  return LearnerEntry::of<CoNal, parameters>(std::move(info));
}

}  // namespace wisecrowd::conal
