#pragma once

#include "aggregate/categories/gibbs/chain.hpp"
#include "base/math.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::gibbs {

inline constexpr std::size_t kTasksPerBlock = 1024;
inline constexpr std::size_t kWorkersPerBlock = 64;
/// Factors that are multiplied before the product is brought back into range: eight stay within a double.
inline constexpr std::size_t kFactorsInRange = 8;
inline constexpr double kLeastProbability = 1e-30;

inline void bring_into_range(double* weights, std::size_t size) {
  double top = 0;
  for (std::size_t k = 0; k < size; ++k) top = std::max(top, weights[k]);
  const double scale = 1 / top;
  for (std::size_t k = 0; k < size; ++k) weights[k] *= scale;
}

/// The factor of class k that is not a worker's: its count without task t, or the task's own prior.
inline double prior_weight(const Problem& problem, const Chain& chain, std::size_t t, std::size_t k) {
  if (!problem.data.task_priors.empty()) {
    return std::max(problem.data.task_priors[t * problem.classes + k], kProbabilityFloor);
  }
  if (!problem.options.learn_class_prior) return 1;
  return problem.options.class_pseudo_count + chain.class_counts[k] - (chain.truth[t] == k ? 1 : 0);
}

/// One pass over the tasks, each drawn given all others, tables and class prior integrated out:
/// P(z_i = k | …) ∝ (ν0 + N_k) Π_j (b0_k,y + n_jky) / (Σ_l b0_kl + n_jk·), counts without task i. The counts are only
/// touched when the class changes: without task i they differ in the present class alone, which is computed apart.
/// Returns by how much ln p(z, y) has changed.
template <std::size_t Fixed>
double collapsed_sweep(const Problem& problem, Chain& chain, Rng& rng) {
  const std::size_t classes = Fixed != 0 ? Fixed : problem.classes;
  const std::size_t totals_at = classes * classes;
  const auto offsets = problem.data.answers.task_offsets();
  const auto workers = problem.data.answers.workers();
  const auto labels = problem.data.answers.labels();
  thread_local std::vector<double> above, below;
  above.resize(classes);
  below.resize(classes);
  double change = 0;
  for (std::size_t t = 0; t < problem.tasks; ++t) {
    if (problem.is_gold(t) || offsets[t] == offsets[t + 1]) continue;
    const std::size_t present = chain.truth[t];
    double* const weights = chain.conditional.data() + t * classes;
    for (std::size_t k = 0; k < classes; ++k) weights[k] = prior_weight(problem, chain, t, k);
    for (AnswerIndex first = offsets[t]; first < offsets[t + 1]; first += kFactorsInRange) {
      const AnswerIndex last = std::min<AnswerIndex>(first + kFactorsInRange, offsets[t + 1]);
      std::fill(above.begin(), above.end(), 1.0);
      std::fill(below.begin(), below.end(), 1.0);
      double own_above = 1, own_below = 1;
      for (AnswerIndex a = first; a < last; ++a) {
        const std::size_t label = index(labels[a]);
        const double* const table = chain.counts.data() + index(workers[a]) * problem.table_size;
        const double* const row = table + label * classes;
        const double* const total = table + totals_at;
        const double* const prior = problem.prior.data() + label * classes;
        for (std::size_t k = 0; k < classes; ++k) {
          above[k] *= row[k] + prior[k];
          below[k] *= total[k] + problem.row_prior;
        }
        own_above *= row[present] - 1 + prior[present];
        own_below *= total[present] - 1 + problem.row_prior;
      }
      above[present] = own_above;
      below[present] = own_below;
      for (std::size_t k = 0; k < classes; ++k) weights[k] *= above[k] / below[k];
      bring_into_range(weights, classes);
    }
    const std::size_t drawn = rng.categorical({weights, classes});
    if (drawn != present) {
      change += math::log(weights[drawn] / std::max(weights[present], 1e-300));
      for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
        double* const table = chain.counts.data() + index(workers[a]) * problem.table_size;
        double* const row = table + index(labels[a]) * classes;
        row[present] -= 1;
        row[drawn] += 1;
        table[totals_at + present] -= 1;
        table[totals_at + drawn] += 1;
      }
      chain.class_counts[present] -= 1;
      chain.class_counts[drawn] += 1;
      chain.truth[t] = static_cast<std::uint16_t>(drawn);
    }
    normalise({weights, classes});
  }
  return change;
}

