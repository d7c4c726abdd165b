#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "aggregate/categories/ebcc/problem.hpp"
#include "aggregate/categories/shared/gammas.hpp"
#include "base/huge_vector.hpp"
#include "base/lanes.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"

namespace wisecrowd::ebcc {

/// One run of mean-field variational Bayes. Real is the type of the large arrays; sums are in double.
///
/// Most subtypes die out within a few dozen iterations: the sparse prior empties them, and an empty one stays empty.
/// Cells without mass are taken out of all arrays, which makes the later iterations many times cheaper.
template <class Real>
class VariationalRun {
 public:
  explicit VariationalRun(const Problem& problem)
      : problem_(problem),
        pitch_(pitch_for(problem.cells)),
        diagonal_(problem.options.diagonal_prior),
        off_diagonal_(problem.options.off_diagonal_prior),
        class_prior_(problem.classes, 0.0) {
    for (std::size_t c = 0; c < problem.cells; ++c) {
      class_of_.push_back(static_cast<std::uint32_t>(c / problem.options.subtypes));
    }
    posterior_.resize(problem.tasks * pitch_);
    rows_.resize(problem.workers * problem.classes * pitch_);
    lay_out();
    mass_.assign(pitch_, 0.0);
  }

  /// q_i(k, g) = share_ik times a uniform draw from the simplex of subtypes.
  void start(std::span<const double> shares, const Rng& stream, const Runner& run) {
    const std::size_t subtypes = problem_.options.subtypes;
    sweep_tasks(run, [&](std::size_t block, std::size_t first, std::size_t last, BlockSums& sums) {
      Rng rng = stream.fork("block", block);
      std::vector<double> draw(pitch_, 1.0);
      for (std::size_t t = first; t < last; ++t) {
        for (std::size_t c = 0; c < cells(); ++c) draw[c] = 1 - rng.uniform();
#pragma omp simd
        for (std::size_t c = 0; c < pitch_; ++c) draw[c] = -log_positive(draw[c]);
        Real* const row = posterior_.data() + t * pitch_;
        std::fill_n(row, pitch_, Real{0});
        for (std::size_t k = 0; k < problem_.classes; ++k) {
          double* const part = draw.data() + k * subtypes;
          normalise({part, subtypes});
          for (std::size_t g = 0; g < subtypes; ++g) {
            row[k * subtypes + g] = static_cast<Real>(part[g] * shares[t * problem_.classes + k]);
          }
        }
        if (!answered(t)) continue;
        for (std::size_t c = 0; c < cells(); ++c) sums.mass[c] += static_cast<double>(row[c]);
      }
    });
  }

  /// Parameters from the posterior, then the posterior from them. Returns the largest change of a class probability.
  /// With `with_bound`, bound() is the evidence lower bound after that.
  double iterate(bool with_bound, const Runner& run) {
    drop_empty_cells();
    bound_ = set_class_parameters();
    if (problem_.options.learn_row_prior && problem_.classes > 1) bound_ += learn_row_prior(run);
    bound_ += set_worker_parameters(with_bound, run);
    return set_posterior(run);
  }

  [[nodiscard]] double bound() const noexcept { return bound_; }
  [[nodiscard]] const std::vector<double>& class_prior() const noexcept { return class_prior_; }
  /// q_i(k, g) of the cells that are left, tasks × pitch.
  [[nodiscard]] std::span<const Real> cell_posterior() const noexcept { return posterior_; }
  [[nodiscard]] std::size_t pitch() const noexcept { return pitch_; }
  /// Expected number of tasks in every cell that is left.
  [[nodiscard]] std::span<const double> mass() const noexcept { return std::span(mass_).first(cells()); }

  [[nodiscard]] double diagonal_prior() const noexcept { return diagonal_; }
  [[nodiscard]] double off_diagonal_prior() const noexcept { return off_diagonal_; }

