#include "aggregate/categories/coupled_tensor/coupled_tensor.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <tuple>

#include "aggregate/categories/shared/votes.hpp"
#include "aggregate/method.hpp"
#include "base/lanes.hpp"
#include "base/linear_algebra.hpp"
#include "base/numeric.hpp"
#include "base/rng.hpp"

namespace wisecrowd::coupled_tensor {
namespace {

using Matrix = RowMatrix;
using Vector = Eigen::VectorXd;

constexpr std::size_t kInnerIterations = 20;
/// Of the outer tolerance: ADMM need not be finer than what stops the whole.
constexpr double kInnerShare = 0.1;

Eigen::Index to_index(std::size_t n) { return static_cast<Eigen::Index>(n); }

/// min tr(Xᵀ Q X) − 2 tr(Xᵀ B) over X that `project` leaves as it is, by ADMM from where X stands. X changes only if
/// that lowers the objective, whose value (the two terms) is returned.
template <class Project>
double solve_constrained(const Matrix& quadratic, const Matrix& linear, double tolerance, Eigen::Map<Matrix> x,
                         const Project& project) {
  const auto value = [&](const Matrix& at) { return at.cwiseProduct(quadratic * at - 2 * linear).sum(); };
  const double step = std::max(quadratic.trace() / static_cast<double>(quadratic.rows()), 1e-300);
  // Far from singular by the shift, so the inverse is as good as a factorisation, and quicker to apply.
  const Matrix identity = Matrix::Identity(quadratic.rows(), quadratic.cols());
  const Matrix inverse = cholesky_solve(Matrix(quadratic + step * identity), identity);
  Matrix current = x, dual = Matrix::Zero(x.rows(), x.cols()), aim, relaxed, next;
  for (std::size_t i = 0; i < kInnerIterations; ++i) {
    aim = linear + step * (current + dual);
    relaxed.noalias() = inverse * aim;
    next = relaxed - dual;
    project(next);
    dual += next - relaxed;
    const double moved = (next - current).cwiseAbs().maxCoeff(), apart = (next - relaxed).cwiseAbs().maxCoeff();
    current.swap(next);
    if (moved <= tolerance && apart <= tolerance) break;
  }
  const double before = value(x), after = value(current);
  if (!(after <= before)) return before;
  x = current;
  return after;
}

/// Tables: every row is a distribution.
void project_rows(Matrix& x) {
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    project_to_simplex({x.data() + r * x.cols(), static_cast<std::size_t>(x.cols())});
  }
}
/// The class prior, a column: the whole is a distribution.
void project_all(Matrix& x) { project_to_simplex({x.data(), static_cast<std::size_t>(x.size())}); }

class Fit {
 public:
  Fit(const PairMoments& pairs, const TripleMoments& triples, TableModel& model, const SolverOptions& options)
      : pairs_(pairs),
        triples_(triples),
        model_(model),
        guide_(model.tables),
        grams_(model.tables.size()),
        classes_(model.classes),
        k_(to_index(classes_)),
        triples_of_(pairs.worker_count()),
        free_workers_(pairs.worker_count() - (pairs.has_gold_worker() ? 1 : 0)),
        tolerance_(kInnerShare * options.tolerance) {
    for (std::size_t r = 0; r < triples.triples().size(); ++r) {
      for (const auto w : triples.triples()[r].workers) triples_of_[w].push_back(r);
    }
    for (std::size_t w = 0; w < pairs.worker_count(); ++w) refresh_gram(w);
    double total = 0;
    for (const auto& pair : pairs.pairs()) total += pair.common;
    for (const auto& triple : triples.triples()) total += triple.common;
    for (std::size_t w = 0; w < pairs.worker_count(); ++w) {
      if (!pairs.partners(w).empty()) total += pairs.answers(w);
    }
    scale_ = total > 0 ? 1 / total : 1;
    pull_ = options.pull * scale_ / static_cast<double>(classes_);
    // Thick workers first, and an order that does not depend on names, so that the way to the optimum does not either.
    order_.resize(free_workers_);
    std::iota(order_.begin(), order_.end(), 0U);
    const auto key = [&](std::size_t w) {
      double common = 0, agreements = 0;
      for (const auto& partner : pairs.partners(w)) {
        common += pairs.pairs()[partner.pair].common;
        agreements += pairs.pairs()[partner.pair].agreements;
      }
      return std::tuple(common, agreements, pairs.answers(w));
    };
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return key(a) > key(b); });
  }

  /// One round over all workers and the class prior. Returns minus the objective after it.
  double round() {
    for (const std::size_t w : order_) {
      if (!pairs_.partners(w).empty()) update_worker(w);
    }
    return update_prior();
  }

 private:
  [[nodiscard]] Eigen::Map<const Matrix> table(std::size_t worker) const {
    return {model_.tables.data() + worker * classes_ * classes_, k_, k_};
  }
  [[nodiscard]] Eigen::Map<const Vector> prior() const { return {model_.class_prior.data(), k_}; }

  [[nodiscard]] Eigen::Map<const Matrix> gram(std::size_t worker) const {
    return {grams_.data() + worker * classes_ * classes_, k_, k_};
  }
  void refresh_gram(std::size_t worker) {
    Eigen::Map<Matrix>(grams_.data() + worker * classes_ * classes_, k_, k_).noalias() =
        table(worker) * table(worker).transpose();
  }

  /// Adds T(·, a_bk, a_ck), over the labels of the two other workers of a triple, to truth × label of the worker at
  /// `place`. Plain loops: for the usual handful of classes the cost is in the overhead of anything larger.
  void add_contraction(std::size_t triple, std::size_t place, double* to) const {
    const std::size_t n = classes_;
    const auto& workers = triples_.triples()[triple].workers;
    const double* const cells = triples_.joint(triple).data();
    const auto of = [&](std::size_t p) { return model_.tables.data() + workers[p] * n * n; };
    if (place == 2) {
      const double* const first = of(0);
      const double* const second = of(1);
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t c = 0; c < n * n; ++c) {
          const double weight = first[k * n + c / n] * second[k * n + c % n];
          for (std::size_t l = 0; l < n; ++l) to[k * n + l] += weight * cells[c * n + l];
        }
      }
      return;
    }
    const double* const other = of(1 - place);
    const double* const last = of(2);
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t b = 0; b < n; ++b) {
          const double* const line = cells + (a * n + b) * n;
          const double sum = lane_sum<double>(n, [&](std::size_t c) { return line[c] * last[k * n + c]; });
          to[k * n + (place == 0 ? a : b)] += sum * other[k * n + (place == 0 ? b : a)];
        }
      }
    }
  }

  void update_worker(std::size_t worker) {
    Matrix quadratic = Matrix::Zero(k_, k_), linear = Matrix::Zero(k_, k_), shares(k_, k_),
           counts = Matrix::Zero(k_, k_);
    for (const auto& partner : pairs_.partners(worker)) {
      pairs_.joint_shares(worker, partner, {shares.data(), classes_ * classes_});
      const double weight = scale_ * pairs_.pairs()[partner.pair].common;
      quadratic += weight * gram(partner.worker);
      linear.noalias() += weight * table(partner.worker) * shares.transpose();
    }
    for (const std::size_t r : triples_of_[worker]) {
      const auto& [workers, common] = triples_.triples()[r];
      const std::size_t place = workers[0] == worker ? 0 : workers[1] == worker ? 1 : 2;
      quadratic += scale_ * common * gram(workers[place == 0 ? 1 : 0]).cwiseProduct(gram(workers[place == 2 ? 1 : 2]));
      add_contraction(r, place, counts.data());
    }
    linear += scale_ * counts;  // counts are common · T
    quadratic = (prior().asDiagonal() * quadratic * prior().asDiagonal()).eval();
    linear = (prior().asDiagonal() * linear).eval();
    const Eigen::Map<const Eigen::RowVectorXd> labels(pairs_.label_counts(worker).data(), k_);
    quadratic += scale_ * labels.sum() * prior() * prior().transpose();
    linear += scale_ * prior() * labels;
    quadratic += pull_ * Matrix::Identity(k_, k_);
    linear += pull_ * Eigen::Map<const Matrix>(guide_.data() + worker * classes_ * classes_, k_, k_);
    solve_constrained(quadratic, linear, tolerance_, {model_.tables.data() + worker * classes_ * classes_, k_, k_},
                      project_rows);
    refresh_gram(worker);
  }

  double update_prior() {
    Matrix quadratic = Matrix::Zero(k_, k_), linear = Matrix::Zero(k_, 1), counts(k_, k_);
    double constant = 0;
    for (std::size_t w = 0; w < pairs_.worker_count(); ++w) {
      if (pairs_.partners(w).empty()) continue;
      const Eigen::Map<const Vector> labels(pairs_.label_counts(w).data(), k_);
      const double answers = labels.sum();
      quadratic += answers * gram(w);
      linear += table(w) * labels;
      constant += labels.squaredNorm() / answers;
      const Eigen::Map<const Matrix> guide(guide_.data() + w * classes_ * classes_, k_, k_);
      if (w < free_workers_) constant += pull_ / scale_ * (table(w) - guide).squaredNorm();
    }
    for (std::size_t p = 0; p < pairs_.pairs().size(); ++p) {
      const auto& pair = pairs_.pairs()[p];
      const Eigen::Map<const Matrix> joint(pairs_.joint(p).data(), k_, k_);
      const auto first = table(pair.first), second = table(pair.second);
      quadratic += pair.common * gram(pair.first).cwiseProduct(gram(pair.second));
      linear += (first * joint).cwiseProduct(second).rowwise().sum();
      constant += joint.squaredNorm() / pair.common;
    }
    for (std::size_t r = 0; r < triples_.triples().size(); ++r) {
      const auto& [workers, common] = triples_.triples()[r];
      quadratic += common * gram(workers[0]).cwiseProduct(gram(workers[1])).cwiseProduct(gram(workers[2]));
      counts.setZero();
      add_contraction(r, 2, counts.data());
      linear += counts.cwiseProduct(table(workers[2])).rowwise().sum();
      const auto cells = triples_.joint(r);
      constant += Eigen::Map<const Vector>(cells.data(), to_index(cells.size())).squaredNorm() / common;
    }
    return -scale_ * (constant + solve_constrained(quadratic, linear, tolerance_, {model_.class_prior.data(), k_, 1},
                                                   project_all));
  }

  const PairMoments& pairs_;
  const TripleMoments& triples_;
  TableModel& model_;
  std::vector<double> guide_;
  std::vector<double> grams_;  // th_j th_jᵀ of every worker
  std::size_t classes_;
  Eigen::Index k_;
  std::vector<std::vector<std::size_t>> triples_of_;
  std::size_t free_workers_;
  std::vector<std::size_t> order_;
  double scale_ = 1;
  double pull_ = 0;
  double tolerance_;
};

}  // namespace

