#include "aggregate/categories/ibcc/ibcc.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "aggregate/categories/shared/votes.hpp"
#include "base/numeric.hpp"

namespace wisecrowd::ibcc {
namespace {

/// What both worker models share: π ~ Dirichlet(ν0).
class BayesianModel : public CrowdModel {
 public:
  double update_class_prior(const ConfusionPass::Sums& sums, const EmOptions& options, std::vector<double>& prior,
                            std::vector<double>& log_prior) const override {
    if (options.class_prior == EmOptions::ClassPrior::uniform) {
      return CrowdModel::update_class_prior(sums, options, prior, log_prior);
    }
    const double pseudo = options.class_pseudo_count;
    const auto classes = static_cast<double>(prior.size());
    const double total = sums.answered_tasks + pseudo * classes;
    double objective = log_gamma(pseudo * classes) - log_gamma(total);
    for (std::size_t k = 0; k < prior.size(); ++k) {
      const double mass = sums.class_mass[k] + pseudo;
      prior[k] = mass / total;
      log_prior[k] = digamma(mass) - digamma(total);
      objective += log_gamma(mass) - log_gamma(pseudo) - sums.class_mass[k] * log_prior[k];
    }
    return objective;
  }

  void finish(CategoryFit& result) const override {
    result.objective_name = "evidence lower bound";
    // The E-step works with exp(E ln th), whose rows do not sum to 1: its sums are no likelihood.
    result.has_log_likelihood = false;
    result.log_likelihood = 0;
  }
};

/// th_j[k] ~ Dirichlet(b0_k), the same prior for every worker.
class FullTables final : public BayesianModel {
 public:
  FullTables(const ConfusionPass& pass, double diagonal, double off_diagonal)
      : classes_(pass.class_count()),
        stride_(pass.stride()),
        row_prior_(diagonal + off_diagonal * static_cast<double>(classes_ - 1)),
        prior_(classes_ * stride_, off_diagonal) {
    for (std::size_t l = 0; l < classes_; ++l) {
      prior_[l * stride_ + l] = diagonal;
      // Padding is never read, but must be a possible argument.
      for (std::size_t k = classes_; k < stride_; ++k) prior_[l * stride_ + k] = 1;
    }
    const auto rows = static_cast<double>(classes_);
    prior_log_beta_ =
        rows * (log_gamma(diagonal) + (rows - 1) * log_gamma(off_diagonal)) - rows * log_gamma(row_prior_);
  }

  /// Expected logarithms under the posterior b = n + b0; the worker's part of the bound is
  /// Σ_k [ln B(b_k) − ln B(b0_k) − Σ_l n_kl E ln th_kl].
  double update(std::size_t, const double* counts, double* log_rows) const override {
    const std::size_t cells = classes_ * stride_;
    thread_local std::vector<double> smooth, product, totals, merged;
    smooth.resize(cells);
    product.resize(cells);
    totals.assign(stride_, row_prior_);
    merged.resize(stride_);
    double* const smooth_part = smooth.data();
    double* const products = product.data();
#pragma omp simd
    for (std::size_t c = 0; c < cells; ++c) {
      const GammaPair pair = gamma_pair(counts[c] + prior_[c]);
      log_rows[c] = pair.digamma;
      smooth_part[c] = pair.smooth;
      products[c] = pair.product;
    }
    double objective = -prior_log_beta_;
    for (std::size_t first = 0; first < classes_; first += kProductsPerLogarithm) {
      std::fill(merged.begin(), merged.end(), 1.0);
      for (std::size_t l = first; l < std::min(first + kProductsPerLogarithm, classes_); ++l) {
        for (std::size_t k = 0; k < stride_; ++k) merged[k] *= products[l * stride_ + k];
      }
#pragma omp simd
      for (std::size_t k = 0; k < stride_; ++k) merged[k] = log_positive(merged[k]);
      for (std::size_t k = 0; k < classes_; ++k) objective -= merged[k];
    }
    for (std::size_t l = 0; l < classes_; ++l) {
      for (std::size_t k = 0; k < stride_; ++k) totals[k] += counts[l * stride_ + k];
    }
    for (std::size_t k = 0; k < stride_; ++k) {
      const GammaPair pair = gamma_pair(totals[k]);
      totals[k] = pair.digamma;
      if (k < classes_) objective -= pair.smooth - log_positive(pair.product);
    }
    for (std::size_t l = 0; l < classes_; ++l) {
      double* const row = log_rows + l * stride_;
      double part = 0;
      for (std::size_t k = 0; k < stride_; ++k) row[k] -= totals[k];
#pragma omp simd reduction(+ : part)
      for (std::size_t k = 0; k < classes_; ++k)
        part += smooth_part[l * stride_ + k] - counts[l * stride_ + k] * row[k];
      objective += part;
    }
    return objective;
  }

