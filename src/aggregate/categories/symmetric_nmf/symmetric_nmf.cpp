#include "aggregate/categories/symmetric_nmf/symmetric_nmf.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "aggregate/categories/shared/votes.hpp"
#include "base/linear_algebra.hpp"
#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::symmetric_nmf {
namespace {

using Matrix = RowMatrix;

/// Rows of the dense matrix that imputation fills: 2000² doubles are 32 MB.
constexpr std::size_t kMostImputedRows = 2000;
constexpr std::size_t kReferences = 8;
constexpr std::size_t kSubspaceIterations = 60;
constexpr std::size_t kRotationIterations = 2000;
/// Enough to tell whether a random rotation is worth pursuing.
constexpr std::size_t kTrialIterations = 100;
/// A random rotation is taken only if it leaves less than this share of what the nearest one leaves.
constexpr double kClearlyBetter = 0.5;
constexpr double kResidualFloor = 1e-6;

Eigen::Index to_index(std::size_t n) { return static_cast<Eigen::Index>(n); }

Eigen::Map<Matrix> block_of(Factor& factor, std::size_t worker, std::size_t classes) {
  return {factor.data() + worker * classes * classes, to_index(classes), to_index(classes)};
}
Eigen::Map<const Matrix> block_of(const Factor& factor, std::size_t worker, std::size_t classes) {
  return {factor.data() + worker * classes * classes, to_index(classes), to_index(classes)};
}
Eigen::Map<Matrix> all_rows(Factor& factor, std::size_t classes) {
  return {factor.data(), to_index(factor.size() / classes), to_index(classes)};
}
Eigen::Map<const Matrix> all_rows(const Factor& factor, std::size_t classes) {
  return {factor.data(), to_index(factor.size() / classes), to_index(classes)};
}

/// The orthogonal Q with rows · Q nearest to `target`.
Matrix nearest_rotation(const Matrix& rows, const Matrix& target) {
  const SingularValues svd = singular_value_decomposition(rows.transpose() * target);
  return svd.u * svd.v.transpose();
}

Matrix random_rotation(Eigen::Index size, Rng& rng) {
  Matrix gaussian(size, size);
  for (Eigen::Index c = 0; c < gaussian.size(); ++c) gaussian.data()[c] = rng.normal();
  return orthogonal_factor(gaussian);
}

/// One row per worker and label, scaled by how well the worker is known; workers without pairs have no say.
Matrix weighted_rows(const PairMoments& pairs, const Factor& factor) {
  const std::size_t classes = pairs.class_count();
  Matrix rows = all_rows(factor, classes);
  for (std::size_t w = 0; w < pairs.worker_count(); ++w) {
    const double weight = pairs.partners(w).empty() ? 0.0 : std::sqrt(pairs.answers(w));
    rows.middleRows(to_index(w * classes), to_index(classes)) *= weight;
  }
  return rows;
}

double loss_of(double squared, Loss loss) {
  return loss == Loss::squares ? squared : std::sqrt(squared + kResidualFloor) - std::sqrt(kResidualFloor);
}

/// The objective of `couple`, divided by the weight of all pairs.
double mean_loss(const PairMoments& pairs, const Factor& factor, const Factor& guide, const CoupleOptions& options) {
  const std::size_t classes = pairs.class_count();
  double sum = 0, weight = 0;
  for (std::size_t w = 0; w < pairs.worker_count(); ++w) {
    sum += options.pull * (block_of(factor, w, classes) - block_of(guide, w, classes)).squaredNorm();
  }
  for (std::size_t p = 0; p < pairs.pairs().size(); ++p) {
    const auto& pair = pairs.pairs()[p];
    const Eigen::Map<const Matrix> counts(pairs.joint(p).data(), to_index(classes), to_index(classes));
    const double squared = (counts / pair.common -
                            block_of(factor, pair.first, classes) * block_of(factor, pair.second, classes).transpose())
                               .squaredNorm();
    sum += pair.common * loss_of(squared, options.loss);
    weight += pair.common;
  }
  return weight > 0 ? sum / weight : 0;
}

}  // namespace

Factor factor_of(const TableModel& model) {
  const std::size_t classes = model.classes;
  Factor factor(model.tables.size());
  for (std::size_t w = 0; w < model.worker_count(); ++w) {
    for (std::size_t k = 0; k < classes; ++k) {
      for (std::size_t l = 0; l < classes; ++l) {
        factor[(w * classes + l) * classes + k] = model.table(w)[k * classes + l] * std::sqrt(model.class_prior[k]);
      }
    }
  }
  return factor;
}

