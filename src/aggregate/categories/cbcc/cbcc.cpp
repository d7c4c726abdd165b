#include "aggregate/categories/cbcc/cbcc.hpp"

#include <algorithm>
#include <cmath>

#include "aggregate/method.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd::cbcc {
namespace {

/// Memberships below this take no part in the expensive sums.
constexpr double kNegligible = 1e-10;

/// th_j[k] | g_j = c ~ Dirichlet(kappa Ph_ck); q(z) Π_j q(g_j) q(th_j | g_j), tables Ph and shares at their best.
class ScatteredTables final : public CommunityModel {
 public:
  ScatteredTables(const ConfusionPass& pass, const Options& options, std::vector<double> membership)
      : CommunityModel(pass, options.community, std::move(membership)), strength_(options.strength) {}

  /// One step of Minka's fixed point for Ph, a minorise–maximise step: with T = kappa Ph (ψ(kappa Ph + n) − ψ(kappa
  /// Ph)), Ph_ckl ∝ eps + Σ_j r_jc T_jckl. The first tables are the pooled counts.
  double prepare(const ConfusionPass& pass, const RunContext&) override {
    const bool first = tables_.empty();
    const auto pooled = pool_workers(pass, [&](std::size_t worker, const double* counts, double* sums) {
      const double* const member = membership_of(worker);
      for (std::size_t c = 0; c < communities(); ++c) {
        if (member[c] < kNegligible) continue;
        double* const sum = sums + c * cells();
        const double* const prior = prior_.data() + c * cells();
        const double* const digammas = prior_digamma_.data() + c * cells();
        if (first) {
          for (std::size_t e = 0; e < cells(); ++e) sum[e] += member[c] * counts[e];
        } else {
#pragma omp simd
          for (std::size_t e = 0; e < cells(); ++e) {
            sum[e] += member[c] * prior[e] * (digamma_positive(counts[e] + prior[e]) - digammas[e]);
          }
        }
      }
    });
    const double objective = set_tables(pooled, tables_) + set_shares();
    prior_ = tables_;
    for (double& value : prior_) value *= strength_;
    prior_digamma_ = prior_;
    for (double& value : prior_digamma_) value = digamma_positive(value);
    prior_log_beta_.assign(communities(), 0.0);
    for (std::size_t c = 0; c < communities(); ++c) {
      for (std::size_t l = 0; l < classes_; ++l) {
        for (std::size_t k = 0; k < classes_; ++k) {
          prior_log_beta_[c] += log_gamma_positive(prior_[c * cells() + l * stride_ + k]);
        }
      }
      prior_log_beta_[c] -= static_cast<double>(classes_) * log_gamma_positive(strength_);
    }
    return objective;
  }

