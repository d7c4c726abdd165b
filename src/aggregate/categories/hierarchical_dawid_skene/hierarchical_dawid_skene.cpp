#include "aggregate/categories/hierarchical_dawid_skene/hierarchical_dawid_skene.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "aggregate/categories/shared/em_acceleration.hpp"
#include "aggregate/categories/shared/gammas.hpp"
#include "aggregate/method.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::hierarchical_dawid_skene {
namespace {

// Where the hyper-parameters start.
constexpr double kFirstStrength = 2;
constexpr double kFirstSkill = 0.7;
constexpr double kFirstShare = 0.5;
constexpr double kSharePseudoCount = 1;
// The strength s has log prior density ln s − s/2: one table's worth of belief in s = 2.
constexpr double kStrengthShape = 1;
constexpr double kStrengthRate = 0.5;
constexpr double kLeastStrength = 1e-2;
constexpr double kMostStrength = 1e4;
// The hyper-parameters are what converges slowly. After the first iterations, which choose the hill, they take several
// steps per pass over the answers: as many as cost no more than the pass, which a table cell does as one answer. Where
// EM is extrapolated, that begins with it.
constexpr std::size_t kPlainIterations = 40;
constexpr std::size_t kIterationsBeforeExtrapolation = 10;
constexpr std::size_t kMostSteps = 8;
// Where workers have few answers, the fixed point of the strength creeps for hundreds of iterations. Once in so many it
// is looked for directly instead, if a plain step would still move it by more than this share.
constexpr std::size_t kIterationsPerSearch = 10;
constexpr double kCreep = 1e-3;
constexpr int kSearchSteps = 4;

/// Row prior of worker j: Dirichlet(s m_jk) with mean m_jkl = w_j 1[k = l] + (1 − w_j) (r U_kl + (1 − r) v_jl): the
/// worker knows the answer, or slips as the whole crowd does (U), or says something of its own liking (v). Rows sum to
/// s.
class LearnedSmoothing final : public CrowdModel {
 public:
  LearnedSmoothing(const ConfusionPass& pass, const Options& options, std::size_t answers)
      : classes_(pass.class_count()),
        stride_(pass.stride()),
        options_(options),
        plain_iterations_(options.em.extrapolates() ? kIterationsBeforeExtrapolation : kPlainIterations),
        late_steps_(std::clamp<std::size_t>(
            answers / std::max<std::size_t>(pass.worker_count() * classes_ * stride_, 1), 1, kMostSteps)),
        skill_(pass.worker_count(), kFirstSkill),
        confusions_(classes_ * stride_, 0.0),
        favourites_(pass.worker_count() * stride_, 1.0 / static_cast<double>(std::max<std::size_t>(classes_, 1))) {
    for (std::size_t l = 0; l < classes_; ++l) {
      for (std::size_t k = 0; k < classes_; ++k) {
        if (k != l) confusions_[l * stride_ + k] = 1.0 / static_cast<double>(classes_ - 1);
      }
    }
  }

  double prepare(const ConfusionPass& pass, const RunContext&) override {
    if (classes_ < 2) return 0;
    const std::size_t steps = iteration_++ < plain_iterations_ ? 1 : late_steps_;
    for (std::size_t step = 0; step < steps; ++step) climb(pass);
    if (iteration_ > plain_iterations_ && iteration_ % kIterationsPerSearch == 0) search_strength(pass);
    log_gamma_strength_ = log_gamma_positive(strength_);
    double objective = kStrengthShape * math::log(strength_) - kStrengthRate * strength_ +
                       kSharePseudoCount * (math::log(crowd_share_) + math::log1p(-crowd_share_));
    if (classes_ > 2) {
      for (std::size_t l = 0; l < classes_; ++l) {
        for (std::size_t k = 0; k < classes_; ++k) {
          if (k != l) objective += options_.confusion_pseudo_count * math::log(confusions_[l * stride_ + k]);
        }
      }
    }
    return objective;
  }

