#include "aggregate/categories/mace/mace.hpp"

#include <algorithm>
#include <cmath>

#include "aggregate/categories/shared/em_acceleration.hpp"
#include "aggregate/method.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd::mace {
namespace {

constexpr double kFirstTrust = 0.5;

/// th_j[k][l] = t_j 1[k = l] + (1 − t_j) xi_j[l]. Whether an answer was a guess is a second latent variable; given the
/// truth k, only answers l = k can be anything else, knowing with probability g_jl = t_j / (t_j + (1 − t_j) xi_j[l]).
/// So all that an update needs from the counts are two sums per worker and label.
class KnowOrGuess final : public CrowdModel {
 public:
  KnowOrGuess(const ConfusionPass& pass, const Options& options)
      : classes_(pass.class_count()),
        stride_(pass.stride()),
        bayes_(options.inference == Options::Inference::variational),
        own_guesses_(options.guesses == Options::Guesses::own && classes_ > 1),
        know_(pass.worker_count() * classes_, kFirstTrust / (kFirstTrust + (1 - kFirstTrust) / classes())),
        trust_(pass.worker_count(), kFirstTrust),
        guesses_(own_guesses_ ? pass.worker_count() * classes_ : 0) {
    const double smoothing = options.pseudo_count > 0 ? options.pseudo_count : 0.1 / classes();
    trust_prior_ = bayes_ ? options.trust_prior : smoothing;
    guess_prior_ = bayes_ ? options.guess_prior / classes() : smoothing;
    if (bayes_) {
      prior_constant_ = log_gamma(2 * trust_prior_) - 2 * log_gamma(trust_prior_);
      if (own_guesses_) prior_constant_ += log_gamma(classes() * guess_prior_) - classes() * log_gamma(guess_prior_);
    }
  }

  double update(std::size_t worker, const double* counts, double* log_rows) const override {
    double* const know = know_.data() + worker * classes_;
    thread_local std::vector<double> guessed, guess_log;
    guessed.resize(classes_);
    guess_log.assign(classes_, -math::log(classes()));
    double known = 0, guesses = 0;
    for (std::size_t l = 0; l < classes_; ++l) {
      double all = 0;
      for (std::size_t k = 0; k < classes_; ++k) all += counts[l * stride_ + k];
      const double right = counts[l * stride_ + l] * know[l];
      known += right;
      guessed[l] = std::max(all - right, 0.0);
      guesses += guessed[l];
    }
    const Logs logs = bayes_ ? expected_logs(worker, known, guessed, guesses, guess_log)
                             : best_logs(worker, known, guessed, guesses, guess_log);
    // Rows for the E-step, and g for the next update.
    for (std::size_t l = 0; l < classes_; ++l) {
      const double guess = logs.guess + guess_log[l];
      const double top = std::max(logs.know, guess);
      const double right = top + math::log(math::exp(logs.know - top) + math::exp(guess - top));
      for (std::size_t k = 0; k < stride_; ++k) log_rows[l * stride_ + k] = k == l ? right : guess;
      know[l] = math::exp(logs.know - right);
    }
    return logs.objective;
  }

  /// The table at the estimated t and xi. (For VB the E-step's own rows do not sum to 1.)
  bool estimate_table(std::size_t worker, double* counts) const override {
    const double t = trust_[worker];
    for (std::size_t l = 0; l < classes_; ++l) {
      const double guess = (1 - t) * (own_guesses_ ? guesses_[worker * classes_ + l] : 1 / classes());
      for (std::size_t k = 0; k < stride_; ++k) counts[l * stride_ + k] = k == l ? t + guess : guess;
    }
    return true;
  }

  /// g of the last update, which the next one starts from.
  void save(std::vector<double>& state) const override {
    for (const double g : know_) save_share(g, state);
  }
  void load(std::span<const double> state) override {
    const double* next = state.data();
    for (double& g : know_) g = load_share(next);
  }

  void finish(CategoryFit& result) const override {
    result.skill = trust_;
    if (!bayes_) return;
    result.objective_name = "evidence lower bound";
    result.has_log_likelihood = false;
    result.log_likelihood = 0;
  }

 private:
  struct Logs {
    double know;   // log t, or its expectation
    double guess;  // log (1 − t)
    double objective;
  };

  [[nodiscard]] double classes() const { return static_cast<double>(classes_); }