Path factorise(const PairMoments& pairs, const TripleMoments& triples, const RunContext& context, TableModel& model,
               const SolverOptions& options) {
  Path path;
  if (pairs.pairs().empty()) {
    path.status = context.cancelled() ? Status::cancelled : Status::converged;
    return path;
  }
  Fit fit(pairs, triples, model, options);
  for (std::size_t iteration = 0; iteration < options.max_iterations; ++iteration) {
    const TableModel before = model;
    path.trace.push_back(fit.round());
    context.report({.stage = "iterating",
                    .done = static_cast<double>(iteration + 1),
                    .total = static_cast<double>(options.max_iterations),
                    .objective = path.trace.back(),
                    .has_objective = true});
    if (context.cancelled()) {
      path.status = Status::cancelled;
      break;
    }
    double moved = 0;
    for (std::size_t c = 0; c < model.tables.size(); ++c) {
      moved = std::max(moved, std::abs(model.tables[c] - before.tables[c]));
    }
    for (std::size_t k = 0; k < model.classes; ++k) {
      moved = std::max(moved, std::abs(model.class_prior[k] - before.class_prior[k]));
    }
    if (moved <= options.tolerance) {
      path.status = Status::converged;
      break;
    }
  }
  return path;
}

namespace {

constexpr auto kBeginNames = enum_names<Begin>({{Begin::votes, "votes"}, {Begin::random, "random"}});

void parameters(ParameterVisitor& v, Options& o) {
  v.integer("min_common", o.min_common, 0, 1e9,
            "pairs and triples of workers with fewer tasks in common are not used; 0: max(10, 2 K)");
  v.integer("triples_per_worker", o.triples_per_worker, 0, 1e6,
            "for each worker, how many triples are counted: those whose pairs share most tasks");
  v.real("pull", o.solver.pull, 0, 1e9,
         "how strongly a worker's table is drawn to where it started, in common tasks; it matters for "
         "workers with few of them");
  v.integer("max_iterations", o.solver.max_iterations, 1, 1e9, "give up after this many iterations");
  v.real("tolerance", o.solver.tolerance, 0, 1, "stop when no cell of a table moves by more");
  v.choice("start", o.start, kBeginNames, "the first tables: of the vote, or of the vote mixed with random noise");
  v.real("pseudo_count", o.pseudo_count, 0, 1e9, "answers added to every cell of a table before it judges tasks");
  tie_rule_parameter(v, o.ties);
}

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "Coupled tensor factorisation";
  info.summary = "Fits what workers said alone, in pairs and in threes by the same confusion tables, in least squares.";
  info.when_to_use =
      "Groups of three workers who share many tasks and nobody sure of a class: threes determine the tables where "
      "pairs "
      "do not.";
  info.reference =
      "P. A. Traganitis, A. Pagès-Zamora and G. B. Giannakis, Blind multiclass ensemble classification, IEEE "
      "Transactions on Signal Processing 66, 2018";
  info.assumptions =
      "Answers are independent given the truth; three workers or more tell all classes apart; who answers which task "
      "does "
      "not depend on the task.";
  info.cost = "time Σ_i m_i² once, P·K³ + T·K⁴ per iteration for P pairs and T triples of workers; memory P·K² + T·K³";
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.uses_start = true;
  return CategoryMethod::of<CoupledTensor, parameters>(std::move(info));
}