  /// Expected logarithms under the Dirichlet posterior b = n + C; the worker's part of the bound is
  /// Σ_k [ln B(b_k) − ln B(C_k) − Σ_l n_kl E ln th_kl] plus the log priors of its skill and favourites.
  double update(std::size_t worker, const double* counts, double* log_rows) const override {
    if (classes_ < 2) {
      std::fill_n(log_rows, stride_, 0.0);
      return 0;
    }
    thread_local Scratch scratch;
    take_in(counts, scratch);
    std::fill_n(log_rows, classes_ * stride_, 0.0);
    double objective = log_prior_of(worker);
    if (scratch.labels.empty()) return objective;
    const double* const row_total = scratch.row_total.data();
    const double* const row_digamma = scratch.row_digamma.data();
    digammas(row_total, scratch.row_digamma.data(), stride_);
    find_prior(worker, scratch);
    const std::size_t cells = scratch.labels.size() * stride_;
    digammas_of_sums(scratch.count.data(), scratch.prior.data(), scratch.of_sum.data(), cells);
    double* const gammas = scratch.of_prior.data();
    log_gamma_gains(scratch.count.data(), scratch.prior.data(), gammas, cells);
    for (std::size_t n = 0; n < scratch.labels.size(); ++n) {
      const std::size_t row = n * stride_;
      double* const log_row = log_rows + scratch.labels[n] * stride_;
      for (std::size_t k = 0; k < stride_; ++k) log_row[k] = scratch.of_sum[row + k] - row_digamma[k];
      for (std::size_t k = 0; k < classes_; ++k) objective += gammas[row + k] - scratch.count[row + k] * log_row[k];
    }
    log_gammas(row_total, gammas, stride_);
    for (std::size_t k = 0; k < classes_; ++k) objective += log_gamma_strength_ - gammas[k];
    return objective;
  }

  /// π ~ Dirichlet(ν0): posterior ν = ν0 + mass, expected logarithms to the E-step.
  double update_class_prior(const ConfusionPass::Sums& sums, const EmOptions& options, std::vector<double>& prior,
                            std::vector<double>& log_prior) const override {
    if (options.class_prior == EmOptions::ClassPrior::uniform) {
      return CrowdModel::update_class_prior(sums, options, prior, log_prior);
    }
    const auto classes = static_cast<double>(classes_);
    // Automatic: the minimax prior of a multinomial, √N/K tasks per class.
    const double pseudo = options.class_pseudo_count > 0 ? options.class_pseudo_count
                                                         : std::max(1.0, std::sqrt(sums.answered_tasks) / classes);
    const double total = sums.answered_tasks + pseudo * classes;
    double objective = log_gamma(pseudo * classes) - log_gamma(total);
    for (std::size_t k = 0; k < classes_; ++k) {
      const double mass = sums.class_mass[k] + pseudo;
      prior[k] = mass / total;
      log_prior[k] = digamma(mass) - digamma(total);
      objective += log_gamma(mass) - log_gamma(pseudo) - sums.class_mass[k] * log_prior[k];
    }
    return objective;
  }

  /// The posterior mean b / Σ b.
  bool estimate_table(std::size_t worker, double* counts) const override {
    std::vector<double> prior(stride_);
    for (std::size_t l = 0; l < classes_; ++l) {
      prior_row(worker, l, prior.data());
      for (std::size_t k = 0; k < stride_; ++k) counts[l * stride_ + k] += prior[k];
    }
    return true;
  }

  [[nodiscard]] bool settled() const override { return iteration_ >= plain_iterations_; }

  /// The logarithm of the strength above its least value, and square roots of all else, which is probabilities.
  void save(std::vector<double>& state) const override {
    if (classes_ < 2) return;
    state.push_back(math::log(strength_ / kLeastStrength) + 1);
    save_share(crowd_share_, state);
    if (classes_ > 2) {
      for (const double confusion : confusions_) state.push_back(std::sqrt(confusion));
    }
    for (const double w : skill_) save_share(w, state);
    for (const double v : favourites_) state.push_back(std::sqrt(v));
  }

  void load(std::span<const double> state) override {
    if (classes_ < 2) return;
    const double* next = state.data();
    strength_ = std::min(kLeastStrength * math::exp(std::max(*next++ - 1, 0.0)), kMostStrength);
    crowd_share_ = load_share(next);
    const auto load_squares = [&next](std::vector<double>& values) {
      for (double& value : values) {
        value = *next * *next;
        ++next;
      }
    };
    if (classes_ > 2) {
      load_squares(confusions_);
      for (std::size_t k = 0; k < classes_; ++k) {
        double total = 0;
        for (std::size_t l = 0; l < classes_; ++l) total += confusions_[l * stride_ + k];
        for (std::size_t l = 0; l < classes_; ++l) confusions_[l * stride_ + k] /= total;
      }
    }
    for (double& w : skill_) w = load_share(next);
    load_squares(favourites_);
    for (std::size_t j = 0; j < skill_.size(); ++j) normalise({favourites_.data() + j * stride_, classes_});
  }

