#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "aggregate/categories/shared/confusion_em.hpp"

namespace wisecrowd {

/// What models of workers in communities have in common.
struct CommunityOptions {
  EmOptions em{.max_iterations = 500, .tolerance = 1e-7, .acceleration = EmOptions::Acceleration::none};
  std::size_t communities = 0;        ///< C; 0: chosen
  std::size_t most_communities = 10;  ///< of those that are tried
  double pseudo_count = 1;            ///< eps: answers added to every cell of a community's table
  double diagonal_pseudo_count = 1;   ///< and further ones to the right answers
  double membership_prior = 1;        ///< a: workers spread over all communities beforehand
};

void community_parameters(ParameterVisitor& v, CommunityOptions& options);

/// A CrowdModel whose workers belong to communities: keeps memberships r_jc and shares tau_c, and pools counts.
class CommunityModel : public CrowdModel {
 public:
  /// `membership`: workers × communities, rows sum to 1.
  CommunityModel(const ConfusionPass& pass, const CommunityOptions& options, std::vector<double> membership);

  void finish(CategoryFit& result) const override;

 protected:
  [[nodiscard]] std::size_t communities() const noexcept { return communities_; }
  [[nodiscard]] std::size_t cells() const noexcept { return classes_ * stride_; }
  [[nodiscard]] const double* membership_of(std::size_t worker) const noexcept {
    return membership_.data() + worker * communities_;
  }
  [[nodiscard]] double* membership_of(std::size_t worker) noexcept {
    return membership_.data() + worker * communities_;
  }

  /// Σ_j of what `add(worker, counts, sums)` adds, in blocks of workers; sums are communities × labels × stride.
  [[nodiscard]] std::vector<double> pool_workers(
      const ConfusionPass& pass,
      const std::function<void(std::size_t worker, const double* counts, double* sums)>& add) const;
  /// Tables (communities × labels × stride) from pooled counts and the pseudo-counts; returns their log prior.
  double set_tables(const std::vector<double>& pooled, std::vector<double>& tables) const;
  /// tau from the memberships; returns its log prior.
  double set_shares();
  /// Turns log weights of the communities (log tau_c + evidence) into memberships, in place; returns the logarithm of
  /// their sum, which is Σ_c r_c (weight_c − ln r_c).
  static double to_membership(double* weights, std::size_t size) noexcept;

  std::size_t classes_;
  std::size_t stride_;
  std::size_t communities_;
  CommunityOptions options_;
  mutable std::vector<double> membership_;  // of one worker each: written by its own update alone
  std::vector<double> log_shares_;          // ln tau_c
};

/// Makes the model for one start. `membership` has as many columns as there are communities.
using MakeCommunityModel =
    std::function<std::unique_ptr<CommunityModel>(const ConfusionPass& pass, std::vector<double> membership)>;
/// What a solution with C communities is charged for its parameters when the number is chosen.
using CommunityPenalty = std::function<double(std::size_t communities)>;

/// Tables of single workers first (smoothed EM), then communities by k-means on these tables, then EM of the model.
[[nodiscard]] CategoryFit fit_communities(const CategoryData& data, const RunContext& context,
                                          const CategoryStart& start, const CommunityOptions& options,
                                          const MakeCommunityModel& make_model, const CommunityPenalty& penalty);

/// k-means with `restarts` starts by k-means++; points × size. Returns a group per point.
[[nodiscard]] std::vector<std::uint32_t> group_by_means(std::span<const double> points, std::size_t size,
                                                        std::size_t groups, std::size_t restarts,
                                                        const RunContext& context);

}  // namespace wisecrowd
