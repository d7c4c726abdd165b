#include "aggregate/categories/glad/glad.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "aggregate/categories/shared/votes.hpp"
#include "aggregate/method.hpp"
#include "base/huge_vector.hpp"
#include "base/lanes.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::glad {
namespace {

constexpr std::size_t kTasksPerBlock = 512;
constexpr std::size_t kWorkersPerBlock = 16;
constexpr double kLargestLogEasiness = 10;  // exp of more would overflow in products and mean nothing

/// Takes a coordinate uphill: Newton steps, halved until the value does not fall. Never makes it worse.
double climb(const Coordinate& coordinate, double x, std::size_t steps, std::span<const double> right_chance,
             std::span<const double> factor) {
  constexpr double kLongestStep = 1;
  constexpr double kEnough = 1e-9;
  Slope here = slope(coordinate, x, right_chance, factor);
  double damping = 1;
  for (std::size_t step = 0; step < steps; ++step) {
    double next = x + damping * std::clamp(here.first / here.curvature, -kLongestStep, kLongestStep);
    if (coordinate.is_easiness) next = std::clamp(next, -kLargestLogEasiness, kLargestLogEasiness);
    if (std::abs(next - x) < kEnough) break;
    const Slope there = slope(coordinate, next, right_chance, factor);
    if (there.value >= here.value) {
      x = next;
      here = there;
      damping = 1;
    } else {
      damping /= 4;
    }
  }
  return x;
}

class Fit {
 public:
  Fit(const CategoryData& data, const RunContext& context, const Options& options)
      : data_(data),
        answers_(data.answers),
        context_(context),
        options_(options),
        classes_(answers_.class_count()),
        log_others_(math::log(static_cast<double>(classes_ - 1))),
        ability(answers_.worker_count(), options.ability_mean),
        log_easiness(answers_.task_count()),
        class_prior(classes_, 1.0 / static_cast<double>(classes_)),
        right_chance_(answers_.answer_count()) {
    std::fill(log_easiness.begin(), log_easiness.end(), options.easiness_mean);
  }

  struct Sums {
    double log_likelihood = 0;
    double log_posterior = 0;
    std::vector<double> class_mass;
  };
  /// E-step at the current parameters and, if `learn`, the easiness of each task in the same breath. `posterior` is
  /// filled if given; `start`, if given, takes the place of the E-step's posterior.
  Sums sweep_tasks(bool learn, std::span<const double> start, std::span<double> posterior);
  void update_abilities();
  void update_class_prior(const Sums& sums);
  void describe(CategoryFit& result);

 private:
  const CategoryData& data_;
  const CategoryAnswers& answers_;
  const RunContext& context_;
  const Options& options_;
  std::size_t classes_;
  double log_others_;

 public:
  std::vector<double> ability;
  HugeVector<double> log_easiness;
  std::vector<double> class_prior;

 private:
  HugeVector<double> right_chance_;  // c_ij = q_i(y_ij), task order
};

Fit::Sums Fit::sweep_tasks(bool learn, std::span<const double> start, std::span<double> posterior) {
  const auto offsets = answers_.task_offsets();
  const auto labels = answers_.labels();
  const auto workers = answers_.workers();
  std::vector<double> log_prior(classes_);
  for (std::size_t k = 0; k < classes_; ++k) log_prior[k] = math::log(std::max(class_prior[k], kProbabilityFloor));
  const bool move = learn && options_.easiness_variance > 0;
  const Coordinate coordinate{true, options_.easiness_mean, options_.easiness_variance};
  const Blocks blocks{answers_.task_count(), kTasksPerBlock};
  std::vector<Sums> sums(blocks.count());
  context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    Sums& own = sums[block];
    own.class_mass.assign(classes_, 0.0);
    const AnswerIndex begin = offsets[blocks.begin(block)], end = offsets[blocks.end(block)];
    // All answers of the block at once, so that exp and log become vector code.
    std::vector<double> factor(end - begin), u(end - begin), soft_plus(end - begin), q(classes_);
    for (std::size_t a = begin; a < end; ++a) factor[a - begin] = ability[index(workers[a])];
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      const double easiness = math::exp(log_easiness[t]);
      for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) u[a - begin] = factor[a - begin] * easiness;
    }
    const double* const product = u.data();
    double* const out = soft_plus.data();
