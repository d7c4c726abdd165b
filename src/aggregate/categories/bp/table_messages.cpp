#include <algorithm>
#include <array>
#include <cmath>

#include "aggregate/categories/bp/leave_one_out.hpp"
#include "aggregate/categories/bp/node_product.hpp"
#include "aggregate/categories/bp/worker_messages.hpp"
#include "base/lanes.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd::bp {
namespace {

constexpr double kTiny = 1e-300;

/// Σ_k m(k) th[k][l] for every node.
void likelihoods(const TableNodes& nodes, std::size_t label, const double* incoming, double* out) {
  const double* first = nodes.column(label, 0);
  const double m0 = incoming[0];
#pragma omp simd
  for (std::size_t s = 0; s < nodes.size; ++s) out[s] = m0 * first[s];
  for (std::size_t k = 1; k < nodes.classes; ++k) {
    const double* column = nodes.column(label, k);
    const double m = incoming[k];
#pragma omp simd
    for (std::size_t s = 0; s < nodes.size; ++s) out[s] = m * column[s] + out[s];
  }
#pragma omp simd
  for (std::size_t s = 0; s < nodes.size; ++s) out[s] = larger(out[s], kSmallestFactor);
}

}  // namespace

void TableNodes::resize(std::size_t class_count, std::size_t count) {
  classes = class_count;
  size = count;
  table.resize(classes * classes * count);
  log_weight.resize(count);
}

double table_messages(const TableNodes& nodes, const TableAnswers& answers, std::span<double> messages,
                      TableWork& work) {
  const std::size_t n = answers.size(), classes = nodes.classes;
  NodeProduct product(nodes.size, work.product, work.smallest, work.exponent);
  work.likelihood.resize(nodes.size);
  for (std::size_t e = 0; e < n; ++e) {
    likelihoods(nodes, answers.labels[e], answers.incoming.data() + e * classes, work.likelihood.data());
    double* const all = work.product.data();
    double* const smallest = work.smallest.data();
    const double* const factor = work.likelihood.data();
#pragma omp simd
    for (std::size_t s = 0; s < nodes.size; ++s) {
      all[s] *= factor[s];
      smallest[s] = smaller(smallest[s], factor[s]);
    }
    if (e % 4 == 3 || e + 1 == n) product.take_exponents();
  }
  const double log_evidence = product.finish(nodes.log_weight, work.log_weight);

  work.kept.clear();
  for (std::size_t s = 0; s < nodes.size; ++s) {
    if (!is_negligible(math::exp(work.log_weight[s]), work.smallest[s])) work.kept.push_back(s);
  }
  TableNodes& active = work.active;
  active.resize(classes, work.kept.size());
  for (std::size_t c = 0; c < classes * classes; ++c) {
    for (std::size_t s = 0; s < active.size; ++s) {
      active.table[c * active.size + s] = nodes.table[c * nodes.size + work.kept[s]];
    }
  }
  // From here on log_weight holds the weights themselves.
  for (std::size_t s = 0; s < active.size; ++s) active.log_weight[s] = math::exp(work.log_weight[work.kept[s]]);
  const double* const weight = active.log_weight.data();
  work.ratio.resize(active.size);
  for (std::size_t e = 0; e < n; ++e) {
    const std::size_t label = answers.labels[e];
    likelihoods(active, label, answers.incoming.data() + e * classes, work.ratio.data());
    double* const ratio = work.ratio.data();
#pragma omp simd
    for (std::size_t s = 0; s < active.size; ++s) ratio[s] = weight[s] / ratio[s];
    const auto row = messages.subspan(e * classes, classes);
    for (std::size_t k = 0; k < classes; ++k) {
      const double* const column = active.column(label, k);
      row[k] = lane_sum<double>(active.size, [&](std::size_t s) { return ratio[s] * column[s]; });
    }
    normalise(row);
  }
  return log_evidence;
}

