#pragma once

#include <vector>

#include "aggregate/sets/shared/relevance.hpp"

namespace wisecrowd::sets {

/// Rates of workers with classes (sensitivities, or specificities) that are alike over the classes of a worker and over
/// the workers of a class: rate_jk ~ Beta(κ m_jk, κ (1 − m_jk)) with logit m_jk = u_j + v_k, u_j ~ N(u, 1) and
/// v_k ~ N(0, 1). How alike they are, κ, is learned.
class RateHierarchy {
 public:
  RateHierarchy(std::size_t workers, std::size_t classes);

  /// Expected numbers of right and wrong answers, workers × classes.
  std::vector<double> right, wrong;
  std::vector<double> worker_effect;  ///< u_j
  std::vector<double> class_effect;   ///< v_k

  /// Takes the pooled rate for all; before the first climb.
  void start();
  /// One step upwards for u, v and κ, each of which is taken only if the marginal likelihood of right and wrong answers
  /// gains. Returns the log prior of u and v.
  double climb(const RunContext& context);
  [[nodiscard]] double log_prior() const;
  /// What it climbs: the marginal likelihood of right and wrong answers, and the log prior.
  [[nodiscard]] double objective(const RunContext& context) const { return total(strength_, context) + log_prior(); }

  // The Beta prior of a cell.
  [[nodiscard]] double strength() const noexcept { return strength_; }
  [[nodiscard]] double above(std::size_t worker, std::size_t label) const noexcept;
  [[nodiscard]] double below(std::size_t worker, std::size_t label) const noexcept;

 private:
  struct Slope {
    double value = 0, first = 0, second = 0;
  };
  /// Marginal log likelihood of a cell, and its derivatives with respect to logit m.
  void add_cell(double center, std::size_t cell, bool with_slopes, Slope& sum) const;
  [[nodiscard]] Slope of_worker(std::size_t worker, double effect, bool with_slopes) const;
  void climb_worker(std::size_t worker);
  void climb_classes(const RunContext& context);
  void climb_strength(const RunContext& context);
  [[nodiscard]] double total(double strength, const RunContext& context) const;

  std::size_t workers_, classes_;
  double center_ = 0;               // u
  std::vector<double> class_step_;  // how far along Newton's step a class is tried
  double strength_ = 4;             // κ
  double strength_step_ = 0.5;      // of its logarithm
};

/// Workers whose sensitivities are alike, and whose specificities are: variational Bayes with learned hyperparameters.
class HierarchicalWorkers final : public WorkerModel {
 public:
  HierarchicalWorkers(std::size_t workers, std::size_t classes);
  double prepare(const Counts& counts, const RunContext& context) override;
  double update(const Counts& counts, std::size_t worker, LogRow& logs) const override;
  void estimate(const Counts& counts, std::size_t worker, double* sensitivity, double* specificity) const override;
  void finish(SetFit& fit) const override;
  [[nodiscard]] const RateHierarchy& sensitivity() const noexcept { return sensitivity_; }
  [[nodiscard]] const RateHierarchy& specificity() const noexcept { return specificity_; }

 private:
  std::size_t classes_;
  RateHierarchy sensitivity_, specificity_;
  bool started_ = false;
};

}  // namespace wisecrowd::sets
