#include "aggregate/categories/spectral_em/spectral_em.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "aggregate/categories/shared/fixed_smoothing.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "base/assignment.hpp"
#include "base/linear_algebra.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"

namespace wisecrowd::spectral_em {
namespace {

using Matrix = RowMatrix;
using Vector = Eigen::VectorXd;

constexpr std::size_t kTasksPerBlock = 4096;
constexpr double kSingular = 1e-8;
/// Pseudo-answers per cell of the spectral tables before the first E-step.
constexpr double kStartSmoothing = 0.1;

Eigen::Map<const Matrix> square(std::span<const double> cells, std::size_t classes) {
  return {cells.data(), static_cast<Eigen::Index>(classes), static_cast<Eigen::Index>(classes)};
}

/// A symmetric K × K × K tensor as K² rows of K.
struct Tensor {
  Matrix unfolded;
  [[nodiscard]] Eigen::Index size() const { return unfolded.cols(); }
  /// T(I, v, v)
  [[nodiscard]] Vector times(const Vector& v) const {
    const Vector once = unfolded * v;
    return Eigen::Map<const Matrix>(once.data(), size(), size()) * v;
  }
  void deflate(double value, const Vector& v) {
    for (Eigen::Index a = 0; a < size(); ++a) {
      for (Eigen::Index b = 0; b < size(); ++b) unfolded.row(a * size() + b) -= value * v[a] * v[b] * v.transpose();
    }
  }
};

struct Component {
  double value = 0;
  Vector vector;
};

/// Power iterations from one start; ends early when the direction stands still.
Component climb(const Tensor& tensor, Vector v, std::size_t iterations) {
  for (std::size_t i = 0; i < iterations; ++i) {
    Vector next = tensor.times(v);
    const double length = next.norm();
    if (!(length > 0)) break;
    next /= length;
    const double moved = (next - v).norm();
    v = std::move(next);
    if (moved < 1e-14) break;
  }
  return {v.dot(tensor.times(v)), v};
}

Component strongest(const Tensor& tensor, Rng rng, const PowerOptions& options) {
  Component best;
  for (std::size_t s = 0; s < options.starts; ++s) {
    Vector v(tensor.size());
    for (double& x : v) x = rng.normal();
    // A few steps tell good starts from bad ones; only the best is polished.
    Component found = climb(tensor, v.normalized(), std::min<std::size_t>(options.iterations, 12));
    if (found.value > best.value || best.vector.size() == 0) best = std::move(found);
  }
  return climb(tensor, best.vector, options.iterations);
}

/// The tables of group `third`, whose moments with the two others are given: pair moments ab, cb = E[Xc Xbᵀ],
/// ca = E[Xc Xaᵀ] and the triple (a, b, c).
bool decompose_group(const Matrix& ab, const Matrix& ca, const Matrix& cb, const Matrix& triple, const Rng& rng,
                     const PowerOptions& options, std::vector<double>& votes, std::vector<double>& prior) {
  const Eigen::Index classes = ab.rows();
  const Vector conditioning = singular_values(ab);
  if (!(conditioning[classes - 1] > kSingular * conditioning[0])) return false;
  // X̃a = A Xa and X̃b = B Xb have the mean of Xc for every truth.
  const Matrix to_c_from_a = cb * inverse_of(ab);
  const Matrix to_c_from_b = ca * inverse_of(Eigen::MatrixXd(ab.transpose()));
  Matrix second = to_c_from_a * ab * to_c_from_b.transpose();
  second = (0.5 * (second + second.transpose())).eval();
  const auto [values, vectors] = symmetric_eigen(second);
  if (!(values[0] > kSingular * values[classes - 1])) return false;
  const Matrix whiten = vectors * values.cwiseSqrt().cwiseInverse().asDiagonal();  // W
  const Matrix colour = vectors * values.cwiseSqrt().asDiagonal();                 // (Wᵀ)⁺
  // T(p, q, r) = Σ M3(a', b', c) with the transforms folded into the whitening.
  const Matrix left = whiten.transpose() * to_c_from_a, middle = whiten.transpose() * to_c_from_b;
  Tensor tensor{Matrix(classes * classes, classes)};
  {
    // triple: (a, b, c) as K² × K. Last index first, then b, then a.
    const Matrix by_c = triple * whiten;  // (a b) × r
    Matrix by_b(classes * classes, classes);
    for (Eigen::Index a = 0; a < classes; ++a) {
      by_b.middleRows(a * classes, classes) = middle * by_c.middleRows(a * classes, classes);
    }
    Matrix flat = Eigen::Map<const Matrix>(by_b.data(), classes, classes * classes);
    const Matrix by_a = left * flat;
    tensor.unfolded = Eigen::Map<const Matrix>(by_a.data(), classes * classes, classes);
  }
  if (!tensor.unfolded.allFinite()) return false;
  // Noise leaves the tensor a little asymmetric; the method wants it symmetric.
  Matrix symmetric = Matrix::Zero(classes * classes, classes);
  const auto cell = [&](Eigen::Index a, Eigen::Index b, Eigen::Index c) { return tensor.unfolded(a * classes + b, c); };
  for (Eigen::Index a = 0; a < classes; ++a) {
    for (Eigen::Index b = 0; b < classes; ++b) {
      for (Eigen::Index c = 0; c < classes; ++c) {
        symmetric(a * classes + b, c) =
            (cell(a, b, c) + cell(a, c, b) + cell(b, a, c) + cell(b, c, a) + cell(c, a, b) + cell(c, b, a)) / 6;
      }
    }
  }
  tensor.unfolded = std::move(symmetric);

  const auto n = static_cast<std::size_t>(classes);
  Matrix columns(classes, classes);
  std::vector<double> weights(n);
  for (Eigen::Index r = 0; r < classes; ++r) {
    const Component component = strongest(tensor, rng.fork("component", static_cast<std::uint64_t>(r)), options);
    if (!(component.value > 1e-6)) return false;
    columns.col(r) = component.value * (colour * component.vector);
    weights[static_cast<std::size_t>(r)] = 1 / (component.value * component.value);
    tensor.deflate(component.value, component.vector);
  }
  columns = columns.cwiseMax(0);
  // A component belongs to the class that its group says most: one naming for all, by assignment.
  std::vector<double> gain(n * n);
  for (Eigen::Index k = 0; k < classes; ++k) {
    for (Eigen::Index r = 0; r < classes; ++r) {
      const double sum = columns.col(r).sum();
      if (!(sum > 0)) return false;
      gain[static_cast<std::size_t>(k * classes + r)] = columns(k, r) / sum;
    }
  }
  const auto component_of = best_assignment(gain, n);
  votes.resize(n * n);
  for (std::size_t k = 0; k < n; ++k) {
    prior[k] += weights[component_of[k]];
    for (std::size_t l = 0; l < n; ++l) {
      votes[l * n + k] = columns(static_cast<Eigen::Index>(l), static_cast<Eigen::Index>(component_of[k]));
    }
  }
  return true;
}

/// Votes of one task in the three groups, by what is not zero.
struct TaskVotes {
  explicit TaskVotes(std::size_t classes) : classes_(classes), counts(3 * classes, 0.0) {}
  void read(const CategoryAnswers& answers, std::size_t task, std::span<const std::uint8_t> group_of) {
    for (std::size_t g = 0; g < 3; ++g) {
      for (const std::uint32_t l : used[g]) counts[g * classes_ + l] = 0;
      used[g].clear();
    }
    const TaskId id{static_cast<std::uint32_t>(task)};
    const auto workers = answers.workers_of(id);
    const auto labels = answers.labels_of(id);
    for (std::size_t a = 0; a < workers.size(); ++a) {
      const std::size_t g = group_of[index(workers[a])];
      const auto l = static_cast<std::uint32_t>(index(labels[a]));
      if (counts[g * classes_ + l]++ == 0) used[g].push_back(l);
    }
  }
  std::size_t classes_;
  std::vector<double> counts;                      // group × label
  std::array<std::vector<std::uint32_t>, 3> used;  // labels that occur
};

/// Counts are whole numbers, so sums in any order have the same bits.
GroupMoments count_moments(const CategoryAnswers& answers, std::span<const std::uint8_t> group_of,
                           const RunContext& context) {
  const std::size_t n = answers.class_count();
  std::vector<GroupMoments> parts(context.threads());
  const Blocks blocks{answers.task_count(), kTasksPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned thread) {
    GroupMoments& part = parts[thread];
    if (part.classes == 0) {
      part = {n, std::vector<double>(n * n), std::vector<double>(n * n), std::vector<double>(n * n),
              std::vector<double>(n * n * n)};
    }
    TaskVotes votes(n);
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      votes.read(answers, t, group_of);
      const double* const a = votes.counts.data();
      const double* const b = a + n;
      const double* const c = b + n;
      for (const auto la : votes.used[0]) {
        for (const auto lb : votes.used[1]) {
          part.first_second[la * n + lb] += a[la] * b[lb];
          for (const auto lc : votes.used[2]) part.triple[(la * n + lb) * n + lc] += a[la] * b[lb] * c[lc];
        }
        for (const auto lc : votes.used[2]) part.first_third[la * n + lc] += a[la] * c[lc];
      }
      for (const auto lb : votes.used[1]) {
        for (const auto lc : votes.used[2]) part.second_third[lb * n + lc] += b[lb] * c[lc];
      }
    }
  });
  GroupMoments sum{n, std::vector<double>(n * n), std::vector<double>(n * n), std::vector<double>(n * n),
                   std::vector<double>(n * n * n)};
  const double scale = 1 / static_cast<double>(std::max<std::size_t>(answers.task_count(), 1));
  const auto add = [](std::vector<double>& to, const std::vector<double>& from) {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
  };
  for (const auto& part : parts) {
    add(sum.first_second, part.first_second);
    add(sum.first_third, part.first_third);
    add(sum.second_third, part.second_third);
    add(sum.triple, part.triple);
  }
  for (auto* cells : {&sum.first_second, &sum.first_third, &sum.second_third, &sum.triple}) {
    for (double& value : *cells) value *= scale;
  }
  return sum;
}

