#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "aggregate/categories/gibbs/gibbs.hpp"
#include "base/assignment.hpp"
#include "base/huge_vector.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/rng.hpp"

namespace wisecrowd::gibbs {

/// The data and the prior, in the shape that the samplers read.
struct Problem {
  Problem(const CategoryData& dataset, const Options& given)
      : data(dataset),
        options(given),
        tasks(dataset.answers.task_count()),
        workers(dataset.answers.worker_count()),
        classes(dataset.answers.class_count()),
        table_size((classes + 1) * classes),
        prior(classes * classes, given.off_diagonal_prior),
        row_prior(given.diagonal_prior + given.off_diagonal_prior * static_cast<double>(classes - 1)) {
    for (std::size_t k = 0; k < classes; ++k) prior[k * classes + k] = given.diagonal_prior;
  }
  [[nodiscard]] bool answered(std::size_t t) const {
    const auto offsets = data.answers.task_offsets();
    return offsets[t] != offsets[t + 1];
  }
  [[nodiscard]] bool is_gold(std::size_t t) const { return data.has_gold() && data.gold[t] != kNoClass; }

  const CategoryData& data;
  Options options;
  std::size_t tasks, workers, classes;
  std::size_t table_size;     // of one worker: labels × truth, then a row of totals over labels
  std::vector<double> prior;  // b0, symmetric
  double row_prior;           // Σ_l b0_kl
};

/// Where one chain stands, and what it has gathered.
struct Chain {
  std::vector<std::uint16_t> truth;        // z
  HugeVector<double> counts;               // workers × table_size, whole numbers
  std::vector<double> class_counts;        // answered tasks per class
  HugeVector<double> conditional;          // tasks × classes: P(z_i | everything else) of this sweep
  std::array<HugeVector<double>, 2> sums;  // of the conditionals, first and second half of the kept draws
  std::array<std::size_t, 2> kept{};
  std::vector<double> tables;  // Σ of posterior means given z, workers × truth × label
  std::vector<double> class_prior;
  std::vector<double> trace;
  std::size_t relabelled = 0;
};

inline double class_log_evidence(const Problem& problem, const Chain& chain) {
  const Options& options = problem.options;
  if (!problem.data.task_priors.empty()) {
    double sum = 0;
    for (std::size_t t = 0; t < problem.tasks; ++t) {
      if (!problem.answered(t)) continue;
      sum += math::log(std::max(problem.data.task_priors[t * problem.classes + chain.truth[t]], kProbabilityFloor));
    }
    return sum;
  }
  double all = 0;
  for (const double c : chain.class_counts) all += c;
  const auto classes = static_cast<double>(problem.classes);
  if (!options.learn_class_prior) return -all * math::log(classes);
  const double nu0 = options.class_pseudo_count;
  double sum = log_gamma(classes * nu0) - log_gamma(classes * nu0 + all);
  for (const double c : chain.class_counts) sum += log_gamma(nu0 + c) - log_gamma(nu0);
  return sum;
}

/// Σ_k ln B(b0_k + n_jk) − ln B(b0_k) of one worker.
inline double worker_log_evidence(const Problem& problem, const double* counts) {
  const std::size_t classes = problem.classes;
  double sum = 0;
  for (std::size_t c = 0; c < classes * classes; ++c) {
    if (counts[c] > 0) sum += log_gamma_positive(problem.prior[c] + counts[c]) - log_gamma_positive(problem.prior[c]);
  }
  for (std::size_t k = 0; k < classes; ++k) {
    const double total = counts[classes * classes + k];
    if (total > 0) sum -= log_gamma_positive(problem.row_prior + total) - log_gamma_positive(problem.row_prior);
  }
  return sum;
}

/// ln p(z, y), tables and class prior integrated out.
inline double log_joint(const Problem& problem, const Chain& chain) {
  double sum = class_log_evidence(problem, chain);
  for (std::size_t w = 0; w < problem.workers; ++w) {
    sum += worker_log_evidence(problem, chain.counts.data() + w * problem.table_size);
  }
  return sum;
}

/// The first truth: the most probable class in the first chain, draws in the others; gold where it is known.
inline Chain begin(const Problem& problem, std::span<const double> posterior, Rng rng, bool first) {
  const std::size_t classes = problem.classes;
  Chain chain;
  chain.truth.resize(problem.tasks);
  chain.counts.assign(problem.workers * problem.table_size, 0.0);
  chain.class_counts.assign(classes, 0.0);
  chain.conditional.assign(problem.tasks * classes, 0.0);
  for (auto& sum : chain.sums) sum.assign(problem.tasks * classes, 0.0);
  chain.tables.assign(problem.workers * classes * classes, 0.0);
  chain.class_prior.assign(classes, 0.0);
  const auto offsets = problem.data.answers.task_offsets();
  const auto workers = problem.data.answers.workers();
  const auto labels = problem.data.answers.labels();
  for (std::size_t t = 0; t < problem.tasks; ++t) {
    const auto row = posterior.subspan(t * classes, classes);
    std::size_t k =
        first ? static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin()) : rng.categorical(row);
    if (problem.is_gold(t)) {
      k = index(problem.data.gold[t]);
      chain.conditional[t * classes + k] = 1;
    }
    chain.truth[t] = static_cast<std::uint16_t>(k);
    if (!problem.answered(t)) continue;
    chain.class_counts[k] += 1;
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      double* const table = chain.counts.data() + index(workers[a]) * problem.table_size;
      table[index(labels[a]) * classes + k] += 1;
      table[classes * classes + k] += 1;
    }
  }
  return chain;
}