  void finish(CategoryFit& result) const override {
    result.skill = skill_;
    result.learned.emplace_back("strength", strength_);
    result.learned.emplace_back("crowd_share", crowd_share_);
    result.objective_name = "evidence lower bound";
  }

 private:
  /// Expected numbers of fresh draws from the prior ("tables" of a Chinese restaurant).
  struct Evidence {
    std::vector<double> tables;  // those of the crowd's confusions: summed over workers, labels × stride
    double own = 0;              // those of the workers' favourites
    double all = 0;              // Σ_jkl T_jkl
    double rows = 0;             // Σ_jk ψ(n_jk· + s) − ψ(s)
  };

  /// One step of Minka's fixed point for w, r, U, v and s together, all from their old values. The bound Σ T ln(s m) −
  /// Σ B s that it maximises, with T shared out among the three parts of m, separates in all of them, so the objective
  /// cannot fall.
  void climb(const ConfusionPass& pass) {
    std::vector<Evidence> parts(pass.worker_blocks());
    pass.visit_counts([&](std::size_t block, std::size_t worker, const double* counts) {
      thread_local Scratch scratch;
      parts[block].tables.resize(classes_ * stride_);
      collect(worker, counts, scratch, parts[block]);
    });
    Evidence sum;
    sum.tables.assign(classes_ * stride_, 0.0);
    for (const Evidence& part : parts) {
      sum.rows += part.rows;
      sum.all += part.all;
      sum.own += part.own;
      if (part.tables.empty()) continue;
      for (std::size_t c = 0; c < sum.tables.size(); ++c) sum.tables[c] += part.tables[c];
    }
    double crowd = 0;
    for (const double t : sum.tables) crowd += t;
    crowd_share_ = (crowd + kSharePseudoCount) / (crowd + sum.own + 2 * kSharePseudoCount);
    strength_ = std::clamp((sum.all + kStrengthShape) / (sum.rows + kStrengthRate), kLeastStrength, kMostStrength);
    if (classes_ > 2) update_confusions(sum.tables);
  }

  /// Moves the strength uphill as far as the bound, with all else as it is, still rises: never past its summit, so
  /// that the objective cannot fall.
  void search_strength(const ConfusionPass& pass) {
    const Slope start = slope_of_bound(pass, strength_);
    if (std::abs(start.slope) < kCreep * start.scale) return;
    const double direction = start.slope > 0 ? 1 : -1;
    double best = math::log(strength_), best_slope = start.slope, step = math::log(2.0);
    for (int tried = 0; tried < kSearchSteps; ++tried) {
      const double next = best + direction * step;
      if (next < math::log(kLeastStrength) || next > math::log(kMostStrength)) break;
      const double slope = slope_of_bound(pass, math::exp(next)).slope;
      if (slope * direction > 0) {
        best = next;
        best_slope = slope;
      } else {
        step *= best_slope / (best_slope - slope);  // where a straight line between the two slopes is level
      }
    }
    strength_ = math::exp(best);
  }

  /// d/d ln s of the bound at another strength, and what it is made of: a plain step moves ln s by about their ratio.
  struct Slope {
    double slope = 0, scale = 0;
  };
  [[nodiscard]] Slope slope_of_bound(const ConfusionPass& pass, double strength) {
    const double kept = std::exchange(strength_, strength);
    std::vector<Evidence> parts(pass.worker_blocks());
    pass.visit_counts([&](std::size_t block, std::size_t worker, const double* counts) {
      thread_local Scratch scratch;
      add_draws(worker, counts, scratch, parts[block]);
    });
    double draws = kStrengthShape, rows = kStrengthRate;
    for (const Evidence& part : parts) {
      draws += part.all;
      rows += part.rows;
    }
    strength_ = kept;
    return {draws - strength * rows, strength * rows};
  }

  /// Of a worker's skill and favourites, up to a constant.
  [[nodiscard]] double log_prior_of(std::size_t worker) const {
    const double* const favourite = favourites_.data() + worker * stride_;
    double sum = 0;
    for (std::size_t l = 0; l < classes_; ++l) sum += log_positive(favourite[l]);
    const double w = skill_[worker];
    return options_.favourite_pseudo_count * sum + options_.right_pseudo_count * math::log(w) +
           options_.wrong_pseudo_count * math::log1p(-w);
  }

  /// What an update of one worker needs. Rows of its labels stand together: long runs fill the lanes of a vector.
  struct Scratch {
    std::vector<std::size_t> labels;  // those that the worker has given
    std::vector<double> row_total, row_digamma;
    std::vector<double> count, prior;      // labels given × stride
    std::vector<double> of_sum, of_prior;  // functions of them
  };