/// Tables of all workers: joint votes with the groups that a worker is not in.
TableModel worker_tables(const CategoryAnswers& answers, std::span<const std::uint8_t> group_of,
                         const GroupTables& groups, const RunContext& context) {
  const std::size_t n = answers.class_count(), workers = answers.worker_count();
  std::vector<double> joint(workers * n * n, 0.0);
  TaskVotes votes(n);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    votes.read(answers, t, group_of);
    const TaskId id{static_cast<std::uint32_t>(t)};
    const auto who = answers.workers_of(id);
    const auto labels = answers.labels_of(id);
    for (std::size_t a = 0; a < who.size(); ++a) {
      double* const row = joint.data() + (index(who[a]) * n + index(labels[a])) * n;
      for (std::size_t g = 0; g < 3; ++g) {
        if (g == group_of[index(who[a])]) continue;
        for (const auto l : votes.used[g]) row[l] += votes.counts[g * n + l];
      }
    }
  }
  TableModel model{n, std::vector<double>(workers * n * n), groups.class_prior};
  std::array<std::vector<double>, 3> others;  // votes of the two groups other than g
  for (std::size_t g = 0; g < 3; ++g) {
    others[g].assign(n * n, 0.0);
    for (std::size_t h = 0; h < 3; ++h) {
      for (std::size_t c = 0; c < n * n && h != g; ++c) others[g][c] += groups.votes[h][c];
    }
  }
  const Blocks blocks{workers, 64};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
      table_from_groups(std::span(joint).subspan(w * n * n, n * n), others[group_of[w]], groups.class_prior, n,
                        model.table(w));
    }
  });
  return model;
}

}  // namespace