void posterior_table(const TableWork& work, std::size_t classes, std::span<double> table) {
  const TableNodes& active = work.active;
  double total = 0;
  for (std::size_t s = 0; s < active.size; ++s) total += active.log_weight[s];
  for (std::size_t k = 0; k < classes; ++k) {
    for (std::size_t l = 0; l < classes; ++l) {
      double sum = 0;
      for (std::size_t s = 0; s < active.size; ++s) sum += active.log_weight[s] * active.column(l, k)[s];
      table[k * classes + l] = sum / total;
    }
    normalise(table.subspan(k * classes, classes));
  }
}

TableNodes tensor_grid(const TablePrior& prior, std::size_t answers) {
  const NodeSet line = quadrature(beta_prior(prior.diagonal, prior.off_diagonal), answers);
  TableNodes nodes;
  nodes.resize(2, line.size() * line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    for (std::size_t j = 0; j < line.size(); ++j) {
      const std::size_t s = i * line.size() + j;
      nodes.column(0, 0)[s] = line.accuracy[i];
      nodes.column(1, 0)[s] = line.error[i];
      nodes.column(1, 1)[s] = line.accuracy[j];
      nodes.column(0, 1)[s] = line.error[j];
      nodes.log_weight[s] = line.log_weight[i] + line.log_weight[j];
    }
  }
  return nodes;
}

double two_coin_messages_by_recursion(const TablePrior& prior, const TableAnswers& answers,
                                      std::span<double> messages) {
  // Answers by what was said; p = chance that the answer is right.
  std::array<std::vector<long double>, 2> p;
  std::array<std::vector<std::size_t>, 2> who;
  for (std::size_t e = 0; e < answers.size(); ++e) {
    const std::size_t l = answers.labels[e];
    p[l].push_back(answers.incoming[e * 2 + l]);
    who[l].push_back(e);
  }
  const std::array<std::size_t, 2> n = {p[0].size(), p[1].size()};
  // c_l right ones among the answers l: E[t_0^{c_0} (1−t_0)^{n_1−c_1}] · E[t_1^{c_1} (1−t_1)^{n_0−c_0}].
  const AccuracyPrior line = beta_prior(prior.diagonal, prior.off_diagonal);
  std::vector<double> logs((n[0] + 1) * (n[1] + 1));
  double top = -1e300;
  for (std::size_t c0 = 0; c0 <= n[0]; ++c0) {
    for (std::size_t c1 = 0; c1 <= n[1]; ++c1) {
      double& at = logs[c0 * (n[1] + 1) + c1];
      at = log_moment(line, static_cast<double>(c0), static_cast<double>(n[1] - c1)) +
           log_moment(line, static_cast<double>(c1), static_cast<double>(n[0] - c0));
      top = std::max(top, at);
    }
  }
  double log_evidence = 0;
  for (const std::size_t l : {std::size_t{0}, std::size_t{1}}) {
    const std::size_t other = 1 - l;
    // The other group's law of right answers.
    std::vector<long double> law = {1};
    for (const long double chance : p[other]) {
      law.push_back(0);
      for (std::size_t c = law.size(); c-- > 0;) law[c] = (1 - chance) * law[c] + (c > 0 ? chance * law[c - 1] : 0);
    }
    std::vector<long double> h(n[l] + 1, 0);
    for (std::size_t c = 0; c <= n[l]; ++c) {
      for (std::size_t d = 0; d <= n[other]; ++d) {
        const double value = l == 0 ? logs[c * (n[1] + 1) + d] : logs[d * (n[1] + 1) + c];
        h[c] += law[d] * std::exp(static_cast<long double>(value - top));
      }
    }
    const LeaveOneOut sums = leave_one_out(p[l], h);
    log_evidence = top + static_cast<double>(std::log(sums.total));
    for (std::size_t i = 0; i < n[l]; ++i) {
      const long double total = sums.with[i] + sums.without[i];
      messages[who[l][i] * 2 + l] = static_cast<double>(sums.with[i] / total);
      messages[who[l][i] * 2 + other] = static_cast<double>(sums.without[i] / total);
    }
  }
  return log_evidence;
}