#pragma omp simd
    for (std::size_t i = 0; i < u.size(); ++i) {
      const double x = product[i];
      out[i] = (x > 0 ? x : 0) + log_positive(1 + exp_nonpositive(-std::abs(x)));
    }
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      const AnswerIndex first = offsets[t], last = offsets[t + 1];
      for (std::size_t k = 0; k < classes_; ++k) {
        q[k] = data_.task_priors.empty() ? log_prior[k] : math::log(data_.task_priors[t * classes_ + k]);
      }
      // log P(wrong, this one) = −softplus(u) − log(K−1); a right answer adds u + log(K−1) to it.
      double wrong = 0;
      for (AnswerIndex a = first; a < last; ++a) {
        wrong -= soft_plus[a - begin] + log_others_;
        q[index(labels[a])] += u[a - begin] + log_others_;
      }
      const ClassId gold = data_.gold_of(TaskId{static_cast<std::uint32_t>(t)});
      if (gold != kNoClass) {
        own.log_likelihood += wrong + std::max(q[index(gold)], -700.0);
        for (std::size_t k = 0; k < classes_; ++k) q[k] = k == index(gold) ? 1 : 0;
      } else {
        own.log_likelihood += wrong + softmax(q);
      }
      if (options_.easiness_variance > 0) {
        const double off = log_easiness[t] - options_.easiness_mean;
        own.log_posterior -= off * off / (2 * options_.easiness_variance);
      }
      if (!posterior.empty())
        std::copy(q.begin(), q.end(), posterior.begin() + static_cast<std::ptrdiff_t>(t * classes_));
      if (last == first) continue;
      for (std::size_t k = 0; k < classes_; ++k) own.class_mass[k] += q[k];
      const bool given = !start.empty() && gold == kNoClass;
      for (AnswerIndex a = first; a < last; ++a) {
        right_chance_[a] = given ? start[t * classes_ + index(labels[a])] : q[index(labels[a])];
      }
      if (!move) continue;
      log_easiness[t] = climb(coordinate, log_easiness[t], options_.newton_steps,
                              std::span(right_chance_).subspan(first, last - first),
                              std::span(factor).subspan(first - begin, last - first));
    }
  });
  Sums all;
  all.class_mass.assign(classes_, 0.0);
  for (const Sums& part : sums) {
    all.log_likelihood += part.log_likelihood;
    all.log_posterior += part.log_posterior;
    for (std::size_t k = 0; k < classes_; ++k) all.class_mass[k] += part.class_mass[k];
  }
  return all;
}

void Fit::update_abilities() {
  const Coordinate coordinate{false, options_.ability_mean, options_.ability_variance};
  const Blocks blocks{ability.size(), kWorkersPerBlock};
  context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    std::vector<double> chance, factor;
    for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
      const WorkerId id{static_cast<std::uint32_t>(w)};
      const auto own = answers_.answers_of(id);
      const auto tasks = answers_.tasks_of(id);
      chance.resize(own.size());
      factor.resize(own.size());
      for (std::size_t i = 0; i < own.size(); ++i) {
        chance[i] = right_chance_[own[i]];
        factor[i] = log_easiness[index(tasks[i])];
      }
      double* const easiness = factor.data();
      constexpr double kScale = 22026.465794806718;  // e^10, for exp_nonpositive
#pragma omp simd
      for (std::size_t i = 0; i < factor.size(); ++i) easiness[i] = kScale * exp_nonpositive(easiness[i] - 10);
      ability[w] = climb(coordinate, ability[w], options_.newton_steps, chance, factor);
    }
  });
}

void Fit::update_class_prior(const Sums& sums) {
  if (options_.class_prior == Options::ClassPrior::uniform || !data_.task_priors.empty()) return;
  class_prior = sums.class_mass;
  normalise(class_prior);
}

void Fit::describe(CategoryFit& result) {
  result.skill = ability;
  result.task_score_name = "easiness";
  result.task_score.resize(answers_.task_count());
  for (std::size_t t = 0; t < result.task_score.size(); ++t) result.task_score[t] = math::exp(log_easiness[t]);
  result.confusion.resize(ability.size() * classes_ * classes_);
  for (std::size_t w = 0; w < ability.size(); ++w) {
    const auto tasks = answers_.tasks_of(WorkerId{static_cast<std::uint32_t>(w)});
    double right = 0;
    for (const TaskId t : tasks) right += sigmoid(ability[w] * result.task_score[index(t)]);
    right = tasks.empty() ? sigmoid(ability[w] * math::exp(options_.easiness_mean))
                          : right / static_cast<double>(tasks.size());
    double* const table = result.confusion.data() + w * classes_ * classes_;
    for (std::size_t c = 0; c < classes_ * classes_; ++c) {
      table[c] = c % (classes_ + 1) == 0 ? right : (1 - right) / static_cast<double>(classes_ - 1);
    }
  }
}

}  // namespace

Slope slope(const Coordinate& coordinate, double x, std::span<const double> right_chance,
            std::span<const double> factor) {
  const double scale = coordinate.is_easiness ? math::exp(x) : x;
  const double* const c = right_chance.data();
  const double* const f = factor.data();
  const auto [value, first, second] = lane_sums<double, 3>(factor.size(), [&](std::size_t i) {
    const double u = f[i] * scale;
    const double small = exp_nonpositive(-std::abs(u));
    const double share = 1 / (1 + small);
    const double sigma = u > 0 ? share : small * share;
    return std::array{c[i] * u - (u > 0 ? u : 0) - log_positive(1 + small), (c[i] - sigma) * f[i],
                      sigma * (1 - sigma) * f[i] * f[i]};
  });
  const double off = x - coordinate.mean;
  Slope result{value - off * off / (2 * coordinate.variance), first - off / coordinate.variance,
               second + 1 / coordinate.variance};
  if (coordinate.is_easiness) {  // du/dx = u
    const double curve = second * scale * scale;
    result.first = first * scale - off / coordinate.variance;
    // The second derivative has a term of either sign; without it the curvature is positive.
    result.curvature = std::max(curve - first * scale, curve / 2) + 1 / coordinate.variance;
  }
  return result;
}