/// Which class of this draw stands for which class of the mean: the naming that agrees best with the draws so far (and
/// with the start, which counts as one).
inline std::vector<std::size_t> naming(const Problem& problem, const Chain& chain, std::span<const double> start) {
  const std::size_t classes = problem.classes;
  std::vector<double> joint(classes * classes, 0.0);
  for (std::size_t t = 0; t < problem.tasks; ++t) {
    if (!problem.answered(t)) continue;
    double* const row = joint.data() + chain.truth[t] * classes;
    for (std::size_t k = 0; k < classes; ++k) {
      row[k] += chain.sums[0][t * classes + k] + chain.sums[1][t * classes + k] + start[t * classes + k];
    }
  }
  std::vector<std::size_t> names(classes);
  bool own_is_best = true;  // where every class agrees most with itself, nothing can be better
  for (std::size_t k = 0; k < classes; ++k) {
    const double* const row = joint.data() + k * classes;
    own_is_best = own_is_best && *std::max_element(row, row + classes) <= row[k];
    names[k] = k;
  }
  return own_is_best ? names : best_assignment(joint, classes);
}

/// Adds the present draw to what the chain has gathered.
inline void keep(const Problem& problem, Chain& chain, bool align, std::span<const double> start, std::size_t half) {
  const std::size_t classes = problem.classes;
  std::vector<std::size_t> names(classes);
  for (std::size_t k = 0; k < classes; ++k) names[k] = k;
  if (align) {
    const auto own = names;
    names = naming(problem, chain, start);
    if (names != own) ++chain.relabelled;
  }
  auto& sums = chain.sums[half];
  for (std::size_t t = 0; t < problem.tasks; ++t) {
    for (std::size_t k = 0; k < classes; ++k) sums[t * classes + names[k]] += chain.conditional[t * classes + k];
  }
  for (std::size_t w = 0; w < problem.workers; ++w) {
    const double* const counts = chain.counts.data() + w * problem.table_size;
    double* const table = chain.tables.data() + w * classes * classes;
    for (std::size_t k = 0; k < classes; ++k) {
      const double share = 1 / (problem.row_prior + counts[classes * classes + k]);
      for (std::size_t l = 0; l < classes; ++l) {
        table[names[k] * classes + l] += (counts[l * classes + k] + problem.prior[l * classes + k]) * share;
      }
    }
  }
  double all = 0;
  for (const double c : chain.class_counts) all += c + problem.options.class_pseudo_count;
  for (std::size_t k = 0; k < classes; ++k) {
    chain.class_prior[names[k]] += problem.options.learn_class_prior
                                       ? (chain.class_counts[k] + problem.options.class_pseudo_count) / all
                                       : 1 / static_cast<double>(classes);
  }
  ++chain.kept[half];
}

}  // namespace wisecrowd::gibbs
