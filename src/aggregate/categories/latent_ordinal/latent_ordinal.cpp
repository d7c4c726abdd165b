#include "aggregate/categories/latent_ordinal/latent_ordinal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <tuple>

#include "aggregate/categories/latent_ordinal/threshold_model.hpp"
#include "aggregate/categories/shared/em_acceleration.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "aggregate/method.hpp"
#include "base/huge_vector.hpp"
#include "base/intervals.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::latent_ordinal {
namespace {

constexpr std::size_t kTasksPerBlock = 512;
constexpr std::size_t kWorkersPerBlock = 8;
constexpr double kNoWeight = -1e100;  // a logarithm
constexpr double kFarFromZero = 64;   // histories of states hold positive numbers

void parameters(ParameterVisitor& v, Options& o) {
  decision_parameter(v, o.decision);
  v.real("bias_spread", o.bias_spread, 1e-3, 1e3,
         "how far workers are thought to lie beside the others, in deviations of the truth");
  v.real("noise_spread", o.noise_spread, 1e-3, 1e3,
         "how much workers are thought to differ in their noise, in deviations of its logarithm");
  v.real("class_pseudo_count", o.class_pseudo_count, 1e-6, 1e9,
         "tasks added to every class before the cuts between classes are estimated");
  v.integer("max_iterations", o.max_iterations, 1, 1e9, "give up after this many iterations");
  v.real("tolerance", o.tolerance, 0, 1, "stop when the objective changes by less than this share of its size");
  tie_rule_parameter(v, o.ties);
}

/// Φ⁻¹.
double normal_quantile(double p) { return p < 0.5 ? -normal_half_width(1 - 2 * p) : normal_half_width(2 * p - 1); }

/// Logarithms of weights become the weights, which sum to 1; returns ln Σ e^q.
double normalise_nodes(double* q) {
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> most{}, sums{};
  std::copy_n(q, kLanes, most.begin());
  for (std::size_t m = kLanes; m < kStride; m += kLanes) {
    for (std::size_t i = 0; i < kLanes; ++i) most[i] = most[i] < q[m + i] ? q[m + i] : most[i];
  }
  const double top = *std::max_element(most.begin(), most.end());
  for (std::size_t m = 0; m < kStride; m += kLanes) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      q[m + i] = exp_nonpositive(q[m + i] - top);
      sums[i] += q[m + i];
    }
  }
  double sum = 0;
  for (const double part : sums) sum += part;
  for (std::size_t m = 0; m < kStride; ++m) q[m] /= sum;
  return top + math::log(sum);
}

/// Everything that one fit works on.
class Fit {
 public:
  Fit(const CategoryData& data, const RunContext& context, const Options& options)
      : data_(data),
        context_(context),
        options_(options),
        classes_(data.answers.class_count()),
        table_size_(classes_ * kStride),
        workers_(data.answers.worker_count()),
        nodes_(data.answers.task_count() * kStride),
        tables_(workers_.size() * table_size_),
        counts_(workers_.size() * table_size_) {
    if (classes_ == 0) return;
    first_cuts();
    renew_tables();
  }

  /// Nodes as another method's posterior sees them, and workers that fit to it.
  void begin_from(std::span<const double> posterior);
  /// M-step and E-step; returns the log posterior.
  double iterate(bool with_workers);
  void finish(CategoryFit& result) const;
  [[nodiscard]] double log_likelihood() const noexcept { return log_likelihood_; }
  [[nodiscard]] double log_probability(const CategoryAnswer& answer) const;

 private:
  void first_cuts();
  void renew_tables();
  void count();
  void improve_workers();
  void improve_cuts();
  double cut_terms(std::span<const double> cuts, CutSlope* slope) const;
  /// The E-step; returns the log posterior.
  double expect();
  /// Cuts and workers as one list of positive numbers, and back; false if such cuts are out of order.
  [[nodiscard]] std::vector<double> state() const;
  [[nodiscard]] bool take_state(std::span<const double> state);
  /// After three states in a row: whether the state that they lead to is better than the last one, which is left as it
  /// was otherwise.
  bool go_beyond();
  /// Of each node, what a distribution over classes says of it: Σ_k share × p_k / P(k).
  void weigh_nodes(std::span<const double> row, double* weights) const;
  [[nodiscard]] double log_prior() const;

  const CategoryData& data_;
  const RunContext& context_;
  const Options& options_;
  std::size_t classes_, table_size_;
  std::vector<double> cuts_;
  std::vector<Worker> workers_;
  double noise_level_ = 0;
  HugeVector<double> nodes_;   // tasks × nodes: the posterior of the latent truth
  HugeVector<double> tables_;  // workers × labels × nodes: ln P
  HugeVector<double> counts_;  // the same shape: expected answers
  std::vector<double> shares_, class_prior_;
  double log_likelihood_ = 0, log_posterior_ = 0;
  double last_gain_ = 0;  // of the last plain step: what goes beyond must gain as much
  VectorHistory history_;
  Reach reach_;
};

