#include "aggregate/categories/max_margin/max_margin.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "aggregate/categories/shared/votes.hpp"
#include "base/huge_vector.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"

namespace wisecrowd::max_margin {
namespace {

constexpr std::size_t kTasksPerBlock = 4096;
constexpr double kEnough = 1e-3;  // share of c below which multipliers are taken to stand still
constexpr double kSameScore = 1e-12;

/// Weights, labels and multipliers. g_ik are the votes of task i for class k, a vector over workers; the constraint of
/// class k ≠ z is η·(g_iz − g_ik) ≥ margin − ξ_i, its multiplier a_ik ≥ 0 with Σ_k a_ik ≤ c, and η = η0 + Σ a_ik (g_iz
/// − g_ik).
class Machine {
 public:
  Machine(const CategoryData& data, const RunContext& context, const Options& options)
      : data_(data),
        answers_(data.answers),
        context_(context),
        cost_(options.cost),
        margin_(options.margin),
        usual_weight_(options.usual_weight),
        classes_(answers_.class_count()),
        weight(answers_.worker_count(), options.usual_weight),
        label(answers_.task_count(), ClassId{0}),
        multiplier_(answers_.task_count() * classes_, 0.0) {
    const auto offsets = answers_.task_offsets();
    for (std::uint32_t t = 0; t < answers_.task_count(); ++t) {
      if (offsets[t + 1] > offsets[t]) order_.push_back(t);
    }
    Rng rng = context.rng("order");
    rng.shuffle(std::span(order_));
  }

  /// η·g_ik for all k into score, and the numbers of votes.
  void scores(std::size_t task, std::span<double> score, std::span<double> votes) const {
    std::fill(score.begin(), score.end(), 0.0);
    std::fill(votes.begin(), votes.end(), 0.0);
    const TaskId id{static_cast<std::uint32_t>(task)};
    const auto workers = answers_.workers_of(id);
    const auto labels = answers_.labels_of(id);
    for (std::size_t a = 0; a < labels.size(); ++a) {
      score[index(labels[a])] += weight[index(workers[a])];
      votes[index(labels[a])] += 1;
    }
  }

  void set_labels(std::span<const ClassId> labels) { std::copy(labels.begin(), labels.end(), label.begin()); }
  /// Each task takes the class with the highest score (then the most votes), gold its own. Returns how many changed.
  std::size_t choose_labels();
  /// Dual coordinate ascent for the weights, labels held. Returns the number of passes.
  std::size_t fit_weights(std::size_t passes);
  /// ½|η − η0|² + c Σ ξ_i.
  [[nodiscard]] double objective() const;

 private:
  double visit(std::size_t task, std::span<double> score, std::span<double> votes);
  void move(std::size_t task, std::size_t up, std::size_t down, double amount, std::span<double> score);
  void forget(std::size_t task);

  const CategoryData& data_;
  const CategoryAnswers& answers_;
  const RunContext& context_;
  double cost_;
  double margin_;
  double usual_weight_;
  std::size_t classes_;

 public:
  std::vector<double> weight;
  std::vector<ClassId> label;

 private:
  HugeVector<double> multiplier_;
  std::vector<std::uint32_t> order_;
};

/// η ← η + amount (g_up − g_down), and the scores of the task with it.
void Machine::move(std::size_t task, std::size_t up, std::size_t down, double amount, std::span<double> score) {
  const TaskId id{static_cast<std::uint32_t>(task)};
  const auto workers = answers_.workers_of(id);
  const auto labels = answers_.labels_of(id);
  for (std::size_t a = 0; a < labels.size(); ++a) {
    const std::size_t k = index(labels[a]);
    const double step = k == up ? amount : k == down ? -amount : 0;
    weight[index(workers[a])] += step;
    if (!score.empty()) score[k] += step;
  }
}

/// Takes a task's multipliers back: they belong to another label.
void Machine::forget(std::size_t task) {
  double* const own = multiplier_.data() + task * classes_;
  for (std::size_t k = 0; k < classes_; ++k) {
    if (own[k] != 0) move(task, index(label[task]), k, -own[k], {});
    own[k] = 0;
  }
}

std::size_t Machine::choose_labels() {
  const Blocks blocks{answers_.task_count(), kTasksPerBlock};
  std::vector<ClassId> chosen(label);
  context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    std::vector<double> score(classes_), votes(classes_);
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      const ClassId gold = data_.gold_of(TaskId{static_cast<std::uint32_t>(t)});
      scores(t, score, votes);
      std::size_t best = 0;
      for (std::size_t k = 1; k < classes_; ++k) {
        const double lead = score[k] - score[best];
        if (lead > kSameScore || (lead > -kSameScore && votes[k] > votes[best])) best = k;
      }
      chosen[t] = gold == kNoClass ? ClassId{static_cast<std::uint16_t>(best)} : gold;
    }
  });
  std::size_t changed = 0;
  for (std::size_t t = 0; t < chosen.size(); ++t) {
    if (chosen[t] == label[t]) continue;
    forget(t);
    label[t] = chosen[t];
    ++changed;
  }
  return changed;
}

