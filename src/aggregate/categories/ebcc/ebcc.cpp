#include "aggregate/categories/ebcc/ebcc.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>

#include "aggregate/categories/ebcc/variational_run.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "aggregate/method.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ebcc {
namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 30;
/// Numbers in the large arrays from which on they are in single precision.
constexpr std::size_t kSinglePrecision = std::size_t{1} << 19;

/// Iterates until nothing moves, and once more for the bound. With a result, records the trace.
template <class Real>
void climb(VariationalRun<Real>& state, const Options& options, const Runner& run, const RunContext& context,
           CategoryFit* record) {
  bool settled = false;
  for (std::size_t iteration = 0; iteration < options.max_iterations; ++iteration) {
    const bool last = settled || iteration + 1 == options.max_iterations;
    const double change = state.iterate(last || record != nullptr, run);
    if (record != nullptr) {
      record->trace.push_back(state.bound());
      context.report({.stage = "iterating",
                      .done = static_cast<double>(iteration + 1),
                      .total = static_cast<double>(options.max_iterations),
                      .objective = state.bound(),
                      .has_objective = true});
      record->status = settled ? Status::converged : Status::iteration_limit;
    }
    if (context.cancelled()) {
      if (record != nullptr) record->status = Status::cancelled;
      return;
    }
    if (settled) return;
    settled = change <= options.tolerance;
  }
}

/// The start with the best bound. Starts run side by side, each in one thread, or one after the other on the whole team
/// when they would need too much memory together.
template <class Real>
std::size_t best_start(const Problem& problem, std::span<const double> shares, std::size_t bytes,
                       const RunContext& context) {
  const std::size_t starts = problem.options.restarts + 1;
  std::vector<double> bounds(starts, -std::numeric_limits<double>::infinity());
  std::atomic<std::size_t> done{0};
  const auto attempt = [&](std::size_t r, const Runner& run, bool reports) {
    if (context.cancelled()) return;
    VariationalRun<Real> state(problem);
    state.start(shares, context.rng("restart", r), run);
    climb<Real>(state, problem.options, run, context, nullptr);
    if (!context.cancelled()) bounds[r] = state.bound();
    const std::size_t so_far = ++done;
    if (reports) {
      context.report({.stage = "starts", .done = static_cast<double>(so_far), .total = static_cast<double>(starts)});
    }
  };
  if (bytes * context.threads() <= kMostBytes) {
    context.pool().for_each_block(starts,
                                  [&](std::size_t r, unsigned thread) { attempt(r, Runner(nullptr), thread == 0); });
  } else {
    for (std::size_t r = 0; r < starts; ++r) attempt(r, Runner(&context), true);
  }
  return static_cast<std::size_t>(std::max_element(bounds.begin(), bounds.end()) - bounds.begin());
}

/// Calls visit(state, weight) with the end of the best start, or of every start when they are averaged. The first one
/// visited is recorded in `result`.
template <class Real>
void visit_ends(const Problem& problem, std::span<const double> shares, std::size_t bytes, const RunContext& context,
                CategoryFit& result, const std::function<void(const VariationalRun<Real>&, double)>& visit) {
  const Options& options = problem.options;
  const bool many = options.restarts > 0 && options.subtypes > 1;  // one subtype leaves nothing to chance
  const bool all = many && options.average_starts;
  // The winner once more, with everything recorded: cheaper than keeping the states of all.
  const std::size_t first = many && !all ? best_start<Real>(problem, shares, bytes, context) : 0;
  const std::size_t count = all ? options.restarts + 1 : 1;
  const Runner team(&context);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0 && context.cancelled()) break;
    const auto started = std::chrono::steady_clock::now();
    VariationalRun<Real> state(problem);
    state.start(shares, context.rng("restart", first + i), team);
    climb<Real>(state, options, team, context, i == 0 ? &result : nullptr);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    if (i == 0) {
      result.iterations = result.trace.size();
      result.seconds_per_iteration = seconds / static_cast<double>(std::max<std::size_t>(result.iterations, 1));
      if (many && !all) result.learned.emplace_back("best_start", static_cast<double>(first));
    }
    visit(state, 1 / static_cast<double>(count));
  }
}

template <class Real>
void fit_as(const Problem& problem, std::span<const double> shares, std::size_t bytes, const RunContext& context,
            CategoryFit& result) {
  const auto add = [](std::vector<double>& sum, const std::vector<double>& part) {
    sum.resize(part.size(), 0.0);
    for (std::size_t e = 0; e < part.size(); ++e) sum[e] += part[e];
  };
  const std::size_t classes = result.class_count;
  visit_ends<Real>(problem, shares, bytes, context, result, [&](const VariationalRun<Real>& state, double) {
    const bool first = result.posterior.empty();
    add(result.posterior, state.class_posterior());
    add(result.class_prior, state.class_prior());
    add(result.confusion, state.confusion(Runner(&context)));
    if (!first) return;
    double used = 0;
    for (const double mass : state.mass()) used += mass >= 1 ? 1 : 0;
    result.learned.emplace_back("subtypes_in_use", used);
    if (problem.options.learn_row_prior) {
      result.learned.emplace_back("diagonal_prior", state.diagonal_prior());
      result.learned.emplace_back("off_diagonal_prior", state.off_diagonal_prior());
    }
  });
  for (auto* rows : {&result.posterior, &result.class_prior, &result.confusion}) {
    for (std::size_t r = 0; r < rows->size(); r += classes) normalise(std::span(*rows).subspan(r, classes));
  }
}