  /// Which labels the worker has given, and Σ_l of counts and prior for each truth. What was never said changes
  /// nothing: there ψ(n + C) = ψ(C), and no answer looks up the row. So a worker costs as much as its different labels,
  /// however many classes there are.
  void take_in(const double* counts, Scratch& scratch) const {
    scratch.labels.clear();
    scratch.row_total.assign(stride_, strength_);
    scratch.row_digamma.resize(stride_);
    for (auto* values : {&scratch.count, &scratch.prior, &scratch.of_sum, &scratch.of_prior}) {
      values->resize(classes_ * stride_);
    }
    for (std::size_t l = 0; l < classes_; ++l) {
      const double* const count = counts + l * stride_;
      double said = 0;
      for (std::size_t k = 0; k < stride_; ++k) said += count[k];
      if (said == 0) continue;
      std::copy_n(count, stride_, scratch.count.data() + scratch.labels.size() * stride_);
      scratch.labels.push_back(l);
      for (std::size_t k = 0; k < stride_; ++k) scratch.row_total[k] += count[k];
    }
  }

  /// C of one worker for one label; 1 in the padding, where counts are 0 and every difference vanishes.
  void prior_row(std::size_t worker, std::size_t label, double* row) const {
    const double right = strength_ * skill_[worker];
    const double crowd = strength_ * (1 - skill_[worker]) * crowd_share_;
    const double own = strength_ * (1 - skill_[worker]) * (1 - crowd_share_);
    const double favourite = favourites_[worker * stride_ + label];
    const double* const confusions = confusions_.data() + label * stride_;
    for (std::size_t k = 0; k < classes_; ++k) row[k] = crowd * confusions[k] + own * favourite;
    std::fill(row + classes_, row + stride_, 1.0);
    row[label] += right;
  }

  void find_prior(std::size_t worker, Scratch& scratch) const {
    for (std::size_t n = 0; n < scratch.labels.size(); ++n) {
      prior_row(worker, scratch.labels[n], scratch.prior.data() + n * stride_);
    }
  }

  /// ψ(n + C) and ψ(C) of the labels that the worker has given.
  void find_digammas(std::size_t worker, Scratch& scratch) const {
    find_prior(worker, scratch);
    const std::size_t cells = scratch.labels.size() * stride_;
    digammas_of_sums(scratch.count.data(), scratch.prior.data(), scratch.of_sum.data(), cells);
    digammas(scratch.prior.data(), scratch.of_prior.data(), cells);
  }

  /// The two sums of a worker's evidence that the strength follows from.
  void add_draws(std::size_t worker, const double* counts, Scratch& scratch, Evidence& evidence) const {
    take_in(counts, scratch);
    if (scratch.labels.empty()) return;
    const double digamma_strength = digamma_positive(strength_);
    digammas(scratch.row_total.data(), scratch.row_digamma.data(), stride_);
    for (std::size_t k = 0; k < classes_; ++k) evidence.rows += scratch.row_digamma[k] - digamma_strength;
    find_digammas(worker, scratch);
    for (std::size_t n = 0; n < scratch.labels.size(); ++n) {
      for (std::size_t c = n * stride_; c < n * stride_ + classes_; ++c) {
        evidence.all += scratch.prior[c] * (scratch.of_sum[c] - scratch.of_prior[c]);
      }
    }
  }

  /// Adds one worker's evidence and moves its skill and favourites. T = C (ψ(n + C) − ψ(C)) is shared out in proportion
  /// to the parts of C.
  void collect(std::size_t worker, const double* counts, Scratch& scratch, Evidence& evidence) {
    take_in(counts, scratch);
    if (scratch.labels.empty()) return forget(worker);
    const double digamma_strength = digamma_positive(strength_);
    digammas(scratch.row_total.data(), scratch.row_digamma.data(), stride_);
    for (std::size_t k = 0; k < classes_; ++k) evidence.rows += scratch.row_digamma[k] - digamma_strength;
    find_digammas(worker, scratch);

    double& w = skill_[worker];
    const double crowd = strength_ * (1 - w) * crowd_share_;
    const double own = strength_ * (1 - w) * (1 - crowd_share_);
    double* const favourite = favourites_.data() + worker * stride_;
    double right = 0, all = 0;
    thread_local std::vector<double> liked;
    liked.assign(classes_, options_.favourite_pseudo_count);
    for (std::size_t n = 0; n < scratch.labels.size(); ++n) {
      const std::size_t l = scratch.labels[n];
      const double* const prior = scratch.prior.data() + n * stride_;
      double* const ratio = scratch.of_sum.data() + n * stride_;  // T / C
      for (std::size_t k = 0; k < stride_; ++k) ratio[k] -= scratch.of_prior[n * stride_ + k];
      double sum = 0;
      for (std::size_t k = 0; k < classes_; ++k) {
        all += prior[k] * ratio[k];
        evidence.tables[l * stride_ + k] += crowd * confusions_[l * stride_ + k] * ratio[k];
        sum += ratio[k];
      }
      right += strength_ * w * ratio[l];
      const double said = own * favourite[l] * sum;
      evidence.own += said;
      liked[l] += said;
    }
    double total = 0;
    for (std::size_t l = 0; l < classes_; ++l) total += liked[l];
    for (std::size_t l = 0; l < classes_; ++l) favourite[l] = liked[l] / total;
    evidence.all += all;
    w = (right + options_.right_pseudo_count) / (all + options_.right_pseudo_count + options_.wrong_pseudo_count);
  }