/// Runs `sweep` as often as asked and keeps what the plan says. `sweep` returns ln p(z, y).
template <class Sweep>
void run_chain(const Problem& problem, Chain& chain, bool align, std::span<const double> start,
               const RunContext& context, bool reports, std::size_t before, const Sweep& sweep) {
  const Options& options = problem.options;
  const std::size_t planned = (options.sweeps + options.thin - 1) / options.thin;
  const std::size_t total = options.burn_in + options.sweeps;
  for (std::size_t s = 0; s < total; ++s) {
    chain.trace.push_back(sweep(s));
    const bool cancelled = context.cancelled();
    if (s >= options.burn_in && (s - options.burn_in) % options.thin == 0) {
      keep(problem, chain, align, start, 2 * (chain.kept[0] + chain.kept[1]) >= planned ? 1 : 0);
    } else if (cancelled && chain.kept[0] == 0) {
      keep(problem, chain, align, start, 0);  // better than nothing
    }
    if (reports) {
      context.report({.stage = "sampling",
                      .done = static_cast<double>(before + s + 1),
                      .total = static_cast<double>(before + total),
                      .objective = chain.trace.back(),
                      .has_objective = true});
    }
    if (cancelled) break;
  }
}

inline void run_collapsed(const Problem& problem, std::vector<Chain>& chains, bool align, std::span<const double> start,
                          const RunContext& context) {
  context.pool().for_each_block(chains.size(), [&](std::size_t c, unsigned thread) {
    Rng rng = context.rng("gibbs", c);
    Chain& chain = chains[c];
    chain = begin(problem, start, rng.fork("start"), c == 0);
    double joint = log_joint(problem, chain);
    run_chain(problem, chain, align, start, context, thread == 0, 0, [&](std::size_t) {
      switch (problem.classes) {
        case 2: joint += collapsed_sweep<2>(problem, chain, rng); break;
        case 3: joint += collapsed_sweep<3>(problem, chain, rng); break;
        case 4: joint += collapsed_sweep<4>(problem, chain, rng); break;
        case 5: joint += collapsed_sweep<5>(problem, chain, rng); break;
        default: joint += collapsed_sweep<0>(problem, chain, rng);
      }
      return joint;
    });
  });
}

/// Tables and class prior drawn given the truth, then all tasks at once given those: blocks of workers and tasks in
/// parallel, with a stream of random numbers each.
class UncollapsedSampler {
 public:
  UncollapsedSampler(const Problem& problem, const RunContext& context)
      : problem_(problem),
        context_(context),
        tables_(problem.workers * problem.classes * problem.classes),
        class_prior_(problem.classes),
        thread_counts_(context.threads()) {
    for (auto& counts : thread_counts_) counts.resize(problem.workers * problem.table_size);
  }

  double sweep(Chain& chain, const Rng& stream) {
    draw_parameters(chain, stream);
    draw_truth(chain, stream);
    return log_joint(problem_, chain);
  }