/// Quantiles of what a typical worker sees, g + N(0, 1), at the shares of answers.
void Fit::first_cuts() {
  std::vector<double> said(classes_, 1);
  for (const ClassId label : data_.answers.labels()) said[index(label)] += 1;
  normalise(said);
  double below = 0;
  for (std::size_t c = 0; c + 1 < classes_; ++c) {
    below += said[c];
    cuts_.push_back(1.4142135623730951 * normal_quantile(below));
  }
}

void Fit::renew_tables() {
  const Blocks blocks{workers_.size(), kWorkersPerBlock};
  context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
      log_table(workers_[w], cuts_, tables_.data() + w * table_size_);
    }
  });
  shares_ = class_shares(cuts_);
  class_prior_.assign(classes_, 0.0);
  for (std::size_t m = 0; m < kNodes; ++m) {
    for (std::size_t k = 0; k < classes_; ++k) class_prior_[k] += node_prior()[m] * shares_[m * classes_ + k];
  }
}

void Fit::weigh_nodes(std::span<const double> row, double* weights) const {
  for (std::size_t m = 0; m < kNodes; ++m) {
    weights[m] = 0;
    for (std::size_t k = 0; k < classes_; ++k) {
      weights[m] += shares_[m * classes_ + k] * row[k] / std::max(class_prior_[k], kProbabilityFloor);
    }
  }
}

void Fit::begin_from(std::span<const double> posterior) {
  for (std::size_t t = 0; t < data_.answers.task_count(); ++t) {
    double* const q = nodes_.data() + t * kStride;
    weigh_nodes(posterior.subspan(t * classes_, classes_), q);
    for (std::size_t m = 0; m < kNodes; ++m) q[m] = std::max(q[m] * node_prior()[m], kProbabilityFloor);
    normalise({q, kNodes});
  }
}

void Fit::count() {
  const CategoryAnswers& answers = data_.answers;
  const Blocks blocks{workers_.size(), kWorkersPerBlock};
  context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
      double* const counts = counts_.data() + w * table_size_;
      std::fill_n(counts, table_size_, 0.0);
      const auto tasks = answers.tasks_of(WorkerId(w));
      const auto given = answers.answers_of(WorkerId(w));
      for (std::size_t a = 0; a < tasks.size(); ++a) {
        const double* const q = nodes_.data() + index(tasks[a]) * kStride;
        double* const row = counts + index(answers.labels()[given[a]]) * kStride;
        for (std::size_t m = 0; m < kStride; ++m) row[m] += q[m];
      }
    }
  });
}

void Fit::improve_workers() {
  const WorkerPrior prior{options_.bias_spread, options_.noise_spread, noise_level_};
  const Blocks blocks{workers_.size(), kWorkersPerBlock};
  context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
      improve(workers_[w], cuts_, counts_.data() + w * table_size_, prior);
    }
  });
  double bias = 0, noise = 0;
  for (const Worker& worker : workers_) {
    bias += worker.bias;
    noise += worker.log_noise;
  }
  const auto n = std::max(1.0, static_cast<double>(workers_.size()));
  noise_level_ = noise / n;
  // Only cut − bias counts for answers: biases are centred, and the cuts take what was common to them, wherever the
  // priors of both like that.
  const auto shift = [&](double by) {
    for (Worker& worker : workers_) worker.bias -= by;
    for (double& cut : cuts_) cut -= by;
  };
  const double before = log_prior();
  shift(bias / n);
  if (log_prior() < before) shift(-bias / n);
}

double Fit::cut_terms(std::span<const double> cuts, CutSlope* slope) const {
  const Blocks blocks{workers_.size(), kWorkersPerBlock};
  std::vector<double> values(blocks.count(), 0.0);
  std::vector<CutSlope> slopes(slope == nullptr ? 0 : blocks.count(), CutSlope(cuts.size()));
  context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
      values[block] += add_cut_terms(workers_[w], cuts, counts_.data() + w * table_size_,
                                     slope == nullptr ? nullptr : &slopes[block]);
    }
  });
  double value = add_cut_prior(cuts, options_.class_pseudo_count, slope);
  for (const double part : values) value += part;
  for (const CutSlope& part : slopes) slope->add(part);
  return value;
}

