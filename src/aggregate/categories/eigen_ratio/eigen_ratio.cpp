#include "aggregate/categories/eigen_ratio/eigen_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "aggregate/categories/shared/table_model.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "base/linear_algebra.hpp"
#include "base/numeric.hpp"

namespace wisecrowd::eigen_ratio {
namespace {

constexpr Eigen::Index kKrylov = 24;
constexpr int kRestarts = 100;
constexpr double kResidual = 1e-11;
constexpr int kFillings = 200;
constexpr double kFillingTolerance = 1e-9;
// Below this share of its largest entry an eigenvector says nothing.
constexpr double kVanishing = 1e-8;

struct EigenPair {
  double value = 0;
  Eigen::VectorXd vector;
};

/// The algebraically largest eigenvalue of a symmetric operator, by restarted Lanczos with full orthogonalisation.
EigenPair top_eigenpair(const std::function<void(const Eigen::VectorXd&, Eigen::VectorXd&)>& multiply,
                        Eigen::VectorXd start) {
  const Eigen::Index size = start.size();
  const Eigen::Index steps = std::min(kKrylov, size);
  EigenPair pair{0, start.normalized()};
  Eigen::MatrixXd basis(size, steps);
  Eigen::VectorXd image(size);
  for (int restart = 0; restart < kRestarts; ++restart) {
    Eigen::MatrixXd projected = Eigen::MatrixXd::Zero(steps, steps);
    basis.col(0) = pair.vector;
    Eigen::Index used = 0;
    for (Eigen::Index k = 0; k < steps; ++k) {
      multiply(basis.col(k), image);
      used = k + 1;
      for (Eigen::Index i = 0; i <= k; ++i) projected(i, k) = projected(k, i) = basis.col(i).dot(image);
      // Twice is enough.
      for (int again = 0; again < 2; ++again)
        image -= basis.leftCols(used) * (basis.leftCols(used).transpose() * image);
      const double rest = image.norm();
      if (used == steps || rest <= 1e-13 * (1 + std::abs(projected(k, k)))) break;
      basis.col(used) = image / rest;
    }
    const auto [values, vectors] = symmetric_eigen(Eigen::MatrixXd(projected.topLeftCorner(used, used)));
    pair.value = values(used - 1);
    pair.vector = (basis.leftCols(used) * vectors.col(used - 1)).normalized();
    multiply(pair.vector, image);
    if ((image - pair.value * pair.vector).norm() <= kResidual * std::max(1.0, std::abs(pair.value))) break;
  }
  return pair;
}

}  // namespace

std::vector<double> ratios(const PairMoments& pairs, const WorkerLinks& links, Diagonal diagonal,
                           const RunContext& context) {
  const std::size_t workers = pairs.worker_count();
  std::vector<double> ratio(workers, 0.0);
  std::vector<std::vector<std::uint32_t>> parts;
  std::vector<Eigen::Index> place(workers, 0);
  for (std::uint32_t w = 0; w < workers; ++w) {
    if (pairs.partners(w).empty()) continue;
    if (links.part[w] >= parts.size()) parts.resize(links.part[w] + 1);
    place[w] = static_cast<Eigen::Index>(parts[links.part[w]].size());
    parts[links.part[w]].push_back(w);
  }
  // Parts are blocks of both matrices: each has eigenvectors of its own.
  for (const auto& members : parts) {
    if (members.size() < 2 || context.cancelled()) continue;
    const auto size = static_cast<Eigen::Index>(members.size());
    Eigen::VectorXd on_diagonal = Eigen::VectorXd::Ones(size);
    const auto multiply = [&](bool pattern, const Eigen::VectorXd& in, Eigen::VectorXd& out) {
      for (Eigen::Index r = 0; r < size; ++r) {
        double sum = (pattern ? 1.0 : on_diagonal(r)) * in(r);
        for (const auto& partner : pairs.partners(members[static_cast<std::size_t>(r)])) {
          const auto& pair = pairs.pairs()[partner.pair];
          const double value = pattern ? 1.0 : 2 * pair.agreements / pair.common - 1;
          sum += value * in(place[partner.worker]);
        }
        out(r) = sum;
      }
    };
    const Eigen::VectorXd even = Eigen::VectorXd::Ones(size);
    const EigenPair pattern = top_eigenpair([&](const auto& in, auto& out) { multiply(true, in, out); }, even);
    EigenPair agreement{0, even};
    for (int filling = 0; filling < kFillings; ++filling) {
      agreement = top_eigenpair([&](const auto& in, auto& out) { multiply(false, in, out); }, agreement.vector);
      if (diagonal == Diagonal::ones) break;
      // The diagonal that w would have, were it a pair: then agreements are exactly w w' on a complete pattern.
      Eigen::VectorXd wanted(size);
      for (Eigen::Index r = 0; r < size; ++r) {
        const double own = pattern.vector(r);
        const double w = own > kVanishing
                             ? std::sqrt(std::max(agreement.value, 0.0) / pattern.value) * agreement.vector(r) / own
                             : 0;
        wanted(r) = std::min(w * w, 1.0);
      }
      const double moved = (wanted - on_diagonal).cwiseAbs().maxCoeff();
      on_diagonal = wanted;
      if (moved <= kFillingTolerance || context.cancelled()) break;
    }
    const double most = pattern.vector.cwiseAbs().maxCoeff();
    for (Eigen::Index r = 0; r < size; ++r) {
      if (std::abs(pattern.vector(r)) <= kVanishing * most) continue;
      const double w =
          std::sqrt(std::max(agreement.value, 0.0) / pattern.value) * agreement.vector(r) / pattern.vector(r);
      ratio[members[static_cast<std::size_t>(r)]] = std::clamp(w, -1.0, 1.0);
    }
  }
  return ratio;
}

MethodInfo info() {
  const Options defaults;
  MethodInfo info;
  info.title = "Ratio of eigenvectors";
  info.summary = "Weighs workers by the top eigenvector of their agreements over that of who shares tasks with whom.";
  info.when_to_use = "Two classes, workers who err alike on both, and a closed answer instead of an iteration.";
  info.reference = "N. Dalvi, A. Dasgupta, R. Kumar and V. Rastogi, Aggregating crowdsourced binary ratings, WWW 2013";
  info.assumptions =
      "Answers are independent given the truth, workers err alike on both classes, most are better than chance, and "
      "who shares tasks with whom is near to rank one (every worker meets the others in proportion to its answers).";
  info.cost = "time Σ m² for the pairs, then some hundred products with the sparse matrix; memory 40 bytes per pair";
  info.parameters = {
      ParameterSpec::choice("diagonal", "filled", {"filled", "ones"},
                            "agreement of a worker with itself: what its weight implies, or 1 as in the paper"),
      ParameterSpec::integer("min_common", static_cast<std::int64_t>(defaults.min_common), 1, 1e9,
                             "pairs of workers with fewer tasks in common are left out"),
      tie_rule_parameter(),
  };
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.allows_repeats = false;
  info.max_classes = 2;
  return info;
}

std::unique_ptr<CategoryAggregator> make(const Parameters& parameters) {
  return std::make_unique<EigenRatio>(
      Options{.diagonal = parameters.choice("diagonal") == "ones" ? Diagonal::ones : Diagonal::filled,
              .min_common = static_cast<std::size_t>(parameters.integer("min_common")),
              .ties = tie_rule_from(parameters.choice("ties"))});
}

CategoryFit EigenRatio::fit(const CategoryData& data, const RunContext& context, const CategoryStart&) const {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options_.ties;
  if (result.class_count == 0) return result;
  if (result.class_count == 1) {
    conclude_one_coin(data, context, std::vector<double>(result.worker_count, 1.0), options_.ties, result);
    return result;
  }
  const PairMoments pairs(
      data, context,
      {.detail = PairDetail::agreements, .min_common = options_.min_common, .gold_as_worker = data.has_gold()});
  WorkerLinks links = link_workers(data);
  std::vector<double> weight = ratios(pairs, links, options_.diagonal, context);
  if (context.cancelled()) result.status = Status::cancelled;

  // Each part is turned so that its vote goes along with the plain one.
  std::vector<double> along(weight.size(), 0.0);
  for (std::uint32_t t = 0; t < result.task_count; ++t) {
    const auto workers = data.answers.workers_of(TaskId{t});
    const auto labels = data.answers.labels_of(TaskId{t});
    double weighted = 0, plain = 0;
    for (std::size_t a = 0; a < workers.size(); ++a) {
      const double y = index(labels[a]) == 1 ? 1 : -1;
      weighted += weight[index(workers[a])] * y;
      plain += y;
    }
    if (!workers.empty()) along[links.part[index(workers[0])]] += weighted * plain;
  }
  if (links.has_gold) along[links.part.back()] = weight.back();
  for (std::size_t w = 0; w < weight.size(); ++w) {
    if (along[links.part[w]] < 0) weight[w] = -weight[w];
    if (pairs.partners(w).empty()) links.linked[w] = 0;  // with too few tasks in common
  }
  fill_alone(links, answer_counts(data), weight, 0.5);

  // log-odds 2 Σ w_j y_ij, said by an even prior and accuracies σ(2 w).
  TableModel vote{2, std::vector<double>(result.worker_count * 4), {0.5, 0.5}};
  for (std::size_t w = 0; w < result.worker_count; ++w) {
    const double right = sigmoid(2 * weight[w]);
    const auto table = vote.table(w);
    table[0] = table[3] = right;
    table[1] = table[2] = 1 - right;
  }
  conclude(data, context, vote, options_.ties, result);
  result.has_log_likelihood = false;
  result.log_likelihood = 0;
  result.class_prior = mean_posterior(data.answers, result.posterior);
  result.skill.assign(weight.begin(), weight.begin() + static_cast<std::ptrdiff_t>(result.worker_count));
  for (std::size_t w = 0; w < result.worker_count; ++w) {  // the accuracy that w stands for
    const double right = std::clamp((1 + weight[w]) / 2, kProbabilityFloor, 1 - kProbabilityFloor);
    double* table = result.confusion.data() + w * 4;
    table[0] = table[3] = right;
    table[1] = table[2] = 1 - right;
  }
  warn_of_links(links, result);
  return result;
}

}  // namespace wisecrowd::eigen_ratio
