#pragma once

#include <span>
#include <vector>

#include "base/rng.hpp"
#include "wisecrowd/estimate.hpp"

namespace wisecrowd::fairness {

/// The middle `level` of the draws, which it reorders, around a value that always lies within.
[[nodiscard]] Estimate interval_of(double value, std::span<double> draws, double level);

/// How many of some tasks are positive, when each is with a probability of its own. Draws it in time that does not
/// depend on their number: tasks that are nearly sure are drawn together (Poisson), and so are all when there are many
/// unsure ones (normal).
class CountOfUnsure {
 public:
  void add(double probability);
  [[nodiscard]] double expected() const noexcept { return sum_; }
  /// A count between 0 and the number of tasks.
  [[nodiscard]] double draw(Rng& rng) const;

 private:
  double sum_ = 0;
  double variance_ = 0;
  double count_ = 0;
  double certain_ = 0;       // those taken as positive but for `rarely_not_`
  double rarely_ = 0;        // expected positives among those that are hardly ever positive
  double rarely_not_ = 0;    // expected negatives among those that nearly always are
  std::vector<float> open_;  // the others, as long as they are few
};

}  // namespace wisecrowd::fairness