std::optional<GroupTables> decompose(const GroupMoments& moments, const Rng& rng, const PowerOptions& options) {
  const std::size_t n = moments.classes;
  const auto k = static_cast<Eigen::Index>(n);
  // Moments of groups (a, b) in this order, and the triple with its indices permuted.
  const auto pair = [&](std::size_t a, std::size_t b) -> Matrix {
    const auto& cells = a + b == 1 ? moments.first_second : a + b == 2 ? moments.first_third : moments.second_third;
    const Matrix ordered = square(cells, n);
    return a < b ? ordered : Matrix(ordered.transpose());
  };
  GroupTables tables;
  tables.class_prior.assign(n, 0.0);
  for (std::size_t c = 0; c < 3; ++c) {
    const std::size_t a = (c + 1) % 3, b = (c + 2) % 3;
    Matrix triple(k * k, k);
    std::size_t at[3];
    for (at[0] = 0; at[0] < n; ++at[0]) {
      for (at[1] = 0; at[1] < n; ++at[1]) {
        for (at[2] = 0; at[2] < n; ++at[2]) {
          triple(static_cast<Eigen::Index>(at[a] * n + at[b]), static_cast<Eigen::Index>(at[c])) =
              moments.triple[(at[0] * n + at[1]) * n + at[2]];
        }
      }
    }
    if (!decompose_group(pair(a, b), pair(c, a), pair(c, b), triple, rng.fork("group", c), options, tables.votes[c],
                         tables.class_prior)) {
      return std::nullopt;
    }
  }
  normalise(tables.class_prior);
  return tables;
}

