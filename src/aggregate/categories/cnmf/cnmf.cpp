#include "aggregate/categories/cnmf/cnmf.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "aggregate/categories/shared/separable.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "aggregate/method.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"

namespace wisecrowd::cnmf {
namespace {

constexpr std::size_t kWorkersPerBlock = 8;
constexpr std::size_t kMirrorSteps = 3;
constexpr double kSufficientDecrease = 1e-3;

/// The sums over pairs that both solvers need.
class PairwiseMixture {
 public:
  PairwiseMixture(const PairMoments& pairs, TableModel& model, const SolverOptions& options)
      : pairs_(pairs),
        model_(model),
        classes_(pairs.class_count()),
        options_(options),
        free_workers_(pairs.worker_count() - (pairs.has_gold_worker() ? 1 : 0)),
        pseudo_(free_workers_, 0.0) {
    for (std::size_t w = 0; w < free_workers_; ++w) {
      double weight = 0;
      for (const auto& partner : pairs.partners(w)) weight += weight_of(partner.pair);
      // An answer enters once per partner, so a pseudo-answer must too.
      const double answers = pairs.answers(w);
      if (answers > 0) pseudo_[w] = options.pseudo_count * weight / answers;
    }
  }

  [[nodiscard]] std::size_t classes() const noexcept { return classes_; }
  [[nodiscard]] std::size_t free_workers() const noexcept { return free_workers_; }
  [[nodiscard]] double pseudo(std::size_t worker) const noexcept { return pseudo_[worker]; }
  [[nodiscard]] double weight_of(std::size_t pair) const noexcept {
    return options_.weights == Weights::tasks ? pairs_.pairs()[pair].common : 1.0;
  }

  /// Room for one worker at a time.
  struct Scratch {
    std::vector<double> shares, scaled, ratio;
    explicit Scratch(std::size_t cells) : shares(cells), scaled(cells), ratio(cells) {}
  };

  /// Adds to sums[k][l] the part Σ_m (w R[l][m] / model[l][m]) th_j'[k][m] of all partners, with `table` for the worker
  /// itself: EM multiplies it by π_k th_j[k][l], and its negative times π_k is the gradient. Returns Σ w R log model
  /// over the partners behind the worker, or over all of them.
  double collect(std::size_t worker, std::span<const double> table, bool all_partners, Scratch& scratch,
                 std::span<double> sums) const {
    const std::size_t n = classes_;
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t l = 0; l < n; ++l) scratch.scaled[k * n + l] = model_.class_prior[k] * table[k * n + l];
    }
    double objective = 0;
    for (const auto& partner : pairs_.partners(worker)) {
      pairs_.joint_shares(worker, partner, scratch.shares);
      const double weight = weight_of(partner.pair);
      const double* const other = model_.table(partner.worker).data();
      std::fill(scratch.ratio.begin(), scratch.ratio.end(), kProbabilityFloor);
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t l = 0; l < n; ++l) {
          const double scaled = scratch.scaled[k * n + l];
          for (std::size_t m = 0; m < n; ++m) scratch.ratio[l * n + m] += scaled * other[k * n + m];
        }
      }
      if (all_partners || partner.worker > worker) {
        double sum = 0;
        for (std::size_t c = 0; c < n * n; ++c) sum += scratch.shares[c] * log_positive(scratch.ratio[c]);
        objective += weight * sum;
      }
      for (std::size_t c = 0; c < n * n; ++c) scratch.ratio[c] = weight * scratch.shares[c] / scratch.ratio[c];
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t l = 0; l < n; ++l) {
          double sum = 0;
          for (std::size_t m = 0; m < n; ++m) sum += scratch.ratio[l * n + m] * other[k * n + m];
          sums[k * n + l] += sum;
        }
      }
    }
    return objective;
  }

  /// The pseudo-counts' part of the objective.
  [[nodiscard]] double prior_part(std::size_t worker, std::span<const double> table) const {
    if (worker >= free_workers_ || pseudo_[worker] == 0) return 0;
    double sum = 0;
    for (const double p : table) sum += math::log(std::max(p, kProbabilityFloor));
    return pseudo_[worker] * sum;
  }

  struct Sweep {
    double objective = 0;              ///< at the parameters that the sweep met
    std::vector<double> class_masses;  ///< of all pairs, twice
    std::vector<double> counts;        ///< workers × truth × label: expected pair answers
  };
  /// Expected counts of all workers.
  Sweep sweep(const RunContext& context) const {
    const std::size_t cells = classes_ * classes_;
    Sweep result{0, std::vector<double>(classes_, 0.0), std::vector<double>(pairs_.worker_count() * cells, 0.0)};
    const Blocks blocks{pairs_.worker_count(), kWorkersPerBlock};
    std::vector<double> partial(blocks.count(), 0.0);
    context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      Scratch scratch(cells);
      for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
        const auto table = std::as_const(model_).table(w);
        const auto counts = std::span(result.counts).subspan(w * cells, cells);
        partial[block] += collect(w, table, false, scratch, counts) + prior_part(w, table);
        for (std::size_t c = 0; c < cells; ++c) counts[c] *= model_.class_prior[c / classes_] * table[c];
      }
    });
    for (const double part : partial) result.objective += part;
    for (std::size_t c = 0; c < result.counts.size(); ++c) {
      result.class_masses[c % cells / classes_] += result.counts[c];
    }
    return result;
  }

 private:
  const PairMoments& pairs_;
  TableModel& model_;
  std::size_t classes_;
  const SolverOptions& options_;
  std::size_t free_workers_;
  std::vector<double> pseudo_;
};