CategoryFit CoupledTensor::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options_.ties;
  result.objective_name = "minus the mean squared residual";
  result.objective_is_monotone = true;
  if (result.class_count == 0) return result;
  const PairMoments pairs(data, context, {.min_common = options_.min_common, .gold_as_worker = true});
  auto wanted = select_triples(pairs, options_.triples_per_worker);
  const std::size_t fitting =
      options_.most_triple_cells / (result.class_count * result.class_count * result.class_count);
  const bool thinned = wanted.size() > fitting;
  if (thinned) {  // the thickest that fit
    std::stable_sort(wanted.begin(), wanted.end(), [](const auto& a, const auto& b) { return a.common > b.common; });
    wanted.resize(fitting);
  }
  const TripleMoments triples(data, context, wanted, options_.min_common);
  const std::size_t gold_workers = pairs.worker_count() - result.worker_count;
  TableModel model = start.empty() ? tables_from_posterior(data, context, vote_fractions(data, context), gold_workers)
                                   : tables_from_posterior(data, context, start.posterior, gold_workers);
  if (start.empty() && options_.start == Begin::random) {
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
  Path path = factorise(pairs, triples, context, model, options_.solver);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  smooth(model, data.answers, options_.pseudo_count);
  conclude(data, context, model, options_.ties, result);
  result.trace = std::move(path.trace);
  result.iterations = result.trace.size();
  result.status = path.status;
  result.seconds_per_iteration = result.iterations > 0 ? seconds / static_cast<double>(result.iterations) : 0;
  result.learned.emplace_back("pairs", static_cast<double>(pairs.pairs().size()));
  result.learned.emplace_back("triples", static_cast<double>(triples.triples().size()));

  std::size_t alone = 0;
  for (std::size_t w = 0; w < result.worker_count; ++w) alone += pairs.partners(w).empty() ? 1 : 0;
  if (alone > 0) {
    result.warnings.push_back(
        {"unsolved_workers",
         fmt::format("{} of {} workers share too few tasks with others; their tables are those of the vote.", alone,
                     result.worker_count),
         "Lower min_common, or use dawid_skene."});
  }
  if (thinned) {
    result.warnings.push_back({"fewer_triples",
                               fmt::format("only the {} triples with most common tasks are used; all would take too "
                                           "much memory for {} classes.",
                                           triples.triples().size(), result.class_count),
                               "Lower triples_per_worker to choose yourself.", Severity::note});
  }
  return result;
}

}  // namespace wisecrowd::coupled_tensor
