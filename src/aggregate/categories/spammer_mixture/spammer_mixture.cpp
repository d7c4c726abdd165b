#include "aggregate/categories/spammer_mixture/spammer_mixture.hpp"

#include <cmath>

#include "aggregate/categories/shared/bayesian_tables.hpp"
#include "aggregate/categories/shared/em_acceleration.hpp"
#include "aggregate/method.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd::spammer_mixture {
namespace {

/// Entropy of a coin.
double coin_entropy(double p) { return -(p > 0 ? p * math::log(p) : 0) - (p < 1 ? (1 - p) * math::log(1 - p) : 0); }

class HonestOrSpammer final : public BayesianTables {
 public:
  HonestOrSpammer(const ConfusionPass& pass, const Options& options)
      : BayesianTables(pass, options.diagonal_prior, options.off_diagonal_prior),
        options_(options),
        share_(options.honest_before / (options.honest_before + options.spammers_before)),
        answered_(pass.worker_count(), false),
        honest_(pass.worker_count(), share_) {}

  /// The share of honest workers, from the probabilities of the last iteration.
  double prepare(const ConfusionPass&, const RunContext&) override {
    double honest = options_.honest_before, spammers = options_.spammers_before;
    for (std::size_t j = 0; j < honest_.size(); ++j) {
      if (!answered_[j]) continue;
      honest += honest_[j];
      spammers += 1 - honest_[j];
    }
    share_ = honest / (honest + spammers);
    return options_.honest_before * math::log(share_) + options_.spammers_before * math::log1p(-share_);
  }

  double update(std::size_t worker, const double* counts, double* log_rows) const override {
    const double own_part = BayesianTables::update(worker, counts, log_rows);
    const std::size_t classes = this->classes();
    double spent = 0, answers = 0, as_spammer = 0;
    for (std::size_t l = 0; l < classes; ++l) {
      double said = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        const std::size_t c = l * stride() + k;
        spent += counts[c] * log_rows[c];
        said += counts[c];
      }
      answers += said;
      as_spammer += log_gamma(options_.spammer_prior + said) - log_gamma(options_.spammer_prior);
    }
    const double before = options_.spammer_prior * static_cast<double>(classes);
    as_spammer += log_gamma(before) - log_gamma(before + answers);
    const double as_honest = own_part + spent;
    const double log_share = math::log(share_), log_rest = math::log1p(-share_);
    const double honest = sigmoid(log_share - log_rest + as_honest - as_spammer);
    honest_[worker] = honest;
    answered_[worker] = answers > 0;
    for (std::size_t c = 0; c < classes * stride(); ++c) log_rows[c] *= honest;
    if (answers <= 0) return 0;  // says nothing, so it is no part of the crowd
    return honest * (own_part + log_share) + (1 - honest) * (as_spammer + log_rest) + coin_entropy(honest);
  }

  /// The mean over both kinds: r E th + (1 − r) E sig.
  bool estimate_table(std::size_t worker, double* counts) const override {
    const std::size_t classes = this->classes();
    std::vector<double> said(classes, options_.spammer_prior);
    for (std::size_t l = 0; l < classes; ++l) {
      for (std::size_t k = 0; k < classes; ++k) said[l] += counts[l * stride() + k];
    }
    normalise(said);
    BayesianTables::estimate_table(worker, counts);
    for (std::size_t k = 0; k < classes; ++k) {
      double row = 0;
      for (std::size_t l = 0; l < classes; ++l) row += counts[l * stride() + k];
      for (std::size_t l = 0; l < classes; ++l) {
        double& cell = counts[l * stride() + k];
        cell = honest_[worker] * cell / row + (1 - honest_[worker]) * said[l];
      }
    }
    return true;
  }

  /// Who is honest, by the last update.
  void save(std::vector<double>& state) const override {
    for (const double r : honest_) save_share(r, state);
  }
  void load(std::span<const double> state) override {
    const double* next = state.data();
    for (double& r : honest_) r = load_share(next);
  }

  void finish(CategoryFit& result) const override {
    BayesianTables::finish(result);
    result.skill = honest_;
    result.learned.emplace_back("honest_share", share_);
  }

 private:
  Options options_;
  double share_;
  // One entry per worker, written by whoever updates that worker; a vector<bool> would share words between threads.
  mutable std::vector<char> answered_;
  mutable std::vector<double> honest_;
};

void parameters(ParameterVisitor& v, Options& o) {
  v.real("diagonal_prior", o.diagonal_prior, 1e-3, 1e9,
         "Dirichlet parameter of the right answer in every row of an honest worker's table");
  v.real("off_diagonal_prior", o.off_diagonal_prior, 1e-3, 1e9, "Dirichlet parameter of each wrong answer there");
  v.real("spammer_prior", o.spammer_prior, 1e-3, 1e9, "Dirichlet parameter of each answer of a spammer");
  v.real("honest_before", o.honest_before, 1e-3, 1e12, "honest workers that are believed in beforehand");
  v.real("spammers_before", o.spammers_before, 1e-3, 1e12, "spammers that are believed in beforehand");
  em_parameters(v, o.em,
                {.least_class_pseudo_count = 1e-3,
                 .class_pseudo_count_help = "Dirichlet parameter of every class (nu0): tasks believed beforehand"});
}

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "Honest or spammer";
  info.summary = "IBCC in which every worker is honest, with a table of its own, or a spammer who does not look.";
  info.when_to_use =
      "Where some workers guess or always say the same: they lose their say by the model itself, and the skill of a "
      "worker is the probability that it is honest.";
  info.reference =
      "after V. C. Raykar and S. Yu, Eliminating spammers and ranking annotators for crowdsourced labeling tasks, 2012";
  info.assumptions =
      "Answers are independent given the truth and the kind of worker; a spammer's answers do not depend on the truth.";
  info.cost = "time S·K + M·K² digammas per iteration; memory N·K + M·K²";
  info.uses_start = true;
  info.uses_gold = true;
  info.uses_task_priors = true;
  return CategoryMethod::of<SpammerMixture, parameters>(std::move(info));
}

CategoryFit SpammerMixture::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  return fit_confusion_em(data, context, options_.em, start, [this](const ConfusionPass& pass) {
    return std::make_unique<HonestOrSpammer>(pass, options_);
  });
}

}  // namespace wisecrowd::spammer_mixture