void em_update(const PairwiseMixture& mixture, const PairMoments& pairs, PairwiseMixture::Sweep& sweep,
               TableModel& model) {
  const std::size_t classes = mixture.classes(), cells = classes * classes;
  for (std::size_t w = 0; w < mixture.free_workers(); ++w) {
    if (pairs.partners(w).empty()) continue;
    const auto table = model.table(w);
    for (std::size_t k = 0; k < classes; ++k) {
      double total = 0;
      for (std::size_t l = 0; l < classes; ++l) total += sweep.counts[w * cells + k * classes + l] += mixture.pseudo(w);
      if (!(total > 0)) continue;  // a class that nobody believes in keeps its rows
      for (std::size_t l = 0; l < classes; ++l) {
        table[k * classes + l] = sweep.counts[w * cells + k * classes + l] / total;
      }
    }
  }
  model.class_prior = sweep.class_masses;
  for (double& p : model.class_prior) p = std::max(p, kProbabilityFloor);
  normalise(model.class_prior);
}

/// One worker by exponentiated gradient with backtracking: never worse than before.
void mirror_update(const PairwiseMixture& mixture, std::size_t worker, TableModel& model,
                   PairwiseMixture::Scratch& scratch) {
  const std::size_t classes = mixture.classes(), cells = classes * classes;
  const auto table = model.table(worker);
  std::vector<double> current(table.begin(), table.end()), gradient(cells), trial(cells), ignored(cells);
  const auto value = [&](std::span<const double> at, std::span<double> sums) {
    std::fill(sums.begin(), sums.end(), 0.0);
    return mixture.collect(worker, at, true, scratch, sums) + mixture.prior_part(worker, at);
  };
  for (std::size_t inner = 0; inner < kMirrorSteps; ++inner) {
    const double before = value(current, gradient);
    // Divided by the mass of its row, a gradient has the same size for rare and frequent classes and for any weights.
    for (std::size_t k = 0; k < classes; ++k) {
      double mass = 0;
      for (std::size_t l = 0; l < classes; ++l) {
        double& g = gradient[k * classes + l];
        g = g * model.class_prior[k] + mixture.pseudo(worker) / std::max(current[k * classes + l], kProbabilityFloor);
        mass += current[k * classes + l] * g;
      }
      for (std::size_t l = 0; l < classes && mass > 0; ++l) gradient[k * classes + l] /= mass;
    }
    bool moved = false;
    for (double step = 1; step > 1e-4 && !moved; step *= 0.5) {
      double gain = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        const auto row = std::span(trial).subspan(k * classes, classes);
        for (std::size_t l = 0; l < classes; ++l) {
          const double g = std::min(gradient[k * classes + l], 700.0);
          row[l] = std::max(current[k * classes + l], kProbabilityFloor) * math::exp(step * (g - 1));
        }
        normalise(row);
        for (std::size_t l = 0; l < classes; ++l)
          gain += gradient[k * classes + l] * (row[l] - current[k * classes + l]);
      }
      if (value(trial, ignored) >= before + kSufficientDecrease * std::max(gain, 0.0)) {
        current.swap(trial);
        moved = true;
      }
    }
    if (!moved) break;
  }
  std::copy(current.begin(), current.end(), table.begin());
}