void Fit::improve_cuts() {
  constexpr int kHalvings = 6;
  CutSlope slope(cuts_.size());
  const double before = cut_terms(cuts_, &slope);
  const std::vector<double> step = cut_step(slope, cuts_);
  double length = 1;
  for (int halving = 0; halving < kHalvings; ++halving, length /= 2) {
    std::vector<double> moved = cuts_;
    for (std::size_t c = 0; c < moved.size(); ++c) moved[c] += length * step[c];
    if (cut_terms(moved, nullptr) < before) continue;
    cuts_ = std::move(moved);
    return;
  }
}

double Fit::expect() {
  const CategoryAnswers& answers = data_.answers;
  const Blocks blocks{answers.task_count(), kTasksPerBlock};
  std::vector<double> parts(blocks.count(), 0.0);
  std::array<double, kStride> log_nodes{};
  log_nodes.fill(kNoWeight);
  for (std::size_t m = 0; m < kNodes; ++m) log_nodes[m] = math::log(node_prior()[m]);
  context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    std::vector<double> known(classes_), weights(kNodes);
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      double* const q = nodes_.data() + t * kStride;
      std::copy(log_nodes.begin(), log_nodes.end(), q);
      const ClassId gold = data_.gold_of(TaskId(t));
      if (gold != kNoClass) {
        std::fill(known.begin(), known.end(), 0.0);
        known[index(gold)] = 1;
        weigh_nodes(known, weights.data());
        for (std::size_t m = 0; m < kNodes; ++m) q[m] += math::log(std::max(weights[m], kProbabilityFloor));
      }
      const auto workers = answers.workers_of(TaskId(t));
      const auto labels = answers.labels_of(TaskId(t));
      for (std::size_t a = 0; a < workers.size(); ++a) {
        const double* const logs = tables_.data() + index(workers[a]) * table_size_ + index(labels[a]) * kStride;
        for (std::size_t m = 0; m < kStride; ++m) q[m] += logs[m];
      }
      const double evidence = normalise_nodes(q);
      if (!workers.empty()) parts[block] += evidence;
    }
  });
  log_likelihood_ = 0;
  for (const double part : parts) log_likelihood_ += part;
  return log_likelihood_ + log_prior();
}

double Fit::log_prior() const {
  double value = add_cut_prior(cuts_, options_.class_pseudo_count, nullptr);
  for (const Worker& worker : workers_) {
    const double bias = worker.bias / options_.bias_spread;
    const double noise = (worker.log_noise - noise_level_) / options_.noise_spread;
    value -= 0.5 * (bias * bias + noise * noise);
  }
  return value;
}

std::vector<double> Fit::state() const {
  std::vector<double> state;
  for (const double cut : cuts_) state.push_back(kFarFromZero + cut);
  for (const Worker& worker : workers_) {
    state.push_back(kFarFromZero + worker.bias);
    state.push_back(kFarFromZero + worker.log_noise);
  }
  return state;
}

bool Fit::take_state(std::span<const double> state) {
  for (std::size_t c = 0; c < cuts_.size(); ++c) cuts_[c] = state[c] - kFarFromZero;
  double noise = 0;
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    const double* const own = state.data() + cuts_.size() + 2 * w;
    workers_[w] = {own[0] - kFarFromZero, noise_within_bounds(own[1] - kFarFromZero)};
    noise += workers_[w].log_noise;
  }
  noise_level_ = noise / std::max(1.0, static_cast<double>(workers_.size()));
  return std::is_sorted(cuts_.begin(), cuts_.end(), std::less_equal<>());
}

bool Fit::go_beyond() {
  const auto [step, bend] = history_.lengths();
  const double reach = reach_.of(step, bend);
  if (reach <= 1) {
    history_.begin_at_last();
    return false;
  }
  const auto last = std::tuple(cuts_, workers_, noise_level_);
  if (take_state(history_.beyond(reach))) {
    renew_tables();
    const double there = expect();
    if (there >= log_posterior_ + last_gain_) {
      log_posterior_ = there;
      history_.begin_at(state());
      return true;
    }
  }
  reach_.was_too_far();
  history_.begin_at_last();
  std::tie(cuts_, workers_, noise_level_) = last;
  return false;
}

double Fit::iterate(bool with_workers) {
  if (with_workers) {
    count();
    improve_workers();
    improve_cuts();
    history_.note(state());
    if (history_.states() == 3 && go_beyond()) return log_posterior_;
    renew_tables();
  }
  const double before = log_posterior_;
  log_posterior_ = expect();
  last_gain_ = with_workers ? std::max(0.0, log_posterior_ - before) : 0;
  return log_posterior_;
}