void table_from_groups(std::span<const double> joint, std::span<const double> votes,
                       std::span<const double> class_prior, std::size_t classes, std::span<double> table) {
  // joint = p_j th_jᵀ diag(π) votesᵀ; p_j, how often the worker answers, goes when rows are normalised.
  Matrix system = square(votes, classes);  // label × truth
  for (std::size_t k = 0; k < classes; ++k) system.col(static_cast<Eigen::Index>(k)) *= class_prior[k];
  const Matrix solution = least_squares(system, Eigen::MatrixXd(square(joint, classes).transpose()));
  for (std::size_t c = 0; c < classes * classes; ++c) {
    const double value = solution.data()[c];
    table[c] = std::isfinite(value) ? std::max(value, 0.0) : 0.0;
  }
  for (std::size_t k = 0; k < classes; ++k) normalise(table.subspan(k * classes, classes));
}

MethodInfo info() {
  const Options defaults;
  MethodInfo info;
  info.title = "Spectral methods meet EM";
  info.summary = "Dawid–Skene whose EM starts from third moments of three groups of workers instead of the vote.";
  info.when_to_use =
      "Many tasks with several answers each, and doubt whether the vote leads EM to the right place. For sparse data "
      "the "
      "moments are noise: use dawid_skene.";
  info.reference =
      "Y. Zhang, X. Chen, D. Zhou and M. I. Jordan, Spectral methods meet EM: a provably optimal algorithm for "
      "crowdsourcing, NeurIPS 2014";
  info.assumptions =
      "Answers are independent given the truth; as a group, workers tell all classes apart; who answers which task "
      "does "
      "not depend on the task.";
  info.cost = "time S·K per EM iteration for each partition, K⁴ per power iteration; memory N·K + M·K² + K³";
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.uses_chance = true;
  info.uses_start = true;
  info.parameters = {
      ParameterSpec::integer(
          "partitions", static_cast<std::int64_t>(defaults.partitions), 1, 1e6,
          "random divisions of the workers into three groups that are tried; the best objective wins"),
      ParameterSpec::integer("power_starts", static_cast<std::int64_t>(defaults.power.starts), 1, 1e6,
                             "random starts of the tensor power method for each class"),
      ParameterSpec::integer("power_iterations", static_cast<std::int64_t>(defaults.power.iterations), 1, 1e6,
                             "steps of the tensor power method at most"),
      ParameterSpec::real("pseudo_count", defaults.pseudo_count, 0, 1e9,
                          "answers added to every cell of every confusion table in EM"),
  };
  for (auto& parameter : em_parameters()) {
    if (parameter.name != "start" && parameter.name != "restarts") info.parameters.push_back(std::move(parameter));
  }
  return info;
}

