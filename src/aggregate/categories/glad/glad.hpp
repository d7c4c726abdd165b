#pragma once

#include <span>

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::glad {

struct Options {
  enum class ClassPrior { uniform, learned };

  double ability_mean = 1;
  double ability_variance = 1;
  double easiness_mean = 1;      ///< of log easiness
  double easiness_variance = 1;  ///< 0: all tasks alike, easiness exp(easiness_mean)
  ClassPrior class_prior = ClassPrior::uniform;
  std::size_t max_iterations = 100;
  double tolerance = 1e-5;
  std::size_t newton_steps = 3;
  TieRule ties = TieRule::lowest;
};

/// P(answer right) = sigmoid(ability of the worker × easiness of the task).
class Glad final : public CategoryAggregator {
 public:
  explicit Glad(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

/// One coordinate of the M-step: Σ_e [c_e u_e − log(1 + exp u_e)] − (x − mean)²/(2 variance), which is the expected log
/// likelihood up to a constant, with u_e = x·factor_e for an ability and u_e = factor_e·exp(x) for a log easiness.
struct Coordinate {
  bool is_easiness = false;
  double mean = 1;
  double variance = 1;
};
struct Slope {
  double value = 0;
  double first = 0;      ///< first derivative
  double curvature = 0;  ///< minus the second derivative, or a positive bound of it
};
[[nodiscard]] Slope slope(const Coordinate& coordinate, double x, std::span<const double> right_chance,
                          std::span<const double> factor);

}  // namespace wisecrowd::glad