double mean_divergence(const PairMoments& pairs, const PairwiseMixture& mixture, double fitted) {
  // Σ w R log R is what a perfect fit would reach.
  double best = 0, weight = 0;
  const std::size_t cells = mixture.classes() * mixture.classes();
  for (std::size_t p = 0; p < pairs.pairs().size(); ++p) {
    const double common = pairs.pairs()[p].common;
    double sum = 0;
    for (std::size_t c = 0; c < cells; ++c) {
      const double share = pairs.joint(p)[c] / common;
      if (share > 0) sum += share * math::log(share);
    }
    best += mixture.weight_of(p) * sum;
    weight += mixture.weight_of(p);
  }
  return weight > 0 ? (best - fitted) / weight : 0;
}

}  // namespace

Path factorise(const PairMoments& pairs, const RunContext& context, TableModel& model, const SolverOptions& options) {
  Path path;
  if (pairs.pairs().empty()) {
    path.status = context.cancelled() ? Status::cancelled : Status::converged;
    return path;
  }
  const PairwiseMixture mixture(pairs, model, options);
  PairwiseMixture::Scratch scratch(mixture.classes() * mixture.classes());
  for (std::size_t iteration = 0; iteration < options.max_iterations; ++iteration) {
    auto sweep = mixture.sweep(context);
    path.trace.push_back(sweep.objective);
    context.report({.stage = "iterating",
                    .done = static_cast<double>(iteration + 1),
                    .total = static_cast<double>(options.max_iterations),
                    .objective = sweep.objective,
                    .has_objective = true});
    if (options.solver == Solver::em) {
      em_update(mixture, pairs, sweep, model);
    } else {
      for (std::size_t w = 0; w < mixture.free_workers(); ++w) {
        if (!pairs.partners(w).empty()) mirror_update(mixture, w, model, scratch);
      }
      // For the prior, the EM step is an exponentiated-gradient step that needs no line search.
      model.class_prior = mixture.sweep(context).class_masses;
      for (double& p : model.class_prior) p = std::max(p, kProbabilityFloor);
      normalise(model.class_prior);
    }
    if (context.cancelled()) {
      path.status = Status::cancelled;
      break;
    }
    if (iteration > 0 && std::abs(path.trace[iteration] - path.trace[iteration - 1]) <=
                             options.tolerance * std::abs(path.trace[iteration])) {
      path.status = Status::converged;
      break;
    }
  }
  double fitted = mixture.sweep(context).objective;
  for (std::size_t w = 0; w < mixture.free_workers(); ++w) {
    fitted -= mixture.prior_part(w, std::as_const(model).table(w));
  }
  path.divergence = mean_divergence(pairs, mixture, fitted);
  return path;
}