Path couple(const PairMoments& pairs, const RunContext& context, const Factor& guide, Factor& factor,
            const CoupleOptions& options) {
  Path path;
  if (pairs.pairs().empty()) {
    path.status = context.cancelled() ? Status::cancelled : Status::converged;
    return path;
  }
  const std::size_t classes = pairs.class_count();
  const auto k = to_index(classes);
  Matrix shares(k, k), right(k, k), normal(k, k);
  for (std::size_t iteration = 0; iteration < options.max_iterations; ++iteration) {
    for (std::size_t w = 0; w < pairs.worker_count(); ++w) {
      if (pairs.partners(w).empty()) continue;
      auto own = block_of(factor, w, classes);
      right.setZero();
      normal.setZero();
      for (const auto& partner : pairs.partners(w)) {
        pairs.joint_shares(w, partner, {shares.data(), classes * classes});
        const auto other = block_of(std::as_const(factor), partner.worker, classes);
        double weight = pairs.pairs()[partner.pair].common;
        if (options.loss == Loss::absolute) {
          weight /= 2 * std::sqrt((shares - own * other.transpose()).squaredNorm() + kResidualFloor);
        }
        right.noalias() += weight * (shares * other);
        normal.noalias() += weight * (other.transpose() * other);
      }
      // Besides the pull to the guide, a tiny one to where the worker stands: directions that its partners do not see
      // stay, and the objective falls all the same.
      const double stay = 1e-12 * normal.trace() + 1e-300;
      right += options.pull * block_of(guide, w, classes) + stay * own;
      normal.diagonal().array() += options.pull + stay;
      own = cholesky_solve(normal, Eigen::MatrixXd(right.transpose())).transpose();
    }
    path.trace.push_back(-mean_loss(pairs, factor, guide, options));
    context.report({.stage = "iterating",
                    .done = static_cast<double>(iteration + 1),
                    .total = static_cast<double>(options.max_iterations),
                    .objective = path.trace.back(),
                    .has_objective = true});
    if (context.cancelled()) {
      path.status = Status::cancelled;
      break;
    }
    if (iteration > 0 &&
        path.trace[iteration] - path.trace[iteration - 1] <= options.tolerance * std::abs(path.trace[iteration])) {
      path.status = Status::converged;
      break;
    }
  }
  return path;
}

Factor impute(const PairMoments& pairs, const Factor& guide) {
  const std::size_t workers = pairs.worker_count(), classes = pairs.class_count();
  const auto k = to_index(classes);
  if (workers * classes > kMostImputedRows) {
    throw Error(ErrorCode::unsupported,
                fmt::format("imputation fills a matrix of (workers · classes)² cells and takes at most {} rows; these "
                            "data have {} · {}. Use start=votes.",
                            kMostImputedRows, workers, classes));
  }
  constexpr std::uint32_t kAbsent = 0xFFFFFFFF;
  std::vector<std::uint32_t> pair_at(workers * workers, kAbsent);
  std::vector<std::vector<PairMoments::Partner>> thickest(workers);
  const auto common = [&](const PairMoments::Partner& partner) { return pairs.pairs()[partner.pair].common; };
  for (std::size_t w = 0; w < workers; ++w) {
    const auto partners = pairs.partners(w);
    for (const auto& partner : partners) pair_at[w * workers + partner.worker] = partner.pair;
    thickest[w].assign(partners.begin(), partners.end());
    std::stable_sort(thickest[w].begin(), thickest[w].end(),
                     [&](const auto& a, const auto& b) { return common(a) > common(b); });
    if (thickest[w].size() > kReferences) thickest[w].resize(kReferences);
  }
  const auto shares = [&](std::size_t a, std::size_t b) {
    Matrix block(k, k);
    pairs.joint_shares(a, {static_cast<std::uint32_t>(b), pair_at[a * workers + b]}, {block.data(), classes * classes});
    return block;
  };
  Matrix filled = Matrix::Zero(to_index(workers * classes), to_index(workers * classes));
  for (std::size_t m = 0; m < workers; ++m) {
    for (std::size_t n = m; n < workers; ++n) {
      Matrix block = Matrix::Zero(k, k);
      if (n > m && pair_at[m * workers + n] != kAbsent) {
        block = shares(m, n);
      } else {
        for (const auto& a : thickest[m]) {
          for (const auto& b : thickest[n]) {
            if (a.worker == b.worker || a.worker == n || b.worker == m) continue;
            const std::uint32_t between = pair_at[b.worker * workers + a.worker];
            if (between == kAbsent) continue;
            const SingularValues svd = singular_value_decomposition(shares(b.worker, a.worker));
            const double condition = svd.values[k - 1] / svd.values[0];
            if (!(condition > 1e-3)) continue;
            // Little is known through thin pairs, and an ill-conditioned one in the middle makes noise of it.
            const double weight =
                condition * condition / (1 / common(a) + 1 / common(b) + 1 / pairs.pairs()[between].common);
            const Matrix through = shares(m, a.worker) * solve(svd, shares(b.worker, n));
            const double sum = through.cwiseAbs().sum();
            if (sum > 0) block += weight / sum * through.cwiseAbs();
          }
        }
        const double sum = block.sum();
        if (sum > 0) block /= sum;
      }
      if (n == m) block = (0.5 * (block + block.transpose())).eval();
      filled.block(to_index(m * classes), to_index(n * classes), k, k) = block;
      filled.block(to_index(n * classes), to_index(m * classes), k, k) = block.transpose();
    }
  }
  // The K leading eigenvectors by subspace iteration.
  Matrix basis = all_rows(guide, classes);
  for (std::size_t i = 0; i < kSubspaceIterations; ++i) {
    basis = orthonormal_columns(filled * basis);
  }
  const auto [values, vectors] = symmetric_eigen(Matrix(basis.transpose() * filled * basis));
  Factor factor(guide.size());
  all_rows(factor, classes) = basis * vectors * values.cwiseMax(1e-12).cwiseSqrt().asDiagonal();
  return factor;
}