/// One task's turn: every multiplier that is not 0, and that of the most violated class, goes to where its own
/// derivative vanishes or a bound stops it; when the budget c is used up, multipliers are exchanged instead.
double Machine::visit(std::size_t task, std::span<double> score, std::span<double> votes) {
  scores(task, score, votes);
  const std::size_t z = index(label[task]);
  double* const own = multiplier_.data() + task * classes_;
  const auto rival = [&] {  // lowest margin = highest score; classes without votes are all alike
    std::size_t best = classes_;
    for (std::size_t k = 0; k < classes_; ++k) {
      if (k != z && (best == classes_ || score[k] > score[best])) best = k;
    }
    return best;
  };
  const std::size_t up = rival();
  double used = 0, moved = 0;
  for (std::size_t k = 0; k < classes_; ++k) used += own[k];
  for (std::size_t k = 0; k < classes_; ++k) {
    if (k == z || (k != up && own[k] == 0)) continue;
    const double size = votes[z] + votes[k];
    if (size == 0) continue;
    const double wanted = own[k] + (margin_ - (score[z] - score[k])) / size;
    const double next = std::clamp(wanted, 0.0, std::max(cost_ - (used - own[k]), 0.0));
    const double step = next - own[k];
    if (step == 0) continue;
    own[k] = next;
    used += step;
    move(task, z, k, step, score);
    moved = std::max(moved, std::abs(step));
  }
  if (classes_ == 2 || used < cost_ * (1 - 1e-9)) return moved;
  const std::size_t worst = rival();
  std::size_t least = classes_;  // holds budget, needs it least
  for (std::size_t k = 0; k < classes_; ++k) {
    if (own[k] > 0 && (least == classes_ || score[k] < score[least])) least = k;
  }
  const double size = least == classes_ ? 0 : votes[worst] + votes[least];
  if (worst == least || size == 0) return moved;
  const double step = std::min((score[worst] - score[least]) / size, own[least]);
  own[worst] += step;
  own[least] -= step;
  move(task, least, worst, step, score);
  return std::max(moved, step);
}

std::size_t Machine::fit_weights(std::size_t passes) {
  std::vector<double> score(classes_), votes(classes_);
  for (std::size_t pass = 0; pass < passes; ++pass) {
    double moved = 0;
    for (const std::uint32_t t : order_) moved = std::max(moved, visit(t, score, votes));
    if (moved <= kEnough * cost_ || context_.cancelled()) return pass + 1;
  }
  return passes;
}

double Machine::objective() const {
  std::vector<double> score(classes_), votes(classes_);
  double sum = 0;
  for (const double w : weight) sum += 0.5 * (w - usual_weight_) * (w - usual_weight_);
  for (const std::uint32_t t : order_) {
    scores(t, score, votes);
    double slack = 0;
    for (std::size_t k = 0; k < classes_; ++k) {
      if (k != index(label[t])) slack = std::max(slack, margin_ - (score[index(label[t])] - score[k]));
    }
    sum += cost_ * slack;
  }
  return sum;
}

}  // namespace