  /// A worker of whom nothing is known is as the prior has it.
  void forget(std::size_t worker) {
    skill_[worker] = options_.right_pseudo_count / (options_.right_pseudo_count + options_.wrong_pseudo_count);
    std::fill_n(favourites_.data() + worker * stride_, classes_, 1 / static_cast<double>(classes_));
  }

  void update_confusions(const std::vector<double>& tables) {
    for (std::size_t k = 0; k < classes_; ++k) {
      double total = 0;
      for (std::size_t l = 0; l < classes_; ++l) {
        if (l != k) total += tables[l * stride_ + k] + options_.confusion_pseudo_count;
      }
      for (std::size_t l = 0; l < classes_; ++l) {
        if (l != k) confusions_[l * stride_ + k] = (tables[l * stride_ + k] + options_.confusion_pseudo_count) / total;
      }
    }
  }

  std::size_t classes_;
  std::size_t stride_;
  Options options_;
  std::size_t plain_iterations_;
  std::size_t late_steps_;
  std::size_t iteration_ = 0;
  double strength_ = kFirstStrength;  // s
  double log_gamma_strength_ = 0;
  double crowd_share_ = kFirstShare;  // r
  std::vector<double> skill_;         // w_j
  std::vector<double> confusions_;    // U_kl, labels × stride, zero on the diagonal
  std::vector<double> favourites_;    // v_jl, workers × stride
};

void parameters(ParameterVisitor& v, Options& o) {
  v.real("right_pseudo_count", o.right_pseudo_count, 1e-3, 1e9,
         "right answers added before a worker's skill is estimated");
  v.real("wrong_pseudo_count", o.wrong_pseudo_count, 1e-3, 1e9,
         "wrong answers added before a worker's skill is estimated");
  v.real("confusion_pseudo_count", o.confusion_pseudo_count, 1e-3, 1e9,
         "answers added to every pair of classes before the crowd's common confusions are estimated");
  v.real("favourite_pseudo_count", o.favourite_pseudo_count, 1e-3, 1e9,
         "answers added to every class before a worker's favourite answers are estimated");
  em_parameters(v, o.em,
                {.class_pseudo_count_help =
                     "tasks added to every class before the class prior is estimated; 0 stands for √tasks/classes, at "
                     "least 1"});
}

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "Hierarchical Dawid–Skene";
  info.summary =
      "Full confusion tables whose smoothing is learned: each worker has a skill and favourite answers, the crowd "
      "shares "
      "its confusions.";
  info.when_to_use =
      "The base of the default. Borrows strength across workers, so that it holds for two answers per worker and many "
      "classes as "
      "well as for thousands of "
      "answers each.";
  info.reference =
      "Variational Bayes for the model of Dawid and Skene with an empirical-Bayes prior (T. Minka, Estimating a "
      "Dirichlet distribution, 2000)";
  info.assumptions = "Answers are independent given the truth; workers are draws from one crowd.";
  info.cost = "time S·K + M·K² digammas per iteration; memory N·K + M·K²";
  info.uses_start = true;
  info.uses_gold = true;
  info.uses_task_priors = true;
  return CategoryMethod::of<HierarchicalDawidSkene, parameters>(std::move(info));
}

CategoryFit HierarchicalDawidSkene::fit(const CategoryData& data, const RunContext& context,
                                        const CategoryStart& start) const {
  return fit_confusion_em(data, context, options_.em, start, [&](const ConfusionPass& pass) {
    return std::make_unique<LearnedSmoothing>(pass, options_, data.answers.answer_count());
  });
}

}  // namespace wisecrowd::hierarchical_dawid_skene
