#include "aggregate/categories/jaffe/jaffe.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "aggregate/categories/shared/votes.hpp"
#include "aggregate/method.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::jaffe {
namespace {

constexpr std::size_t kTasksPerBlock = 4096;
// Balances that the likelihood is tried at: b = tanh x makes steps finer toward the ends, where rare classes live.
constexpr double kGridEnd = 3;
constexpr int kGridSteps = 30;
constexpr int kRefinements = 30;
// P(+1) between 1/1000 and 999/1000 at most: beyond, tables follow from √((1−b)/(1+b)) alone.
constexpr double kMostBalance = 0.998;

/// log P(answers) under the tables that a balance implies; gold tasks count with their own class.
double log_likelihood(const CategoryData& data, const RunContext& context, const TableModel& model) {
  const CategoryAnswers& answers = data.answers;
  std::vector<double> logs(model.tables.size());
  for (std::size_t c = 0; c < logs.size(); ++c) logs[c] = math::log(model.tables[c]);
  const Blocks blocks{answers.task_count(), kTasksPerBlock};
  std::vector<double> parts(blocks.count(), 0.0);
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      const TaskId task{static_cast<std::uint32_t>(t)};
      const auto workers = answers.workers_of(task);
      const auto labels = answers.labels_of(task);
      double value[2];
      for (std::size_t k = 0; k < 2; ++k) {
        value[k] = math::log(data.task_priors.empty() ? model.class_prior[k]
                                                      : std::max(data.task_priors[t * 2 + k], kProbabilityFloor));
        for (std::size_t a = 0; a < workers.size(); ++a)
          value[k] += logs[index(workers[a]) * 4 + k * 2 + index(labels[a])];
      }
      const ClassId gold = data.gold_of(task);
      parts[block] += gold == kNoClass ? log_sum_exp(value) : value[index(gold)];
    }
  });
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

/// The balance whose tables make the answers most probable: a grid, then golden section around its best point.
double most_likely_balance(const CategoryData& data, const RunContext& context, const CovarianceFit& fit) {
  const auto value = [&](double x) {
    return log_likelihood(data, context, tables_from_balance(fit, data.answers.worker_count(), math::tanh(x)));
  };
  const double step = 2 * kGridEnd / kGridSteps;
  double best = 0, best_value = value(0);
  for (int i = 0; i <= kGridSteps; ++i) {
    const double x = -kGridEnd + i * step;
    const double here = value(x);
    if (here > best_value) {
      best = x;
      best_value = here;
    }
  }
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double low = best - step, high = best + step;
  double a = high - golden * (high - low), b = low + golden * (high - low);
  double at_a = value(a), at_b = value(b);
  for (int i = 0; i < kRefinements && !context.cancelled(); ++i) {
    if (at_a >= at_b) {
      high = b;
      b = a;
      at_b = at_a;
      a = high - golden * (high - low);
      at_a = value(a);
    } else {
      low = a;
      a = b;
      at_a = at_b;
      b = low + golden * (high - low);
      at_b = value(b);
    }
  }
  return math::tanh((low + high) / 2);
}

constexpr auto kBalanceNames =
    enum_names<Balance>({{Balance::moments, "moments"}, {Balance::likelihood, "likelihood"}});

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("balance", o.balance, kBalanceNames,
           "the class balance: from third moments, or the one under which the answers are most "
           "probable");
  v.integer("max_iterations", o.fit.max_iterations, 1, 1e9, "give up after this many sweeps over the workers");
  v.real("tolerance", o.fit.tolerance, 0, 1, "stop when no worker's covariance factor moves by more than this");
  tie_rule_parameter(v, o.ties);
}

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "Jaffe–Nadler–Kluger";
  info.summary =
      "How often workers are right on each of two classes, and how frequent these are, from means, covariances and "
      "third moments of the answers.";
  info.when_to_use = "Two classes of unequal frequency and three or more answers per task; also as a start for EM.";
  info.reference =
      "A. Jaffe, B. Nadler and Y. Kluger, Estimating the accuracies of multiple classifiers without labeled data, "
      "AISTATS 2015";
  info.assumptions =
      "Answers are independent given the truth, who answers what does not depend on it, and most workers are better "
      "than chance.";
  info.cost = "time S per sweep; memory 12·S";
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.uses_start = true;
  info.allows_repeats = false;
  info.max_classes = 2;
  return CategoryMethod::of<Jaffe, parameters>(std::move(info));
}

CategoryFit Jaffe::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options_.ties;
  result.objective_name = "explained covariance";
  result.objective_is_monotone = true;
  if (result.class_count == 0) return result;
  if (result.class_count == 1) {
    result.status = context.cancelled() ? Status::cancelled : Status::converged;
    conclude_one_coin(data, context, std::vector<double>(result.worker_count, 1.0), options_.ties, result);
    return result;
  }
  CovarianceFit fit = fit_covariances(data, context, options_.fit, start);
  const ThirdMoment third = fit_third_moment(data, fit);
  double balance = 0;
  if (options_.balance == Balance::likelihood || !third.known) {
    balance = most_likely_balance(data, context, fit);
  } else {
    balance = balance_from(third.alpha);
  }
  if (!third.known) {
    result.warnings.push_back({"no_third_moments",
                               "no task has three answers, so the class balance is the most likely one instead of that "
                               "of third moments.",
                               "Ask three workers about some tasks."});
  }
  balance = std::clamp(balance, -kMostBalance, kMostBalance);
  conclude(data, context, tables_from_balance(fit, result.worker_count, balance), options_.ties, result);
  result.learned = {{"balance", balance}};
  if (third.known) result.learned.emplace_back("third_moment", third.alpha);

  result.skill.resize(result.worker_count);
  for (std::size_t w = 0; w < result.worker_count; ++w) {
    const double* table = result.confusion.data() + w * 4;
    result.skill[w] = table[0] + table[3] - 1;
  }
  result.trace = std::move(fit.trace);
  result.iterations = fit.iterations;
  result.seconds_per_iteration = fit.iterations > 0 ? fit.seconds / static_cast<double>(fit.iterations) : 0;
  result.status = fit.status;
  warn_of_links(fit.links, result);
  if (result.status == Status::iteration_limit) {
    result.warnings.push_back({"not_converged",
                               fmt::format("stopped after {} sweeps while workers still moved", result.iterations),
                               "raise max_iterations."});
  }
  return result;
}

}  // namespace wisecrowd::jaffe