  /// The posterior mean b / Σ b.
  bool estimate_table(std::size_t, double* counts) const override {
    for (std::size_t c = 0; c < prior_.size(); ++c) counts[c] += prior_[c];
    return true;
  }

 private:
  std::size_t classes_;
  std::size_t stride_;
  double row_prior_;
  std::vector<double> prior_;  // b0, labels × stride
  double prior_log_beta_ = 0;  // Σ_k ln B(b0_k)
};

/// One accuracy w_j ~ Beta(a1, a2) per worker: counts of all classes are pooled.
class OneAccuracy final : public BayesianModel {
 public:
  OneAccuracy(const ConfusionPass& pass, double right, double wrong)
      : classes_(pass.class_count()), stride_(pass.stride()), right_(right), wrong_(wrong) {}

  double update(std::size_t, const double* counts, double* log_rows) const override {
    const auto [right, wrong] = pooled(counts);
    const double a = right + right_, b = wrong + wrong_;
    const double base = digamma(a + b);
    const double log_right = digamma(a) - base, log_wrong = digamma(b) - base;
    const double each_wrong = log_wrong - std::log(static_cast<double>(std::max<std::size_t>(classes_, 2) - 1));
    for (std::size_t l = 0; l < classes_; ++l) {
      for (std::size_t k = 0; k < stride_; ++k) log_rows[l * stride_ + k] = k == l ? log_right : each_wrong;
    }
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b) -
           (log_gamma(right_) + log_gamma(wrong_) - log_gamma(right_ + wrong_)) - right * log_right - wrong * log_wrong;
  }

  bool estimate_table(std::size_t, double* counts) const override {
    const auto [right, wrong] = pooled(counts);
    const double accuracy = (right + right_) / (right + right_ + wrong + wrong_);
    const double each_wrong = (1 - accuracy) / static_cast<double>(std::max<std::size_t>(classes_, 2) - 1);
    for (std::size_t l = 0; l < classes_; ++l) {
      for (std::size_t k = 0; k < stride_; ++k) counts[l * stride_ + k] = k == l ? accuracy : each_wrong;
    }
    return true;
  }

  void finish(CategoryFit& result) const override {
    BayesianModel::finish(result);
    result.skill.resize(result.worker_count);  // the diagonal is the same in every row
    for (std::size_t w = 0; w < result.skill.size(); ++w) result.skill[w] = result.confusion[w * classes_ * classes_];
  }

 private:
  [[nodiscard]] std::pair<double, double> pooled(const double* counts) const {
    double right = 0, all = 0;
    for (std::size_t l = 0; l < classes_; ++l) {
      right += counts[l * stride_ + l];
      for (std::size_t k = 0; k < classes_; ++k) all += counts[l * stride_ + k];
    }
    return {right, std::max(all - right, 0.0)};
  }

  std::size_t classes_;
  std::size_t stride_;
  double right_;
  double wrong_;
};

// The known failure of mean field: a worker who answered very many tasks is taken for an expert, and the solution
// becomes a copy of this worker's answers. Then a function of those answers predicts the labels nearly perfectly, while
// it has little to do with what the others say.
constexpr double kHeavyShare = 0.25;  // of the tasks
constexpr std::size_t kFewestTasks = 20;
constexpr double kDecides = 0.98;
constexpr double kAgreement = 0.1;  // beyond chance, as a share of what is possible

void warn_if_one_worker_decides(const CategoryData& data, CategoryFit& result, const RunContext& context) {
  const CategoryAnswers& answers = data.answers;
  const std::size_t classes = result.class_count;
  std::vector<std::uint32_t> degree(result.worker_count, 0);
  for (const WorkerId w : answers.workers()) ++degree[index(w)];
  const auto least = std::max<double>(kFewestTasks, kHeavyShare * static_cast<double>(result.task_count));
  std::vector<std::uint32_t> place(result.worker_count, 0);  // 0: not heavy
  std::vector<std::size_t> heavy;
  for (std::size_t w = 0; w < degree.size(); ++w) {
    if (degree[w] < least) continue;
    heavy.push_back(w);
    place[w] = static_cast<std::uint32_t>(heavy.size());
  }
  // Few can be heavy, but their tables must not grow with many classes.
  if (heavy.empty() || heavy.size() * classes * classes > (std::size_t{1} << 24)) return;
  const std::size_t cells = classes * classes;
  std::vector<double> with_result(heavy.size() * cells, 0.0), with_others(with_result);
  std::vector<double> votes(classes);
  const auto labels = hard_labels(result.posterior, classes, TieRule::lowest, context);
  for (std::size_t t = 0; t < result.task_count; ++t) {
    const auto task = TaskId{static_cast<std::uint32_t>(t)};
    const auto workers = answers.workers_of(task);
    const auto given = answers.labels_of(task);
    if (workers.size() < 3) continue;  // the vote of the others needs two of them
    std::fill(votes.begin(), votes.end(), 0.0);
    for (const ClassId l : given) ++votes[index(l)];
    for (std::size_t a = 0; a < workers.size(); ++a) {
      if (place[index(workers[a])] == 0) continue;
      const std::size_t at = (place[index(workers[a])] - 1) * cells + index(given[a]) * classes;
      with_result[at + index(labels[t])] += 1;
      const double others = static_cast<double>(workers.size()) - 1;
      for (std::size_t k = 0; k < classes; ++k) {
        with_others[at + k] += (votes[k] - (k == index(given[a]) ? 1 : 0)) / others;
      }
    }
  }
  for (std::size_t h = 0; h < heavy.size(); ++h) {
    double tasks = 0, own = 0, others = 0;
    for (std::size_t l = 0; l < classes; ++l) {
      const double* const row = with_result.data() + h * cells + l * classes;
      for (std::size_t k = 0; k < classes; ++k) tasks += row[k];
      const auto best = static_cast<std::size_t>(std::max_element(row, row + classes) - row);
      own += row[best];
      others += with_others[h * cells + l * classes + best];
    }
    if (tasks < kFewestTasks || own < kDecides * tasks) continue;
    std::vector<double> share(classes, 0.0);
    for (std::size_t l = 0; l < classes; ++l) {
      for (std::size_t k = 0; k < classes; ++k) share[k] += with_others[h * cells + l * classes + k];
    }
    // What the others would agree with a worker who always says the same.
    const double chance = *std::max_element(share.begin(), share.end());
    if (others > chance + kAgreement * (tasks - chance)) continue;
    result.warnings.push_back(
        {"one_worker_decides",
         fmt::format("the result follows the answers of worker '{}' in {:.0f} % of its tasks, though the others hardly "
                     "agree with them: mean field is known to take a prolific spammer for an expert.",
                     answers.worker_names()[heavy[h]], 100 * own / tasks),
         "Compare with majority_vote, or leave this worker out.", Severity::serious});
  }
}

}  // namespace

