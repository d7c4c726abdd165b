#include "aggregate/categories/ibcc/ibcc.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "aggregate/categories/shared/bayesian_tables.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "aggregate/method.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd::ibcc {
namespace {

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
    const double each_wrong = log_wrong - math::log(static_cast<double>(std::max<std::size_t>(classes_, 2) - 1));
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

constexpr auto kCoinNames =
    enum_names<Options::Coins>({{Options::Coins::full, "full"}, {Options::Coins::one_coin, "one_coin"}});

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("coins", o.coins, kCoinNames,
           "a confusion table per worker, or one accuracy with wrong answers spread evenly");
  v.real("diagonal_prior", o.diagonal_prior, 1e-3, 1e9,
         "Dirichlet parameter of the right answer in every row of every table: right answers that "
         "are believed beforehand");
  v.real("off_diagonal_prior", o.off_diagonal_prior, 1e-3, 1e9,
         "Dirichlet parameter of each wrong answer; for one_coin, of all wrong answers together");
  em_parameters(v, o.em,
                {.least_class_pseudo_count = 1e-3,
                 .class_pseudo_count_help = "Dirichlet parameter of every class (nu0): tasks believed beforehand"});
}

}  // namespace

CategoryMethod method() {
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
  info.uses_gold = true;
  info.uses_task_priors = true;
  return CategoryMethod::of<Ibcc, parameters>(std::move(info));
}

CategoryFit Ibcc::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  CategoryFit result = fit_confusion_em(
      data, context, options_.em, start, [this](const ConfusionPass& pass) -> std::unique_ptr<CrowdModel> {
        if (options_.coins == Options::Coins::full) {
          return std::make_unique<BayesianTables>(pass, options_.diagonal_prior, options_.off_diagonal_prior);
        }
        return std::make_unique<OneAccuracy>(pass, options_.diagonal_prior, options_.off_diagonal_prior);
      });
  if (result.class_count > 1) warn_if_one_worker_decides(data, result, context);
  return result;
}

}  // namespace wisecrowd::ibcc