void table_draws(const TablePrior& prior, std::size_t classes, std::size_t count, Rng& rng, TableNodes& nodes) {
  nodes.resize(classes, count);
  std::vector<double> alpha(classes), row(classes);
  for (std::size_t s = 0; s < count; ++s) {
    for (std::size_t k = 0; k < classes; ++k) {
      for (std::size_t l = 0; l < classes; ++l) alpha[l] = l == k ? prior.diagonal : prior.off_diagonal;
      rng.dirichlet(alpha, row);
      for (std::size_t l = 0; l < classes; ++l) nodes.column(l, k)[s] = std::max(row[l], kTiny);
    }
    nodes.log_weight[s] = -math::log(static_cast<double>(count));
  }
}

void table_centre(const TablePrior& prior, const TableAnswers& answers, std::span<double> counts) {
  constexpr int kSteps = 30;
  const std::size_t classes = answers.classes;
  std::vector<double> table(classes * classes), share(classes), sure(classes);
  for (std::size_t c = 0; c < table.size(); ++c) {
    table[c] = c % (classes + 1) == 0 ? prior.diagonal : prior.off_diagonal;
  }
  for (int step = 0; step <= kSteps; ++step) {
    for (std::size_t k = 0; k < classes; ++k) normalise(std::span(table).subspan(k * classes, classes));
    std::fill(counts.begin(), counts.end(), 0.0);
    std::fill(sure.begin(), sure.end(), 0.0);
    for (std::size_t e = 0; e < answers.size(); ++e) {
      const std::size_t l = answers.labels[e];
      for (std::size_t k = 0; k < classes; ++k) share[k] = answers.incoming[e * classes + k] * table[k * classes + l];
      normalise(share);
      for (std::size_t k = 0; k < classes; ++k) {
        counts[k * classes + l] += share[k];
        sure[k] += share[k] * share[k];
      }
    }
    for (std::size_t c = 0; c < table.size(); ++c) {
      table[c] = (c % (classes + 1) == 0 ? prior.diagonal : prior.off_diagonal) + counts[c];
    }
  }
  for (std::size_t k = 0; k < classes; ++k) {
    const auto row = counts.subspan(k * classes, classes);
    double total = 0;
    for (const double c : row) total += c;
    for (double& c : row) c *= total > 0 ? sure[k] / total : 0;
  }
}

void table_importance_draws(const TablePrior& prior, std::size_t classes, std::span<const double> counts,
                            std::size_t count, Rng& rng, TableNodes& nodes) {
  constexpr std::array<double, 3> kShares = {0.5, 0.25, 0.25};
  constexpr std::array<double, 3> kMoves = {1, 0.5, 0};
  std::array<std::vector<double>, 3> alpha;
  std::array<double, 3> log_norm{};
  for (std::size_t p = 0; p < kMoves.size(); ++p) {
    alpha[p].resize(classes * classes);
    for (std::size_t k = 0; k < classes; ++k) {
      for (std::size_t l = 0; l < classes; ++l) {
        alpha[p][k * classes + l] =
            (k == l ? prior.diagonal : prior.off_diagonal) + kMoves[p] * counts[k * classes + l];
      }
      log_norm[p] -= log_beta(std::span(alpha[p]).subspan(k * classes, classes));
    }
  }
  nodes.resize(classes, count);
  std::vector<double> row(classes);
  const double log_count = math::log(static_cast<double>(count));
  for (std::size_t s = 0; s < count; ++s) {
    const std::size_t from = rng.categorical(kShares);
    std::array<double, 3> log_density = log_norm;
    for (std::size_t k = 0; k < classes; ++k) {
      rng.dirichlet(std::span(alpha[from]).subspan(k * classes, classes), row);
      for (std::size_t l = 0; l < classes; ++l) {
        const double value = std::max(row[l], kTiny);
        nodes.column(l, k)[s] = value;
        for (std::size_t p = 0; p < log_density.size(); ++p) {
          log_density[p] += (alpha[p][k * classes + l] - 1) * math::log(value);
        }
      }
    }
    std::array<double, 3> mixture = log_density;
    for (std::size_t p = 0; p < mixture.size(); ++p) mixture[p] += math::log(kShares[p]);
    // The last proposal is the prior itself.
    nodes.log_weight[s] = log_density[2] - log_sum_exp(mixture) - log_count;
  }
}

}  // namespace wisecrowd::bp