std::unique_ptr<CategoryAggregator> make(const Parameters& parameters) {
  Options options;
  options.em.class_prior =
      parameters.choice("class_prior") == "uniform" ? EmOptions::ClassPrior::uniform : EmOptions::ClassPrior::learned;
  options.em.class_pseudo_count = parameters.real("class_pseudo_count");
  options.em.max_iterations = static_cast<std::size_t>(parameters.integer("max_iterations"));
  options.em.tolerance = parameters.real("tolerance");
  options.em.gold_weight = parameters.real("gold_weight");
  options.em.ties = tie_rule_from(parameters.choice("ties"));
  options.pseudo_count = parameters.real("pseudo_count");
  options.partitions = static_cast<std::size_t>(parameters.integer("partitions"));
  options.power.starts = static_cast<std::size_t>(parameters.integer("power_starts"));
  options.power.iterations = static_cast<std::size_t>(parameters.integer("power_iterations"));
  return std::make_unique<SpectralEm>(options);
}

CategoryFit SpectralEm::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  const CategoryAnswers& answers = data.answers;
  const std::size_t classes = answers.class_count(), workers = answers.worker_count();
  const auto em = [&](const CategoryStart& from) {
    return fit_confusion_em(data, context, options_.em, from, [this](const ConfusionPass& pass) {
      return std::make_unique<FixedSmoothing>(pass.class_count(), pass.stride(), options_.pseudo_count, 0.0);
    });
  };
  if (!start.empty() || classes == 0) return em(start);

  std::optional<CategoryFit> best;
  std::size_t solved = 0, best_partition = 0;
  double start_likelihood = 0;
  for (std::size_t p = 0; p < options_.partitions && classes > 1; ++p) {
    if (p > 0 && context.cancelled()) break;
    const Rng rng = context.rng("partition", p);
    std::vector<std::uint32_t> order(workers);
    std::iota(order.begin(), order.end(), 0U);
    Rng shuffling = rng.fork("order");
    shuffling.shuffle(std::span(order));
    std::vector<std::uint8_t> group_of(workers);
    for (std::size_t r = 0; r < workers; ++r) group_of[order[r]] = static_cast<std::uint8_t>(r % 3);
    const auto groups = decompose(count_moments(answers, group_of, context), rng, options_.power);
    if (!groups) continue;
    ++solved;
    TableModel model = worker_tables(answers, group_of, *groups, context);
    smooth(model, answers, kStartSmoothing);
    CategoryFit spectral;
    spectral.task_count = answers.task_count();
    conclude(data, context, model, options_.em.ties, spectral);
    CategoryFit fitted = em({spectral.posterior});
    if (best && fitted.trace.back() <= best->trace.back()) continue;
    best = std::move(fitted);
    best_partition = p;
    start_likelihood = spectral.log_likelihood;
  }
  CategoryFit result = best ? std::move(*best) : em({});
  result.learned.emplace_back("partitions_solved", static_cast<double>(solved));
  if (best) {
    result.learned.emplace_back("best_partition", static_cast<double>(best_partition));
    result.learned.emplace_back("start_log_likelihood", start_likelihood);
  } else if (classes > 1) {
    result.warnings.push_back(
        {"no_spectral_start",
         "the moments of three groups of workers are singular (too few tasks that all three answered), so EM started "
         "from the vote.",
         "Use dawid_skene, or gather more answers per task."});
  }
  return result;
}

}  // namespace wisecrowd::spectral_em