namespace {

constexpr auto kSolverNames = enum_names<Solver>({{Solver::em, "em"}, {Solver::mirror_descent, "mirror_descent"}});
constexpr auto kWeightNames = enum_names<Weights>({{Weights::tasks, "tasks"}, {Weights::equal, "equal"}});
constexpr auto kBeginNames =
    enum_names<Begin>({{Begin::multispa, "multispa"}, {Begin::votes, "votes"}, {Begin::random, "random"}});

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("solver", o.solver.solver, kSolverNames,
           "how the divergence is lowered: EM for the mixture of pairs, or exponentiated gradients "
           "worker by worker as in the paper");
  v.choice("weights", o.solver.weights, kWeightNames,
           "how much a pair of workers counts: as it has common tasks, or all the same");
  v.integer("min_common", o.min_common, 0, 1e9,
            "pairs of workers with fewer tasks in common are not used; 0: max(10, 2 K)");
  v.real("pseudo_count", o.solver.pseudo_count, 0, 1e9, "answers added to every cell of every confusion table");
  v.integer("max_iterations", o.solver.max_iterations, 1, 1e9, "give up after this many iterations");
  v.real("tolerance", o.solver.tolerance, 0, 1, "stop when the objective changes by less than this share of its size");
  v.choice("start", o.start, kBeginNames,
           "the first tables: of multispa, of the vote, or of the vote mixed with random noise");
  v.real("column_shrinkage", o.column_shrinkage, 0, 1e9,
         "for the start by multispa: answers of the worker's average added to each column");
  tie_rule_parameter(v, o.ties);
}

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "Coupled non-negative factorisation";
  info.summary = "Finds the confusion tables that explain best what all pairs of workers said together.";
  info.when_to_use =
      "Pairs of workers who share many tasks: steadier than multispa, and a start for EM that the vote cannot mislead.";
  info.reference = "S. Ibrahim, X. Fu, N. Kargas and K. Huang, Crowdsourcing via pairwise co-occurrences, NeurIPS 2019";
  info.assumptions =
      "Answers are independent given the truth; enough workers are sure of a class, or pairs do not determine the "
      "tables; who answers which task does not depend on the task.";
  info.cost = "time Σ_i m_i² once, P·K³ per iteration for P pairs of workers; memory P·K²";
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.uses_start = true;
  info.uses_chance = false;
  return CategoryMethod::of<Cnmf, parameters>(std::move(info));
}

CategoryFit Cnmf::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options_.ties;
  result.objective_name = "composite log posterior";
  result.objective_is_monotone = true;
  if (result.class_count == 0) return result;
  const PairMoments pairs(data, context, {.min_common = options_.min_common, .gold_as_worker = true});
  const std::size_t gold_workers = pairs.worker_count() - result.worker_count;
  TableModel model = start.empty() ? tables_from_posterior(data, context, vote_fractions(data, context), gold_workers)
                                   : tables_from_posterior(data, context, start.posterior, gold_workers);
  if (start.empty() && options_.start == Begin::multispa) {
    model = separable_tables(pairs, context, model, options_.column_shrinkage).model;
    // Corners estimated by few columns may have zeros, which EM would never leave.
    smooth(model, data.answers, 1);
  } else if (start.empty() && options_.start == Begin::random) {
    Rng rng = context.rng("start");
    const std::vector<double> flat(result.class_count, 1.0);
    std::vector<double> draw(result.class_count);
    for (std::size_t r = 0; r < result.worker_count * result.class_count; ++r) {
      rng.dirichlet(flat, draw);
      for (std::size_t l = 0; l < result.class_count; ++l) {
        double& cell = model.tables[r * result.class_count + l];
        cell = 0.5 * cell + 0.5 * draw[l];
      }
    }
  }
  const auto started = std::chrono::steady_clock::now();
  Path path = factorise(pairs, context, model, options_.solver);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  conclude(data, context, model, options_.ties, result);
  result.trace = std::move(path.trace);
  result.iterations = result.trace.size();
  result.status = path.status;
  result.seconds_per_iteration = result.iterations > 0 ? seconds / static_cast<double>(result.iterations) : 0;
  result.learned.emplace_back("pairs", static_cast<double>(pairs.pairs().size()));
  result.learned.emplace_back("divergence", path.divergence);

  std::size_t alone = 0;
  for (std::size_t w = 0; w < result.worker_count; ++w) alone += pairs.partners(w).empty() ? 1 : 0;
  if (alone > 0) {
    result.warnings.push_back(
        {"unsolved_workers",
         fmt::format("{} of {} workers share too few tasks with others; their tables are those of the vote.", alone,
                     result.worker_count),
         "Lower min_common, or use dawid_skene."});
  }
  return result;
}

}  // namespace wisecrowd::cnmf
