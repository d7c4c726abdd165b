#include "aggregate/categories/worker_clusters/worker_clusters.hpp"

#include <algorithm>
#include <cmath>

#include "aggregate/method.hpp"
#include "base/math.hpp"

namespace wisecrowd::worker_clusters {
namespace {

/// th_j = Ph_c for c = g_j; q(z) q(g), tables and shares at their best.
class SharedTables final : public CommunityModel {
 public:
  using CommunityModel::CommunityModel;

  double prepare(const ConfusionPass& pass, const RunContext&) override {
    const auto pooled = pool_workers(pass, [this](std::size_t worker, const double* counts, double* sums) {
      const double* const member = membership_of(worker);
      for (std::size_t c = 0; c < communities(); ++c) {
        double* const sum = sums + c * cells();
        for (std::size_t e = 0; e < cells(); ++e) sum[e] += member[c] * counts[e];
      }
    });
    const double objective = set_tables(pooled, tables_) + set_shares();
    log_tables_ = tables_;
    for (double& value : log_tables_) value = math::log(value);
    return objective;
  }

  /// The worker's part of the bound is Σ_c r_c (ln tau_c − ln r_c); what its answers say is in the E-step.
  double update(std::size_t worker, const double* counts, double* log_rows) const override {
    double* const member = membership_.data() + worker * communities_;
    double answers = 0;
    for (std::size_t c = 0; c < communities(); ++c) {
      const double* const log_table = log_tables_.data() + c * cells();
      member[c] = log_shares_[c];
      for (std::size_t l = 0; l < classes_; ++l) {
        for (std::size_t k = 0; k < classes_; ++k) member[c] += counts[l * stride_ + k] * log_table[l * stride_ + k];
      }
    }
    const double all = to_membership(member, communities());
    std::fill_n(log_rows, cells(), 0.0);
    for (std::size_t c = 0; c < communities(); ++c) {
      const double* const log_table = log_tables_.data() + c * cells();
      for (std::size_t e = 0; e < cells(); ++e) log_rows[e] += member[c] * log_table[e];
    }
    for (std::size_t l = 0; l < classes_; ++l) {
      for (std::size_t k = 0; k < classes_; ++k) answers += counts[l * stride_ + k] * log_rows[l * stride_ + k];
    }
    return all - answers;
  }

  bool estimate_table(std::size_t worker, double* counts) const override {
    std::fill_n(counts, cells(), 0.0);
    for (std::size_t c = 0; c < communities(); ++c) {
      const double share = membership_of(worker)[c];
      for (std::size_t e = 0; e < cells(); ++e) counts[e] += share * tables_[c * cells() + e];
    }
    return true;
  }

 private:
  std::vector<double> tables_, log_tables_;  // Ph, communities × labels × stride
};

void parameters(ParameterVisitor& v, Options& o) { community_parameters(v, o); }

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "Worker clusters";
  info.summary = "Workers fall into a few communities, and all members of a community share one confusion table.";
  info.when_to_use =
      "Very few answers per worker, so that tables of their own cannot be learned, and workers of a few distinct "
      "kinds. "
      "Also to see those kinds: every worker gets its community.";
  info.reference =
      "H. Imamura, I. Sato and M. Sugiyama, Analysis of minimax error rate for crowdsourcing and its application to "
      "worker clustering model, 2018";
  info.assumptions = "Members of a community answer alike; answers are independent given the truth.";
  info.cost = "time S·K + M·K²·C per iteration, for every number C of communities tried; memory N·K + M·K²";
  info.uses_start = true;
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.uses_chance = true;
  return CategoryMethod::of<WorkerClusters, parameters>(std::move(info));
}

CategoryFit WorkerClusters::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  const auto classes = static_cast<double>(data.answers.class_count());
  const double information = math::log(static_cast<double>(std::max<std::size_t>(data.answers.answer_count(), 2)));
  return fit_communities(
      data, context, start, options_,
      [this](const ConfusionPass& pass, std::vector<double> membership) {
        return std::make_unique<SharedTables>(pass, options_, std::move(membership));
      },
      // BIC: half the logarithm of the number of answers for each free parameter.
      [=](std::size_t communities) {
        const auto c = static_cast<double>(communities);
        return 0.5 * (c * classes * (classes - 1) + c - 1) * information;
      });
}

}  // namespace wisecrowd::worker_clusters