void Fit::finish(CategoryFit& result) const {
  result.posterior.assign(result.task_count * classes_, 0.0);
  const Blocks blocks{result.task_count, kTasksPerBlock};
  context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      double* const row = result.posterior.data() + t * classes_;
      for (std::size_t m = 0; m < kNodes; ++m) {
        for (std::size_t k = 0; k < classes_; ++k) row[k] += nodes_[t * kStride + m] * shares_[m * classes_ + k];
      }
      normalise({row, classes_});
    }
  });
  pin_gold(data_, result.posterior);
  result.class_prior = class_prior_;
  normalise(result.class_prior);
  result.confusion.assign(result.worker_count * classes_ * classes_, 0.0);
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    result.skill.push_back(math::exp(-workers_[w].log_noise));
    const double* const logs = tables_.data() + w * table_size_;
    double* const table = result.confusion.data() + w * classes_ * classes_;
    for (std::size_t k = 0; k < classes_; ++k) {
      for (std::size_t l = 0; l < classes_; ++l) {
        for (std::size_t m = 0; m < kNodes; ++m) {
          // The floor gives a class that has no room between its cuts the answers of a typical task.
          const double weight = node_prior()[m] * std::max(shares_[m * classes_ + k], kProbabilityFloor);
          table[k * classes_ + l] += weight * math::exp(logs[l * kStride + m]);
        }
      }
      normalise({table + k * classes_, classes_});
    }
  }
  result.learned.emplace_back("noise", math::exp(noise_level_));
  for (std::size_t c = 0; c < cuts_.size(); ++c) result.learned.emplace_back(fmt::format("cut_{}", c + 1), cuts_[c]);
}

double Fit::log_probability(const CategoryAnswer& answer) const {
  const double* const q = nodes_.data() + index(answer.task) * kStride;
  const double* const logs = tables_.data() + index(answer.worker) * table_size_ + index(answer.label) * kStride;
  double probability = 0;
  for (std::size_t m = 0; m < kNodes; ++m) probability += q[m] * math::exp(logs[m]);
  return math::log(std::max(probability, kProbabilityFloor));
}

/// Runs to rest; fills what the summary of a fit says of it.
void climb(Fit& fit, const CategoryStart& start, const Options& options, const RunContext& context,
           CategoryFit& result) {
  EmOptions em;
  em.max_iterations = options.max_iterations;
  em.tolerance = options.tolerance;
  bool with_workers = !start.empty();
  if (with_workers) fit.begin_from(start.posterior);
  const auto started = std::chrono::steady_clock::now();
  result.status = climb_to_rest(em, context, result.trace, [&](std::size_t) {
    const double objective = fit.iterate(with_workers);
    with_workers = true;
    return EmStep{objective};
  });
  result.iterations = result.trace.size();
  result.seconds_per_iteration = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count() /
                                 static_cast<double>(result.iterations);
  result.log_likelihood = fit.log_likelihood();
}

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "Latent ordinal";
  info.summary = "For ordered classes: workers see a continuous truth with bias and noise, and cut it into classes.";
  info.when_to_use = "Many ordered classes (seven or more), or few answers per worker: two numbers describe a worker.";
  info.reference =
      "P. McCullagh, Regression models for ordinal data, J. R. Stat. Soc. B 1980 (cuts); the truth is a random effect "
      "per task";
  info.assumptions =
      "Classes cut one scale into pieces, and workers differ only in bias and noise on it; nobody answers upside down.";
  info.cost = "time 61·S + 61·M·K normal integrals per iteration; memory 61·N + 122·M·K";
  info.uses_gold = true;
  info.uses_start = true;
  return CategoryMethod::of<LatentOrdinal, parameters>(std::move(info));
}

CategoryFit LatentOrdinal::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options_.ties;
  result.objective_name = "log posterior";
  result.objective_is_monotone = !data.has_gold();  // moving cuts move what gold says of the latent truth
  result.has_log_likelihood = true;
  if (result.class_count == 0) return result;
  Fit fit(data, context, options_);
  climb(fit, start, options_, context, result);
  fit.finish(result);
  result.labels = decided_labels(result.posterior, result.class_count, options_.decision, options_.ties, context);
  if (result.status == Status::iteration_limit) result.warnings.push_back(not_converged_warning(result.iterations));
  return result;
}

std::vector<double> LatentOrdinal::log_predictive(const CategoryData& data, std::span<const CategoryAnswer> answers,
                                                  const RunContext& context) const {
  Fit fit(data, context, options_);
  CategoryFit summary;
  climb(fit, {}, options_, context, summary);
  std::vector<double> logs;
  logs.reserve(answers.size());
  for (const CategoryAnswer& answer : answers) logs.push_back(fit.log_probability(answer));
  return logs;
}

}  // namespace wisecrowd::latent_ordinal