  /// EM: t and xi at the mode of their posterior; the objective gets their log priors.
  Logs best_logs(std::size_t worker, double known, const std::vector<double>& guessed, double guesses,
                 std::vector<double>& guess_log) const {
    const double knowing = std::max(known + trust_prior_, kProbabilityFloor);
    const double guessing = std::max(guesses + trust_prior_, kProbabilityFloor);
    trust_[worker] = knowing / (knowing + guessing);
    Logs logs{math::log(trust_[worker]), math::log(guessing / (knowing + guessing)), 0};
    logs.objective = trust_prior_ * (logs.know + logs.guess);
    if (own_guesses_) {
      double* const habit = guesses_.data() + worker * classes_;
      const double total = guesses + classes() * guess_prior_;
      for (std::size_t l = 0; l < classes_; ++l) {
        habit[l] = (guessed[l] + guess_prior_) / total;
        guess_log[l] = math::log(habit[l]);
        logs.objective += guess_prior_ * guess_log[l];
      }
    }
    return logs;
  }

  /// VB: t ~ Beta, xi ~ Dirichlet; the objective gets minus their divergence from the priors.
  Logs expected_logs(std::size_t worker, double known, const std::vector<double>& guessed, double guesses,
                     std::vector<double>& guess_log) const {
    const double a = known + trust_prior_, b = guesses + trust_prior_;
    const double base = digamma_positive(a + b);
    Logs logs{digamma_positive(a) - base, digamma_positive(b) - base, prior_constant_};
    trust_[worker] = a / (a + b);
    logs.objective += log_gamma_positive(a) + log_gamma_positive(b) - log_gamma_positive(a + b) - known * logs.know -
                      guesses * logs.guess;
    if (own_guesses_) {
      double* const habit = guesses_.data() + worker * classes_;
      const double total = guesses + classes() * guess_prior_;
      const double guess_base = digamma_positive(total);
      logs.objective -= log_gamma_positive(total);
      for (std::size_t l = 0; l < classes_; ++l) {
        const double mass = guessed[l] + guess_prior_;
        habit[l] = mass / total;
        guess_log[l] = digamma_positive(mass) - guess_base;
        logs.objective += log_gamma_positive(mass) - guessed[l] * guess_log[l];
      }
    }
    return logs;
  }

  std::size_t classes_;
  std::size_t stride_;
  bool bayes_;
  bool own_guesses_;
  double trust_prior_ = 0;
  double guess_prior_ = 0;
  double prior_constant_ = 0;
  // Of one worker each: written by its own update alone.
  mutable std::vector<double> know_;     // g_jl, workers × labels
  mutable std::vector<double> trust_;    // t_j
  mutable std::vector<double> guesses_;  // xi_j, workers × labels
};

constexpr auto kInferenceNames =
    enum_names<Options::Inference>({{Options::Inference::variational, "variational"}, {Options::Inference::em, "em"}});
constexpr auto kGuessNames =
    enum_names<Options::Guesses>({{Options::Guesses::own, "own"}, {Options::Guesses::uniform, "uniform"}});

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("inference", o.inference, kInferenceNames,
           "variational Bayes with priors on trust and habits, or EM with smoothed counts");
  v.choice("guesses", o.guesses, kGuessNames,
           "what a worker draws from when not knowing: a distribution of its own, or all classes "
           "evenly");
  v.real("pseudo_count", o.pseudo_count, 0, 1e9,
         "EM: answers added to every count of knowing, guessing and each guessed class; 0 stands for "
         "0.1/classes");
  v.real("trust_prior", o.trust_prior, 1e-3, 1e9,
         "variational: both parameters of the Beta prior of trust; below 1 it favours workers who "
         "are wholly honest or wholly spammers");
  v.real("guess_prior", o.guess_prior, 1e-3, 1e9,
         "variational: Dirichlet mass of a worker's habit, split evenly over the classes");
  em_parameters(v, o.em);
}

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "MACE";
  info.summary =
      "A worker either knows the truth or ignores the task and answers by habit; finds how far each can be trusted.";
  info.when_to_use =
      "Crowds with spammers who click the same or anything, and workers with too few answers for full confusion "
      "tables. The trust of a worker reads as a probability.";
  info.reference = "D. Hovy, T. Berg-Kirkpatrick, A. Vaswani and E. Hovy, Learning whom to trust with MACE, 2013";
  info.assumptions =
      "A worker who does not know answers regardless of the truth: errors do not depend on the class. Answers are "
      "independent given the truth.";
  info.cost = "time S·K + M·K² per iteration; memory N·K + M·K²";
  info.uses_start = true;
  info.uses_gold = true;
  info.uses_task_priors = true;
  return CategoryMethod::of<Mace, parameters>(std::move(info));
}

CategoryFit Mace::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  return fit_confusion_em(data, context, options_.em, start,
                          [this](const ConfusionPass& pass) { return std::make_unique<KnowOrGuess>(pass, options_); });
}

}  // namespace wisecrowd::mace
