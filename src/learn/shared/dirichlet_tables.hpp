#pragma once

#include <span>
#include <vector>

#include "base/parameter_visitor.hpp"
#include "learn/shared/training_set.hpp"

namespace wisecrowd {

/// Worker tables of which variational Bayes keeps a Dirichlet posterior per row (A7), or one Beta per worker: its
/// accuracy, with wrong answers spread evenly over the other classes.
class DirichletTables {
 public:
  struct Options {
    bool one_coin = false;
    double right = 4;  ///< prior count of the right answer in every row
    double wrong = 1;  ///< of all wrong ones together
  };

  DirichletTables(std::size_t workers, std::size_t classes, const Options& options);

  /// Prior plus what the soft labels (tasks × classes of the set) count, for every worker.
  void update(const TrainingSet& set, std::span<const double> soft_labels);
  /// A natural-gradient step of one worker: b ← (1 − share) b + share (b0 + counts), counts truth × label.
  void move(WorkerId worker, std::span<const double> counts, double share);

  /// exp E ln th, workers × truth × label: what stands for the table when labels are inferred. Rows do not sum to 1.
  [[nodiscard]] const std::vector<double>& geometric() const noexcept { return geometric_; }
  /// b / Σ b: the posterior means.
  [[nodiscard]] const std::vector<double>& means() const noexcept { return means_; }
  /// Σ KL(posterior ‖ prior).
  [[nodiscard]] double divergence() const;

 private:
  [[nodiscard]] std::size_t width() const noexcept { return options_.one_coin ? 2 : classes_ * classes_; }
  [[nodiscard]] double prior(std::size_t cell) const noexcept;
  void refresh(std::size_t worker);

  std::size_t workers_, classes_;
  Options options_;
  std::vector<double> posterior_;  // workers × (truth × label), or × (right, wrong)
  std::vector<double> geometric_, means_;
};

void dirichlet_parameters(ParameterVisitor& v, DirichletTables::Options& options);

/// Of tables, whose numbers are positive.
[[nodiscard]] std::vector<double> log_of_tables(std::vector<double> tables);

}  // namespace wisecrowd