double rotate(const PairMoments& pairs, const Factor& guide, std::size_t starts, Rng rng, Factor& factor) {
  const std::size_t classes = pairs.class_count();
  const Matrix rows = weighted_rows(pairs, factor);
  const double mass = rows.squaredNorm();
  if (!(mass > 0)) return 0;
  double left = 0;
  const auto turn = [&](Matrix rotation, std::size_t iterations) {
    double previous = 2;
    for (std::size_t i = 0; i < iterations; ++i) {
      const Matrix turned = rows * rotation;
      left = turned.cwiseMin(0).squaredNorm() / mass;
      if (left < 1e-18 || previous - left < 1e-6 * left) break;
      previous = left;
      rotation = nearest_rotation(rows, turned.cwiseMax(0));
    }
    return rotation;
  };
  Matrix best = turn(nearest_rotation(rows, weighted_rows(pairs, guide)), kRotationIterations);
  double best_left = left;
  for (std::size_t s = 0; s < starts && best_left > 1e-12; ++s) {
    const Matrix found = turn(random_rotation(to_index(classes), rng), kTrialIterations);
    if (left >= kClearlyBetter * best_left) continue;
    best = turn(found, kRotationIterations);
    best_left = left;
  }
  auto whole = all_rows(factor, classes);
  whole = (whole * best).cwiseMax(0).eval();
  return best_left;
}

TableModel read_off(const PairMoments& pairs, const Factor& factor, const TableModel& fallback) {
  const std::size_t classes = pairs.class_count();
  TableModel model = fallback;
  std::vector<double> root(classes, 0.0), weights(pairs.worker_count(), 0.0);
  double total = 0;
  for (std::size_t w = 0; w < pairs.worker_count(); ++w) {
    if (pairs.partners(w).empty()) continue;
    weights[w] = pairs.answers(w);
    total += weights[w];
    const auto table = model.table(w);
    for (std::size_t c = 0; c < classes; ++c) {
      for (std::size_t l = 0; l < classes; ++l) {
        table[c * classes + l] = factor[(w * classes + l) * classes + c];
        root[c] += weights[w] * table[c * classes + l];
      }
      normalise(table.subspan(c * classes, classes));
    }
  }
  if (total == 0) return model;
  for (std::size_t c = 0; c < classes; ++c) model.class_prior[c] = std::max(root[c] * root[c], kProbabilityFloor);
  normalise(model.class_prior);
  // Gold knows the names of the classes.
  if (pairs.has_gold_worker()) weights.back() += 10 * total;
  TableModel solved = model;
  align_truth(solved, weights);
  for (std::size_t w = 0; w < pairs.worker_count(); ++w) {
    if (pairs.partners(w).empty()) std::copy_n(fallback.table(w).begin(), classes * classes, solved.table(w).begin());
  }
  return solved;
}