namespace {

constexpr auto kClassPriorNames = enum_names<Options::ClassPrior>(
    {{Options::ClassPrior::uniform, "uniform"}, {Options::ClassPrior::learned, "learned"}});

void parameters(ParameterVisitor& v, Options& o) {
  v.real("ability_mean", o.ability_mean, -1e3, 1e3,
         "abilities are around this before any answer; 0 knows nothing, below 0 misleads");
  v.real("ability_variance", o.ability_variance, 1e-6, 1e12, "spread of abilities");
  v.real("easiness_mean", o.easiness_mean, -9, 9, "logarithm of the usual easiness");
  v.real("easiness_variance", o.easiness_variance, 0, 1e6, "spread of the logarithm of easiness; 0: all tasks alike");
  v.choice("class_prior", o.class_prior, kClassPriorNames, "the probability of each class before any answer");
  v.integer("max_iterations", o.max_iterations, 1, 1e9, "give up after this many iterations");
  v.real("tolerance", o.tolerance, 0, 1, "stop when the log posterior gains less than this share of its size");
  v.integer("newton_steps", o.newton_steps, 1, 1000, "steps for each ability and each easiness per iteration");
  tie_rule_parameter(v, o.ties);
}

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "GLAD";
  info.summary = "An ability per worker and an easiness per task; their product decides how likely an answer is right.";
  info.when_to_use =
      "Tasks of very different difficulty and enough answers per task to tell (five or more); or when you want to know "
      "which tasks are hard. Like one_coin it knows no favourite confusions.";
  info.reference = "J. Whitehill et al., Whose vote should count more, NIPS 2009";
  info.assumptions =
      "Hard tasks are hard for everybody, errors have no favourite class, and answers are independent given truth and "
      "easiness.";
  info.cost = "time S·(K + Newton steps) per iteration; memory 8·S + N·K";
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.uses_start = true;
  return CategoryMethod::of<Glad, parameters>(std::move(info));
}

CategoryFit Glad::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  CategoryFit result = start_aggregation(data);
  const std::size_t classes = result.class_count;
  result.tie_rule = options_.ties;
  if (classes < 2) {  // nothing to find out
    result.posterior.assign(result.task_count * classes, 1.0);
    result.labels.assign(result.task_count, ClassId{0});
    result.class_prior.assign(classes, 1.0);
    result.skill.assign(result.worker_count, options_.ability_mean);
    if (context.cancelled()) result.status = Status::cancelled;
    return result;
  }
  Fit fit(data, context, options_);
  const auto log_prior_of_abilities = [&] {
    double sum = 0;
    for (const double a : fit.ability) {
      sum -= (a - options_.ability_mean) * (a - options_.ability_mean) / (2 * options_.ability_variance);
    }
    return sum;
  };
  result.objective_name = "log posterior";
  result.objective_is_monotone = true;
  result.status = Status::iteration_limit;
  const auto started = std::chrono::steady_clock::now();
  for (std::size_t iteration = 0; iteration < options_.max_iterations; ++iteration) {
    const bool given = iteration == 0 && !start.empty();
    const double of_abilities = log_prior_of_abilities();
    const Fit::Sums sums = fit.sweep_tasks(true, given ? start.posterior : std::span<const double>(), {});
    fit.update_class_prior(sums);
    fit.update_abilities();
    // With a posterior from elsewhere the first step need not climb; the trace begins after it.
    if (!given) result.trace.push_back(sums.log_likelihood + sums.log_posterior + of_abilities);
    result.iterations = iteration + 1;
    context.report({.stage = "iterating",
                    .done = static_cast<double>(iteration + 1),
                    .total = static_cast<double>(options_.max_iterations),
                    .objective = result.trace.empty() ? 0 : result.trace.back(),
                    .has_objective = !result.trace.empty()});
    if (context.cancelled()) {
      result.status = Status::cancelled;
      break;
    }
    const std::size_t known = result.trace.size();
    if (known > 1 &&
        result.trace[known - 1] - result.trace[known - 2] <= options_.tolerance * std::abs(result.trace[known - 1])) {
      result.status = Status::converged;
      break;
    }
  }
  result.posterior.resize(result.task_count * classes);
  const double of_abilities = log_prior_of_abilities();
  const Fit::Sums sums = fit.sweep_tasks(false, {}, result.posterior);
  result.trace.push_back(sums.log_likelihood + sums.log_posterior + of_abilities);
  result.log_likelihood = sums.log_likelihood;
  result.has_log_likelihood = true;
  result.seconds_per_iteration = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count() /
                                 static_cast<double>(result.iterations);
  result.class_prior = fit.class_prior;
  if (!data.task_priors.empty()) result.class_prior = mean_posterior(data.answers, result.posterior);
  fit.describe(result);
  result.labels = hard_labels(result.posterior, classes, options_.ties, context);
  return result;
}

}  // namespace wisecrowd::glad