/// How much one run keeps, and in which precision; throws when it is too much.
struct Size {
  bool single = false;
  std::size_t bytes = 0;
};

Size size_of(const Problem& problem) {
  const std::size_t numbers = (problem.tasks + problem.workers * problem.classes) * pitch_for(problem.cells);
  const bool single = numbers > kSinglePrecision;
  const std::size_t bytes = numbers * (single ? sizeof(float) : sizeof(double));
  if (bytes > kMostBytes) {
    throw Error(ErrorCode::unsupported,
                fmt::format("ebcc keeps a probability for every task, class and subtype and a table for every worker "
                            "and subtype: {:.1f} GB here, {:.0f} at most. Lower subtypes (now {}), or use ibcc.",
                            static_cast<double>(bytes) / (std::size_t{1} << 30),
                            static_cast<double>(kMostBytes) / (std::size_t{1} << 30), problem.options.subtypes));
  }
  return {single, bytes};
}

constexpr auto kRowPriorNames = enum_names<bool>({{false, "fixed"}, {true, "learned"}});
constexpr auto kCombineNames = enum_names<bool>({{false, "best"}, {true, "average"}});

void parameters(ParameterVisitor& v, Options& o) {
  v.integer("subtypes", o.subtypes, 1, 1000,
            "the most subtypes of a class; those that are not needed stay empty. 1 is IBCC");
  v.real("subtype_prior", o.subtype_prior, 1e-3, 1e9,
         "Dirichlet mass of the subtypes of a class, split evenly: the smaller, the fewer are used");
  v.real("diagonal_prior", o.diagonal_prior, 1e-3, 1e9,
         "Dirichlet parameter of the right answer in every row of every table");
  v.real("off_diagonal_prior", o.off_diagonal_prior, 1e-3, 1e9, "Dirichlet parameter of each wrong answer");
  v.choice("row_prior", o.learn_row_prior, kRowPriorNames,
           "whether these two stay as they are, or are estimated from the data");
  v.choice("class_prior", o.learn_class_prior, kClassPriorNames,
           "how frequent classes are: estimated from the data, or all the same");
  v.real("class_pseudo_count", o.class_pseudo_count, 1e-3, 1e9, "Dirichlet parameter of every class");
  v.integer("max_iterations", o.max_iterations, 1, 1e9, "give up after this many iterations");
  v.real("tolerance", o.tolerance, 0, 1, "stop when no probability of a class has moved by more than this");
  v.integer("restarts", o.restarts, 0, 1e6, "further starts with other random subtypes");
  v.choice("combine", o.average_starts, kCombineNames,
           "what becomes of several starts: the one with the best bound, or the mean of all");
  tie_rule_parameter(v, o.ties);
}

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "EBCC (correlated workers)";
  info.summary = "Tasks of a class come in hidden subtypes that all workers perceive, which correlates their answers.";
  info.when_to_use =
      "When many workers make the same mistakes on the same tasks (hard or misleading ones), so that agreement is less "
      "evidence than it seems. Needs several answers per task.";
  info.reference =
      "Y. Li, B. Rubinstein and T. Cohn, Exploiting worker correlation for label aggregation in crowdsourcing, 2019";
  info.assumptions = "Answers are independent given class and subtype of the task; subtypes are few.";
  info.cost = "time S·K·G + M·K²·G digammas per iteration and start; memory N·K·G + M·K²·G per thread";
  info.uses_start = true;
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.uses_chance = true;
  return CategoryMethod::of<Ebcc, parameters>(std::move(info));
}

CategoryFit Ebcc::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options_.ties;
  if (result.class_count == 0) return result;
  result.objective_name = "evidence lower bound";
  result.objective_is_monotone = true;

  const Problem problem(data, options_);
  const Size size = size_of(problem);
  std::vector<double> shares = start.empty() ? vote_fractions(data, context)
                                             : std::vector<double>(start.posterior.begin(), start.posterior.end());
  pin_gold(data, shares);
  if (size.single) {
    fit_as<float>(problem, shares, size.bytes, context, result);
  } else {
    fit_as<double>(problem, shares, size.bytes, context, result);
  }
  pin_gold(data, result.posterior);
  result.labels = hard_labels(result.posterior, result.class_count, options_.ties, context);
  if (result.status == Status::iteration_limit) {
    result.warnings.push_back({"not_converged",
                               fmt::format("stopped after {} iterations while probabilities still moved by more than "
                                           "{}",
                                           result.iterations, options_.tolerance),
                               "raise max_iterations if the labels matter to the last digit."});
  }
  return result;
}

std::vector<double> Ebcc::log_predictive(const CategoryData& data, std::span<const CategoryAnswer> answers,
                                         const RunContext& context) const {
  std::vector<double> predictive(answers.size(), 0.0);
  if (data.answers.class_count() == 0) return predictive;
  const Problem problem(data, options_);
  const Size size = size_of(problem);
  std::vector<double> shares = vote_fractions(data, context);
  pin_gold(data, shares);
  CategoryFit ignored;
  const auto visit = [&](const auto& state, double weight) { state.add_predictive(answers, weight, predictive); };
  if (size.single) {
    visit_ends<float>(problem, shares, size.bytes, context, ignored, visit);
  } else {
    visit_ends<double>(problem, shares, size.bytes, context, ignored, visit);
  }
  for (double& p : predictive) p = math::log(std::max(p, kProbabilityFloor));
  return predictive;
}

}  // namespace wisecrowd::ebcc