 private:
  void draw_parameters(const Chain& chain, const Rng& stream) {
    const std::size_t classes = problem_.classes;
    const Blocks blocks{problem_.workers, kWorkersPerBlock};
    context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      Rng rng = stream.fork("tables", block);
      std::vector<double> posterior(classes), row(classes);
      for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
        const double* const counts = chain.counts.data() + w * problem_.table_size;
        double* const table = tables_.data() + w * classes * classes;  // labels × truth
        for (std::size_t k = 0; k < classes; ++k) {
          for (std::size_t l = 0; l < classes; ++l) {
            posterior[l] = counts[l * classes + k] + problem_.prior[l * classes + k];
          }
          rng.dirichlet(posterior, row);
          for (std::size_t l = 0; l < classes; ++l) table[l * classes + k] = std::max(row[l], kLeastProbability);
        }
      }
    });
    if (!problem_.options.learn_class_prior) {
      std::fill(class_prior_.begin(), class_prior_.end(), 1.0);
      return;
    }
    std::vector<double> posterior(chain.class_counts);
    for (double& p : posterior) p += problem_.options.class_pseudo_count;
    Rng rng = stream.fork("classes");
    rng.dirichlet(posterior, class_prior_);
    for (double& p : class_prior_) p = std::max(p, kLeastProbability);
  }

  void draw_truth(Chain& chain, const Rng& stream) {
    const std::size_t classes = problem_.classes, table_size = problem_.table_size;
    const auto offsets = problem_.data.answers.task_offsets();
    const auto workers = problem_.data.answers.workers();
    const auto labels = problem_.data.answers.labels();
    for (auto& counts : thread_counts_) std::fill(counts.begin(), counts.end(), 0U);
    const Blocks blocks{problem_.tasks, kTasksPerBlock};
    std::vector<std::vector<double>> class_counts(blocks.count(), std::vector<double>(classes, 0.0));
    context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned thread) {
      Rng rng = stream.fork("tasks", block);
      auto& counts = thread_counts_[thread];
      for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
        if (offsets[t] == offsets[t + 1]) continue;
        if (!problem_.is_gold(t)) {
          double* const weights = chain.conditional.data() + t * classes;
          for (std::size_t k = 0; k < classes; ++k) {
            weights[k] = problem_.data.task_priors.empty()
                             ? class_prior_[k]
                             : std::max(problem_.data.task_priors[t * classes + k], kProbabilityFloor);
          }
          for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
            const double* const row = tables_.data() + (index(workers[a]) * classes + index(labels[a])) * classes;
            for (std::size_t k = 0; k < classes; ++k) weights[k] *= row[k];
            if ((a - offsets[t]) % kFactorsInRange == kFactorsInRange - 1) bring_into_range(weights, classes);
          }
          normalise({weights, classes});
          chain.truth[t] = static_cast<std::uint16_t>(rng.categorical({weights, classes}));
        }
        const std::size_t k = chain.truth[t];
        class_counts[block][k] += 1;
        for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
          std::uint32_t* const table = counts.data() + index(workers[a]) * table_size;
          table[index(labels[a]) * classes + k] += 1;
          table[classes * classes + k] += 1;
        }
      }
    });
    std::fill(chain.class_counts.begin(), chain.class_counts.end(), 0.0);
    for (const auto& part : class_counts) {
      for (std::size_t k = 0; k < classes; ++k) chain.class_counts[k] += part[k];
    }
    const Blocks cells{chain.counts.size(), std::size_t{1} << 14};
    context_.pool().for_each_block(cells.count(), [&](std::size_t block, unsigned) {
      for (std::size_t c = cells.begin(block); c < cells.end(block); ++c) {
        std::uint64_t sum = 0;
        for (const auto& counts : thread_counts_) sum += counts[c];
        chain.counts[c] = static_cast<double>(sum);
      }
    });
  }

  const Problem& problem_;
  const RunContext& context_;
  HugeVector<double> tables_;  // workers × labels × truth
  std::vector<double> class_prior_;
  std::vector<HugeVector<std::uint32_t>> thread_counts_;
};

inline void run_uncollapsed(const Problem& problem, std::vector<Chain>& chains, bool align,
                            std::span<const double> start, const RunContext& context) {
  UncollapsedSampler sampler(problem, context);
  for (std::size_t c = 0; c < chains.size(); ++c) {
    const Rng rng = context.rng("gibbs", c);
    chains[c] = begin(problem, start, rng.fork("start"), c == 0);
    const std::size_t before = c * (problem.options.burn_in + problem.options.sweeps);
    run_chain(problem, chains[c], align, start, context, true, before,
              [&](std::size_t s) { return sampler.sweep(chains[c], rng.fork("sweep", s)); });
  }
}

}  // namespace wisecrowd::gibbs