MethodInfo info() {
  const Options defaults;
  MethodInfo info;
  info.title = "IBCC (variational Bayes)";
  info.summary = "Dawid–Skene with fixed Dirichlet priors, solved by mean-field variational Bayes.";
  info.when_to_use =
      "A robust standard with full confusion tables: the prior that workers are mostly right steadies tables with few "
      "answers. Where its strength is in doubt, hierarchical_dawid_skene learns it.";
  info.reference =
      "H.-C. Kim and Z. Ghahramani, Bayesian classifier combination, 2012; E. Simpson et al., Dynamic Bayesian "
      "combination of multiple imperfect classifiers, 2013";
  info.assumptions =
      "Answers are independent given the truth; workers are as good as the prior says until they prove otherwise.";
  info.cost = "time S·K + M·K² digammas per iteration; memory N·K + M·K²";
  info.uses_start = true;
  info.parameters = {
      ParameterSpec::choice("coins", "full", {"full", "one_coin"},
                            "a confusion table per worker, or one accuracy with wrong answers spread evenly"),
      ParameterSpec::real("diagonal_prior", defaults.diagonal_prior, 1e-3, 1e9,
                          "Dirichlet parameter of the right answer in every row of every table: right answers that "
                          "are believed beforehand"),
      ParameterSpec::real("off_diagonal_prior", defaults.off_diagonal_prior, 1e-3, 1e9,
                          "Dirichlet parameter of each wrong answer; for one_coin, of all wrong answers together"),
  };
  for (auto& parameter : em_parameters(defaults.em)) {
    if (parameter.name == "class_pseudo_count") {
      parameter.minimum = 1e-3;
      parameter.help = "Dirichlet parameter of every class (nu0): tasks believed beforehand";
    }
    info.parameters.push_back(std::move(parameter));
  }
  info.uses_gold = true;
  info.uses_task_priors = true;
  return info;
}

std::unique_ptr<CategoryAggregator> make(const Parameters& parameters) {
  return std::make_unique<Ibcc>(
      Options{.em = em_options_from(parameters),
              .coins = parameters.choice("coins") == "full" ? Options::Coins::full : Options::Coins::one_coin,
              .diagonal_prior = parameters.real("diagonal_prior"),
              .off_diagonal_prior = parameters.real("off_diagonal_prior")});
}

CategoryFit Ibcc::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  CategoryFit result = fit_confusion_em(
      data, context, options_.em, start, [this](const ConfusionPass& pass) -> std::unique_ptr<CrowdModel> {
        if (options_.coins == Options::Coins::full) {
          return std::make_unique<FullTables>(pass, options_.diagonal_prior, options_.off_diagonal_prior);
        }
        return std::make_unique<OneAccuracy>(pass, options_.diagonal_prior, options_.off_diagonal_prior);
      });
  if (result.class_count > 1) warn_if_one_worker_decides(data, result, context);
  return result;
}

}  // namespace wisecrowd::ibcc
