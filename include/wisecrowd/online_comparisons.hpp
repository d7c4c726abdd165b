#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/comparison_data.hpp"
#include "wisecrowd/comparison_fit.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// A question worth asking.
struct PairQuestion {
  ItemId left, right;
  WorkerId worker;
  double gain = 0;  ///< expected information in nats: how much the answer changes what is believed
};

/// Crowd-BT that learns answer by answer: scores are normal, reliabilities Beta distributed, and every answer is
/// matched by its first two moments (Chen et al. 2013), with Gauss–Hermite quadrature of 20 nodes. It knows what an
/// answer would tell before it is asked for.
class OnlineCrowdBt {
 public:
  struct Score {
    double mean = 0, variance = 1;
  };
  struct Reliability {
    double right = 4, wrong = 1.5;  ///< parameters of the Beta distribution
    [[nodiscard]] double mean() const noexcept { return right / (right + wrong); }
  };

  OnlineCrowdBt(std::vector<Score> scores, std::vector<Reliability> workers);
  /// From a fit: scores with their deviations; each worker as reliable as found, from as many answers as it gave.
  OnlineCrowdBt(const ComparisonAnswers& answers, const ComparisonFit& fit);

  /// Takes an answer in. A tie counts half for each item.
  void observe(WorkerId worker, ItemId left, ItemId right, Outcome outcome);
  /// Probability that the worker names the left item.
  [[nodiscard]] double left_probability(WorkerId worker, ItemId left, ItemId right) const;
  /// Expected information of the worker's answer, never negative.
  [[nodiscard]] double expected_gain(WorkerId worker, ItemId left, ItemId right) const;

  /// The most informative questions, the best first: every pair of items at most once, every worker at most once as
  /// long as there are others. Of more than a million pairs, as many are drawn at random.
  [[nodiscard]] std::vector<PairQuestion> choose(std::size_t count, const RunContext& context) const;

  [[nodiscard]] std::span<const Score> scores() const noexcept { return scores_; }
  [[nodiscard]] std::span<const Reliability> workers() const noexcept { return workers_; }

 private:
  struct Matched;
  [[nodiscard]] Matched matched(const Score& left, const Score& right, const Reliability& worker, double weight,
                                bool left_won) const;

  std::vector<Score> scores_;
  std::vector<Reliability> workers_;
};

}  // namespace wisecrowd