  /// Adds to each of `probabilities` that of an answer, Σ_kg q_i(k, g) E v_jkg[y], times `weight`.
  void add_predictive(std::span<const CategoryAnswer> answers, double weight, std::span<double> probabilities) const {
    std::vector<std::size_t> order(answers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return answers[a].worker < answers[b].worker; });
    std::vector<double> counts(problem_.classes * pitch_), totals(pitch_);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const CategoryAnswer& answer = answers[order[i]];
      if (i == 0 || answer.worker != answers[order[i - 1]].worker) {
        gather(index(answer.worker), counts.data());
        std::fill(totals.begin(), totals.end(), row_prior());
        for (std::size_t e = 0; e < counts.size(); ++e) totals[e % pitch_] += counts[e];
      }
      const Real* const posterior = posterior_.data() + index(answer.task) * pitch_;
      const std::size_t row = index(answer.label) * pitch_;
      double sum = 0;
      for (std::size_t c = 0; c < cells(); ++c) {
        sum += static_cast<double>(posterior[c]) * (counts[row + c] + prior_[row + c]) / totals[c];
      }
      probabilities[order[i]] += weight * sum;
    }
  }

  /// tasks × classes.
  [[nodiscard]] std::vector<double> class_posterior() const {
    std::vector<double> result(problem_.tasks * problem_.classes, 0.0);
    for (std::size_t t = 0; t < problem_.tasks; ++t) {
      for (std::size_t c = 0; c < cells(); ++c) {
        result[t * problem_.classes + class_of_[c]] += static_cast<double>(posterior_[t * pitch_ + c]);
      }
      normalise(std::span(result).subspan(t * problem_.classes, problem_.classes));
    }
    return result;
  }

  /// Tables with subtypes averaged out: Σ_g E pi_kg E v_jkg[l]. Cells that were dropped have no mass and tables as the
  /// prior has them.
  [[nodiscard]] std::vector<double> confusion(const Runner& run) const {
    const std::size_t classes = problem_.classes;
    const Options& options = problem_.options;
    const double of_subtype = options.subtype_prior / static_cast<double>(options.subtypes);
    std::vector<double> class_mass(classes, options.subtype_prior), dropped(classes, options.subtype_prior);
    for (std::size_t c = 0; c < cells(); ++c) {
      class_mass[class_of_[c]] += mass_[c];
      dropped[class_of_[c]] -= of_subtype;
    }
    std::vector<double> result(problem_.workers * classes * classes, 0.0);
    const Blocks blocks{problem_.workers, kWorkersPerBlock};
    run(blocks.count(), [&](std::size_t block) {
      std::vector<double> counts(classes * pitch_);
      for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
        gather(w, counts.data());
        double* const tables = result.data() + w * classes * classes;
        for (std::size_t c = 0; c < cells(); ++c) {
          double total = row_prior();
          for (std::size_t l = 0; l < classes; ++l) total += counts[l * pitch_ + c];
          const double weight = (mass_[c] + of_subtype) / (class_mass[class_of_[c]] * total);
          for (std::size_t l = 0; l < classes; ++l) {
            tables[class_of_[c] * classes + l] += weight * (counts[l * pitch_ + c] + prior_[l * pitch_ + c]);
          }
        }
        for (std::size_t k = 0; k < classes; ++k) {
          const double weight = std::max(dropped[k], 0.0) / (class_mass[k] * row_prior());
          for (std::size_t l = 0; l < classes; ++l) {
            tables[k * classes + l] += weight * (k == l ? diagonal_ : off_diagonal_);
          }
          normalise({tables + k * classes, classes});
        }
      }
    });
    return result;
  }

 private:
  static constexpr std::size_t kTasksPerBlock = 512;
  static constexpr std::size_t kWorkersPerBlock = 16;
  static constexpr double kLogZero = -1e9;
  /// Cells with less than this part of a task, over all tasks, are empty: the bound changes by about as much.
  static constexpr double kEmpty = 1e-9;

  struct BlockSums {
    std::vector<double> mass;
    double log_evidence = 0;
    double change = 0;
  };

  [[nodiscard]] std::size_t cells() const noexcept { return class_of_.size(); }
  [[nodiscard]] bool answered(std::size_t t) const {
    const auto offsets = problem_.data.answers.task_offsets();
    return offsets[t] != offsets[t + 1];
  }

  /// Does the worker stand for itself and has it said anything? The tables of all others are the prior's, or a twin's.
  [[nodiscard]] bool is_known(std::size_t worker) const noexcept {
    const std::size_t classes = problem_.classes;
    return problem_.stands_for[worker] > 0 &&
           problem_.first_task[worker * classes] != problem_.first_task[(worker + 1) * classes];
  }

  [[nodiscard]] double row_prior() const noexcept {
    return diagonal_ + off_diagonal_ * static_cast<double>(problem_.classes - 1);
  }

  /// What depends on which cells there are.
  void lay_out() {
    set_prior();
    log_cell_.assign(pitch_, kLogZero);
  }
  void set_prior() {
    prior_.assign(problem_.classes * pitch_, 1.0);
    for (std::size_t l = 0; l < problem_.classes; ++l) {
      for (std::size_t c = 0; c < cells(); ++c) prior_[l * pitch_ + c] = class_of_[c] == l ? diagonal_ : off_diagonal_;
    }
    prior_digamma_.resize(prior_.size());
    for (std::size_t e = 0; e < prior_.size(); ++e) prior_digamma_[e] = digamma_positive(prior_[e]);
  }

  /// One step of Minka's fixed point for the strength s of all rows and the share d of the right answer in it. Their
  /// log prior, which is returned, is that of a row of five answers, four of them right: 5 ln s − s + 4 ln d + ln(1 −
  /// d).
  double learn_row_prior(const Runner& run) {
    const std::size_t classes = problem_.classes, pitch = pitch_;
    struct Evidence {
      double right = 0, wrong = 0, rows = 0;
    };
    const Blocks blocks{problem_.workers, kWorkersPerBlock};
    std::vector<Evidence> parts(blocks.count());
    const double digamma_row = digamma(row_prior());
    run(blocks.count(), [&](std::size_t block) {
      std::vector<double> counts(classes * pitch), totals(pitch), fresh(pitch);
      for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
        if (!is_known(w)) continue;
        gather(w, counts.data());
        Evidence own;
        std::fill(totals.begin(), totals.end(), row_prior());
        for (std::size_t l = 0; l < classes; ++l) {
          if (!problem_.has_given(w, l)) continue;  // nothing is fresh where nothing was said
          const double* const count = counts.data() + l * pitch;
          const double* const prior = prior_.data() + l * pitch;
          const double* const of_prior = prior_digamma_.data() + l * pitch;
          digammas_of_sums(count, prior, fresh.data(), pitch);
#pragma omp simd
          for (std::size_t c = 0; c < pitch; ++c) {
            totals[c] += count[c];
            fresh[c] = prior[c] * (fresh[c] - of_prior[c]);
          }
          for (std::size_t c = 0; c < cells(); ++c) (class_of_[c] == l ? own.right : own.wrong) += fresh[c];
        }
        digammas(totals.data(), fresh.data(), pitch);
        for (std::size_t c = 0; c < cells(); ++c) own.rows += fresh[c] - digamma_row;
        const auto times = static_cast<double>(problem_.stands_for[w]);
        parts[block].right += times * own.right;
        parts[block].wrong += times * own.wrong;
        parts[block].rows += times * own.rows;
      }
    });
    Evidence sum;
    for (const Evidence& part : parts) {
      sum.right += part.right;
      sum.wrong += part.wrong;
      sum.rows += part.rows;
    }
    const double strength = std::clamp((sum.right + sum.wrong + 5) / (sum.rows + 1), 1e-2, 1e4);
    const double share = (sum.right + 4) / (sum.right + sum.wrong + 5);
    diagonal_ = strength * share;
    off_diagonal_ = strength * (1 - share) / static_cast<double>(classes - 1);
    set_prior();
    return 5 * math::log(strength) - strength + 4 * math::log(share) + math::log1p(-share);
  }

  /// Takes empty cells out when that makes rows shorter. The fullest cell of a class always stays.
  void drop_empty_cells() {
    std::vector<double> most(problem_.classes, -1.0);
    for (std::size_t c = 0; c < cells(); ++c) most[class_of_[c]] = std::max(most[class_of_[c]], mass_[c]);
    std::vector<std::size_t> kept;
    std::vector<bool> has_fullest(problem_.classes, false);
    for (std::size_t c = 0; c < cells(); ++c) {
      const bool fullest = !has_fullest[class_of_[c]] && mass_[c] == most[class_of_[c]];
      if (fullest) has_fullest[class_of_[c]] = true;
      if (fullest || mass_[c] >= kEmpty) kept.push_back(c);
    }
    const std::size_t pitch = pitch_for(kept.size());
    if (pitch == pitch_) return;
    for (std::size_t t = 0; t < problem_.tasks; ++t) {
      const Real* const from = posterior_.data() + t * pitch_;
      Real* const to = posterior_.data() + t * pitch;  // never behind what is still to be read
      for (std::size_t c = 0; c < kept.size(); ++c) to[c] = from[kept[c]];
      std::fill(to + kept.size(), to + pitch, Real{0});
    }
    for (std::size_t c = 0; c < kept.size(); ++c) {
      class_of_[c] = class_of_[kept[c]];
      mass_[c] = mass_[kept[c]];
    }
    class_of_.resize(kept.size());
    mass_.resize(pitch);
    std::fill(mass_.begin() + static_cast<std::ptrdiff_t>(kept.size()), mass_.end(), 0.0);
    pitch_ = pitch;
    lay_out();
  }
  /// Runs work(block, first, last, sums) over blocks of tasks and adds their sums in order; returns the largest change.
  template <class Work>
  double sweep_tasks(const Runner& run, const Work& work) {
    const Blocks blocks{problem_.tasks, kTasksPerBlock};
    std::vector<BlockSums> parts(blocks.count());
    run(blocks.count(), [&](std::size_t block) {
      parts[block].mass.assign(pitch_, 0.0);
      work(block, blocks.begin(block), blocks.end(block), parts[block]);
    });
    std::fill(mass_.begin(), mass_.end(), 0.0);
    double change = 0;
    for (const BlockSums& part : parts) {
      for (std::size_t c = 0; c < cells(); ++c) mass_[c] += part.mass[c];
      bound_ += part.log_evidence;
      change = std::max(change, part.change);
    }
    return change;
  }

  /// E ln tau_k + E ln pi_kg; returns their part of the bound.
  double set_class_parameters() {
    const Options& options = problem_.options;
    const auto count = static_cast<double>(problem_.classes);
    const double nu0 = options.class_pseudo_count;
    const double of_subtype = options.subtype_prior / static_cast<double>(options.subtypes);
    const bool own_priors = !problem_.data.task_priors.empty();
    std::vector<double> class_mass(problem_.classes, 0.0), log_class(problem_.classes, -math::log(count));
    double total = count * nu0, bound = 0;
    for (std::size_t c = 0; c < cells(); ++c) {
      class_mass[class_of_[c]] += mass_[c];
      total += mass_[c];
    }
    if (options.learn_class_prior && !own_priors) bound += log_gamma(count * nu0) - log_gamma(total);
    for (std::size_t k = 0; k < problem_.classes; ++k) {
      class_prior_[k] = options.learn_class_prior ? (class_mass[k] + nu0) / total : 1 / count;
      if (options.learn_class_prior) {
        log_class[k] = digamma(class_mass[k] + nu0) - digamma(total);
        if (!own_priors) bound += log_gamma(class_mass[k] + nu0) - log_gamma(nu0) - class_mass[k] * log_class[k];
      }
      bound += log_gamma(options.subtype_prior) - log_gamma(class_mass[k] + options.subtype_prior);
    }
    for (std::size_t c = 0; c < cells(); ++c) {
      const std::size_t k = class_of_[c];
      const double log_subtype = digamma(mass_[c] + of_subtype) - digamma(class_mass[k] + options.subtype_prior);
      log_cell_[c] = log_subtype + (own_priors ? 0 : log_class[k]);
      bound += log_gamma(mass_[c] + of_subtype) - log_gamma(of_subtype) - mass_[c] * log_subtype;
    }
    return bound;
  }

  /// n_j(k, g, l): labels × pitch, from the posteriors of the worker's tasks.
  void gather(std::size_t worker, double* counts) const {
    const std::size_t pitch = pitch_;
    std::fill_n(counts, problem_.classes * pitch, 0.0);
    const std::uint32_t* const tasks = problem_.tasks_by_label.data();
    for (std::size_t l = 0; l < problem_.classes; ++l) {
      const std::size_t first = problem_.first_task[worker * problem_.classes + l];
      const std::size_t last = problem_.first_task[worker * problem_.classes + l + 1];
      if (first == last) continue;
      add_rows<Real>(pitch, last - first, counts + l * pitch, [&](std::size_t a) {
        const Real* const ahead =
            posterior_.data() + std::size_t{tasks[std::min(first + a + kRowsAhead, last - 1)]} * pitch;
        for (std::size_t c = 0; c < pitch; c += 64 / sizeof(Real)) __builtin_prefetch(ahead + c);
        return posterior_.data() + std::size_t{tasks[first + a]} * pitch;
      });
    }
  }

  /// E ln v_jkg[l]; returns the workers' part of the bound if asked for.
  double set_worker_parameters(bool with_bound, const Runner& run) {
    const std::size_t classes = problem_.classes, pitch = pitch_;
    const Blocks blocks{problem_.workers, kWorkersPerBlock};
    std::vector<double> parts(blocks.count(), 0.0);
    const double log_gamma_row = log_gamma_positive(row_prior());
    run(blocks.count(), [&](std::size_t block) {
      std::vector<double> counts(classes * pitch), of_totals(pitch), values(pitch), totals(pitch);
      for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
        if (!is_known(w)) continue;
        gather(w, counts.data());
        std::fill(totals.begin(), totals.end(), row_prior());
        for (std::size_t l = 0; l < classes; ++l) {
          if (!problem_.has_given(w, l)) continue;
          for (std::size_t c = 0; c < pitch; ++c) totals[c] += counts[l * pitch + c];
        }
        digammas(totals.data(), of_totals.data(), pitch);
        double part = 0;
        for (std::size_t l = 0; l < classes; ++l) {
          if (!problem_.has_given(w, l)) continue;  // no answer reads that row
          const double* const count = counts.data() + l * pitch;
          const double* const prior = prior_.data() + l * pitch;
          Real* const row = rows_.data() + (w * classes + l) * pitch;
          digammas_of_sums(count, prior, values.data(), pitch);
          for (std::size_t c = 0; c < pitch; ++c) row[c] = static_cast<Real>(values[c] - of_totals[c]);
          if (!with_bound) continue;
          log_gamma_gains(count, prior, values.data(), pitch);
          for (std::size_t c = 0; c < cells(); ++c) part += values[c] - count[c] * static_cast<double>(row[c]);
        }
        if (!with_bound) continue;
        for (std::size_t c = 0; c < cells(); ++c) part -= log_gamma_positive(totals[c]) - log_gamma_row;
        parts[block] += static_cast<double>(problem_.stands_for[w]) * part;
      }
    });
    double sum = 0;
    for (const double part : parts) sum += part;
    return sum;
  }

  double set_posterior(const Runner& run) {
    const std::size_t classes = problem_.classes, pitch = pitch_;
    const CategoryData& data = problem_.data;
    const auto offsets = data.answers.task_offsets();
    return sweep_tasks(run, [&](std::size_t, std::size_t first, std::size_t last, BlockSums& sums) {
      std::vector<double> value(pitch), moved(classes);
      for (std::size_t t = first; t < last; ++t) {
        std::copy(log_cell_.begin(), log_cell_.end(), value.begin());
        if (!data.task_priors.empty()) {
          for (std::size_t c = 0; c < cells(); ++c) {
            value[c] += math::log(std::max(data.task_priors[t * classes + class_of_[c]], kProbabilityFloor));
          }
        }
        if (data.has_gold() && data.gold[t] != kNoClass) {
          for (std::size_t c = 0; c < cells(); ++c) {
            if (class_of_[c] != index(data.gold[t])) value[c] = kLogZero;
          }
        }
        const std::uint32_t* const answer = problem_.answer_rows.data() + offsets[t];
        add_rows<Real>(pitch, offsets[t + 1] - offsets[t], value.data(), [&](std::size_t a) {
          const Real* const ahead = rows_.data() + std::size_t{answer[a + kRowsAhead]} * pitch;
          for (std::size_t c = 0; c < pitch; c += 64 / sizeof(Real)) __builtin_prefetch(ahead + c);
          return rows_.data() + std::size_t{answer[a]} * pitch;
        });
        double top = value[0];
#pragma omp simd reduction(max : top)
        for (std::size_t c = 0; c < pitch; ++c) top = value[c] > top ? value[c] : top;
        double* const cell = value.data();
        const double total =
            lane_sum<double>(pitch, [&](std::size_t c) { return cell[c] = exp_nonpositive(cell[c] - top); });
        const double scale = 1 / total;
        Real* const row = posterior_.data() + t * pitch;
        std::fill(moved.begin(), moved.end(), 0.0);
        for (std::size_t c = 0; c < cells(); ++c) {
          moved[class_of_[c]] += value[c] * scale - static_cast<double>(row[c]);
        }
        for (const double by : moved) sums.change = std::max(sums.change, std::abs(by));
#pragma omp simd
        for (std::size_t c = 0; c < pitch; ++c) row[c] = static_cast<Real>(value[c] * scale);
        if (offsets[t] == offsets[t + 1]) continue;
        for (std::size_t c = 0; c < cells(); ++c) sums.mass[c] += value[c] * scale;
        sums.log_evidence += top + math::log(total);
      }
    });
  }

  const Problem& problem_;
  std::size_t pitch_;                    // cells with padding
  std::vector<std::uint32_t> class_of_;  // of each cell that is left, ascending
  double diagonal_, off_diagonal_;       // Dirichlet parameters of a right and of each wrong answer
  std::vector<double> prior_;            // labels × pitch
  std::vector<double> prior_digamma_;    // of each of them
  HugeVector<Real> posterior_;           // tasks × pitch: q_i(k, g)
  HugeVector<Real> rows_;                // (worker, label) × pitch: E ln v_jkg[l]
  std::vector<double> mass_;             // Σ_i q_i(k, g) over answered tasks
  std::vector<double> log_cell_;         // E ln tau_k + E ln pi_kg
  std::vector<double> class_prior_;
  double bound_ = 0;
};

}  // namespace wisecrowd::ebcc