MethodInfo info() {
  const Options defaults;
  MethodInfo info;
  info.title = "Max-margin majority vote";
  info.summary = "Weights for workers, near the plain vote, that let the winning class lead by a margin.";
  info.when_to_use =
      "As a discriminative check beside the probabilistic methods: it assumes no model of errors and can turn "
      "adversaries around. Its probabilities are scores, not calibrated.";
  info.reference = "T. Tian, J. Zhu, Max-margin majority voting for learning from crowds, NIPS 2015";
  info.assumptions = "The true class can be told by one weight per worker; most workers are better than chance.";
  info.cost = "time S·K per pass, 20 passes per iteration, one thread; memory 8·N·K";
  info.uses_gold = true;
  info.uses_start = true;
  info.uses_chance = true;
  info.allows_repeats = false;
  info.parameters = {
      ParameterSpec::real("cost", defaults.cost, 1e-9, 1e6,
                          "price of a missing margin against leaving the plain vote: 2^-8 to 1 are usual; too large "
                          "believes tasks with a single answer"),
      ParameterSpec::real("margin", defaults.margin, 0, 1e6,
                          "by how much weight the winning class shall lead; at 1 any vote without a tie is wide enough "
                          "and nothing is learnt"),
      ParameterSpec::real("usual_weight", defaults.usual_weight, 0, 1e6,
                          "weights are drawn to this: 1, the plain vote; 0, as in the paper, weighs by activity"),
      ParameterSpec::integer("max_iterations", static_cast<std::int64_t>(defaults.max_iterations), 1, 1e9,
                             "give up after this many rounds of labels and weights"),
      ParameterSpec::integer("passes", static_cast<std::int64_t>(defaults.passes), 1, 1e6,
                             "passes over the tasks for the weights, per round, at most"),
      tie_rule_parameter(),
  };
  return info;
}

std::unique_ptr<CategoryAggregator> make(const Parameters& parameters) {
  return std::make_unique<MaxMargin>(
      Options{.cost = parameters.real("cost"),
              .margin = parameters.real("margin"),
              .usual_weight = parameters.real("usual_weight"),
              .max_iterations = static_cast<std::size_t>(parameters.integer("max_iterations")),
              .passes = static_cast<std::size_t>(parameters.integer("passes")),
              .ties = tie_rule_from(parameters.choice("ties"))});
}

CategoryFit MaxMargin::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  CategoryFit result = start_aggregation(data);
  const std::size_t classes = result.class_count, tasks = result.task_count;
  result.tie_rule = options_.ties;
  result.posterior.assign(tasks * classes, 1.0);
  result.task_score_name = tasks == 0 ? "" : "margin";
  result.task_score.assign(tasks, 0.0);
  result.skill.assign(result.worker_count, options_.usual_weight);
  result.status = context.cancelled() ? Status::cancelled : Status::converged;
  if (classes < 2) {  // nothing to find out
    result.class_prior.assign(classes, 1.0);
    result.labels.assign(tasks, ClassId{0});
    return result;
  }
  Machine machine(data, context, options_);
  if (start.empty()) {
    machine.choose_labels();
  } else {
    auto labels = hard_labels(start.posterior, classes, options_.ties, context);
    for (std::size_t t = 0; t < data.gold.size(); ++t) {
      if (data.gold[t] != kNoClass) labels[t] = data.gold[t];
    }
    machine.set_labels(labels);
  }
  result.objective_name = "minus hinge loss and distance from the plain vote";
  result.status = Status::iteration_limit;
  const auto started = std::chrono::steady_clock::now();
  for (std::size_t iteration = 0; iteration < options_.max_iterations; ++iteration) {
    machine.fit_weights(options_.passes);
    result.trace.push_back(-machine.objective());
    const std::size_t changed = machine.choose_labels();
    result.iterations = iteration + 1;
    context.report({.stage = "iterating",
                    .done = static_cast<double>(iteration + 1),
                    .total = static_cast<double>(options_.max_iterations),
                    .objective = result.trace.back(),
                    .has_objective = true});
    if (context.cancelled()) {
      result.status = Status::cancelled;
      break;
    }
    if (changed == 0) {
      result.status = Status::converged;
      break;
    }
  }
  result.seconds_per_iteration = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count() /
                                 static_cast<double>(result.iterations);
  std::vector<double> votes(classes);
  for (std::size_t t = 0; t < tasks; ++t) {
    const auto score = std::span(result.posterior).subspan(t * classes, classes);
    machine.scores(t, score, votes);
    double other = -1e300;
    for (std::size_t k = 0; k < classes; ++k) other = k == index(machine.label[t]) ? other : std::max(other, score[k]);
    result.task_score[t] = score[index(machine.label[t])] - other;
    softmax(score);
  }
  pin_gold(data, result.posterior);
  result.skill = machine.weight;
  result.labels = hard_labels(result.posterior, classes, options_.ties, context);
  result.class_prior = mean_posterior(data.answers, result.posterior);
  return result;
}

}  // namespace wisecrowd::max_margin