MethodInfo info() {
  const Options defaults;
  MethodInfo info;
  info.title = "Symmetric non-negative factorisation";
  info.summary =
      "Fits the matrix of all pairs of workers by one symmetric factor and turns it until it is non-negative.";
  info.when_to_use =
      "Pairs of workers who share many tasks while many other pairs share none; with loss=absolute some pairs may be "
      "corrupt.";
  info.reference =
      "S. Ibrahim and X. Fu, Crowdsourcing via annotator co-occurrence imputation and provable symmetric nonnegative "
      "matrix factorization, ICML 2021";
  info.assumptions =
      "Answers are independent given the truth; enough workers are sure of a class, or pairs do not determine the "
      "tables; who answers which task does not depend on the task.";
  info.cost = "time Σ_i m_i² once, P·K³ per iteration for P pairs of workers; memory P·K²";
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.uses_start = true;
  info.uses_chance = true;
  info.parameters = {
      ParameterSpec::choice("loss", "squares", {"squares", "absolute"},
                            "how a pair that does not fit counts: by its squared residual, or by its size, which "
                            "forgives a few bad pairs"),
      ParameterSpec::integer("min_common", static_cast<std::int64_t>(defaults.min_common), 0, 1e9,
                             "pairs of workers with fewer tasks in common are not used; 0: max(10, 2 K)"),
      ParameterSpec::real("pull", defaults.couple.pull, 0, 1e9,
                          "how strongly a worker's factor is drawn to that of the vote's tables, in common tasks; it "
                          "matters for workers with few of them"),
      ParameterSpec::integer("max_iterations", static_cast<std::int64_t>(defaults.couple.max_iterations), 1, 1e9,
                             "give up after this many iterations"),
      ParameterSpec::real("tolerance", defaults.couple.tolerance, 0, 1,
                          "stop when the objective changes by less than this share of its size"),
      ParameterSpec::choice("start", "votes", {"votes", "imputation", "random"},
                            "the first factor: of the vote's tables, of the matrix with absent pairs filled in through "
                            "others, or of tables mixed with random noise"),
      ParameterSpec::integer("rotations", static_cast<std::int64_t>(defaults.rotations), 0, 1e6,
                             "random rotations tried besides the one nearest to the vote"),
      ParameterSpec::real("pseudo_count", defaults.pseudo_count, 0, 1e9,
                          "answers added to every cell of a table before it judges tasks"),
      tie_rule_parameter(),
  };
  return info;
}

std::unique_ptr<CategoryAggregator> make(const Parameters& parameters) {
  Options options;
  options.couple.loss = parameters.choice("loss") == "squares" ? Loss::squares : Loss::absolute;
  options.couple.pull = parameters.real("pull");
  options.couple.max_iterations = static_cast<std::size_t>(parameters.integer("max_iterations"));
  options.couple.tolerance = parameters.real("tolerance");
  options.min_common = static_cast<std::size_t>(parameters.integer("min_common"));
  options.start = parameters.choice("start") == "votes"        ? Begin::votes
                  : parameters.choice("start") == "imputation" ? Begin::imputation
                                                               : Begin::random;
  options.rotations = static_cast<std::size_t>(parameters.integer("rotations"));
  options.pseudo_count = parameters.real("pseudo_count");
  options.ties = tie_rule_from(parameters.choice("ties"));
  return std::make_unique<SymmetricNmf>(options);
}

CategoryFit SymmetricNmf::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options_.ties;
  result.objective_name = "minus the mean residual";
  result.objective_is_monotone = true;
  if (result.class_count == 0) return result;
  const PairMoments pairs(data, context, {.min_common = options_.min_common, .gold_as_worker = true});
  const std::size_t gold_workers = pairs.worker_count() - result.worker_count;
  const TableModel votes = start.empty()
                               ? tables_from_posterior(data, context, vote_fractions(data, context), gold_workers)
                               : tables_from_posterior(data, context, start.posterior, gold_workers);
  const Factor guide = factor_of(votes);
  Factor factor = guide;
  if (start.empty() && options_.start == Begin::imputation && !pairs.pairs().empty()) {
    factor = impute(pairs, guide);
    auto rows = all_rows(factor, result.class_count);
    rows = (rows * nearest_rotation(weighted_rows(pairs, factor), weighted_rows(pairs, guide))).eval();
  } else if (start.empty() && options_.start == Begin::random) {
    Rng rng = context.rng("start");
    TableModel noisy = votes;
    const std::vector<double> flat(result.class_count, 1.0);
    std::vector<double> draw(result.class_count);
    for (std::size_t r = 0; r < result.worker_count * result.class_count; ++r) {
      rng.dirichlet(flat, draw);
      for (std::size_t l = 0; l < result.class_count; ++l) {
        double& cell = noisy.tables[r * result.class_count + l];
        cell = 0.5 * cell + 0.5 * draw[l];
      }
    }
    factor = factor_of(noisy);
  }
  const auto started = std::chrono::steady_clock::now();
  Path path = couple(pairs, context, guide, factor, options_.couple);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  const double negative = rotate(pairs, guide, options_.rotations, context.rng("rotation"), factor);
  TableModel model = read_off(pairs, factor, votes);
  smooth(model, data.answers, options_.pseudo_count);
  conclude(data, context, model, options_.ties, result);
  result.trace = std::move(path.trace);
  result.iterations = result.trace.size();
  result.status = path.status;
  result.seconds_per_iteration = result.iterations > 0 ? seconds / static_cast<double>(result.iterations) : 0;
  result.learned.emplace_back("pairs", static_cast<double>(pairs.pairs().size()));
  result.learned.emplace_back("negative_share", negative);

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

}  // namespace wisecrowd::symmetric_nmf