  /// Membership by the evidence Σ_k [ln B(kappa Ph_ck + n_k) − ln B(kappa Ph_ck)], rows as expected logarithms under
  /// the mixture of Dirichlets. Part of the bound: Σ_c r_c (ln tau_c + evidence_c − ln r_c) − Σ n · rows.
  double update(std::size_t worker, const double* counts, double* log_rows) const override {
    thread_local std::vector<double> digammas, smooth, product, totals, merged;
    digammas.resize(communities() * cells());
    smooth.resize(cells());
    product.resize(cells());
    merged.resize(stride_);
    totals.assign(stride_, strength_);
    for (std::size_t l = 0; l < classes_; ++l) {
      for (std::size_t k = 0; k < stride_; ++k) totals[k] += counts[l * stride_ + k];
    }
    double of_totals = 0;
    for (std::size_t k = 0; k < stride_; ++k) {
      const GammaPair pair = gamma_pair(totals[k]);
      totals[k] = pair.digamma;
      if (k < classes_) of_totals += pair.smooth - log_positive(pair.product);
    }
    double* const member = membership_.data() + worker * communities_;
    for (std::size_t c = 0; c < communities(); ++c) {
      const double* const prior = prior_.data() + c * cells();
      double* const digamma_of = digammas.data() + c * cells();
      double* const smooth_part = smooth.data();
      double* const products = product.data();
#pragma omp simd
      for (std::size_t e = 0; e < cells(); ++e) {
        const GammaPair pair = gamma_pair(counts[e] + prior[e]);
        digamma_of[e] = pair.digamma;
        smooth_part[e] = pair.smooth;
        products[e] = pair.product;
      }
      double evidence = -prior_log_beta_[c] - of_totals;
      for (std::size_t first = 0; first < classes_; first += kProductsPerLogarithm) {
        std::fill(merged.begin(), merged.end(), 1.0);
        for (std::size_t l = first; l < std::min(first + kProductsPerLogarithm, classes_); ++l) {
          for (std::size_t k = 0; k < stride_; ++k) merged[k] *= products[l * stride_ + k];
        }
        for (std::size_t k = 0; k < classes_; ++k) evidence -= log_positive(merged[k]);
      }
      for (std::size_t l = 0; l < classes_; ++l) {
        for (std::size_t k = 0; k < classes_; ++k) evidence += smooth_part[l * stride_ + k];
      }
      member[c] = log_shares_[c] + evidence;
    }
    double objective = to_membership(member, communities());
    std::fill_n(log_rows, cells(), 0.0);
    for (std::size_t c = 0; c < communities(); ++c) {
      const double* const digamma_of = digammas.data() + c * cells();
      for (std::size_t e = 0; e < cells(); ++e) log_rows[e] += member[c] * digamma_of[e];
    }
    for (std::size_t l = 0; l < classes_; ++l) {
      for (std::size_t k = 0; k < stride_; ++k) log_rows[l * stride_ + k] -= totals[k];
      for (std::size_t k = 0; k < classes_; ++k) objective -= counts[l * stride_ + k] * log_rows[l * stride_ + k];
    }
    return objective;
  }

  /// The posterior mean Σ_c r_c (kappa Ph_c + n) / (kappa + n·).
  bool estimate_table(std::size_t worker, double* counts) const override {
    for (std::size_t c = 0; c < communities(); ++c) {
      const double share = membership_of(worker)[c];
      for (std::size_t e = 0; e < cells(); ++e) counts[e] += share * prior_[c * cells() + e];
    }
    return true;  // rows are normalised by the caller
  }

 private:
  double strength_;
  std::vector<double> tables_;  // Ph, communities × labels × stride
  std::vector<double> prior_, prior_digamma_;
  std::vector<double> prior_log_beta_;
};

void parameters(ParameterVisitor& v, Options& o) {
  v.real("strength", o.strength, 1e-2, 1e6,
         "how closely workers follow their community: a worker with this many answers on a class is half its own");
  community_parameters(v, o.community);
}

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "Community-based Bayesian combination (cBCC)";
  info.summary = "Workers belong to communities and have tables of their own that scatter around the community's.";
  info.when_to_use =
      "Few answers per worker and several kinds of workers: those with little evidence lean on their community, those "
      "with much go their own way. Every worker gets its community.";
  info.reference =
      "M. Venanzi, J. Guiver, G. Kazai, P. Kohli and M. Shokouhi, Community-based Bayesian aggregation models for "
      "crowdsourcing, 2014";
  info.assumptions = "Workers are draws from a few communities; answers are independent given the truth.";
  info.cost = "time S·K + M·K²·C digammas per iteration, for every number C of communities tried; memory N·K + M·K²";
  info.uses_start = true;
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.uses_chance = true;
  return CategoryMethod::of<Cbcc, parameters>(std::move(info));
}

CategoryFit Cbcc::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  const auto classes = static_cast<double>(data.answers.class_count());
  const double information = math::log(static_cast<double>(std::max<std::size_t>(data.answers.worker_count(), 2)));
  return fit_communities(
      data, context, start, options_.community,
      [this](const ConfusionPass& pass, std::vector<double> membership) {
        return std::make_unique<ScatteredTables>(pass, options_, std::move(membership));
      },
      // Tables of workers are integrated out; those of communities are estimated from as many draws as there are
      // workers.
      [=](std::size_t communities) {
        const auto c = static_cast<double>(communities);
        return 0.5 * (c * classes * (classes - 1) + c - 1) * information;
      });
}

}  // namespace wisecrowd::cbcc
