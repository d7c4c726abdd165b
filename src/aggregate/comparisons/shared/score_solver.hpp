#pragma once

#include <span>
#include <vector>

#include "data/item_graph.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd::comparisons {

/// What is believed of a score before any comparison: normal around `mean` (0 if empty) with precision `ridge`, and
/// `games` wins and as many losses against an item of score 0.
struct ScorePrior {
  double ridge = 0;
  double games = 0;
  std::span<const double> mean;

  [[nodiscard]] bool proper() const noexcept { return ridge > 0 || games > 0; }
};

/// Scores with the greatest Σ w log σ(s_i − s_i') + log prior, for wins with weights: the work that all methods of this
/// kind have in common. Concave; Newton's method, with a dense factorisation for few items and conjugate gradients for
/// many.
class ScoreSolver {
 public:
  ScoreSolver(const ItemGraph& graph, ScorePrior prior, const RunContext& context);

  /// Weights of the pairs' wins.
  void set_weights(std::span<const double> first, std::span<const double> second);
  void set_prior(ScorePrior prior) { prior_ = prior; }
  /// Davidson's model of ties: weights of the pairs' ties, and ν; then the wins hold none.
  void set_ties(std::span<const double> ties, double nu);

  struct Progress {
    double objective = 0;  ///< log likelihood + log prior
    double step = 0;       ///< largest change of a score in the last step
    std::size_t steps = 0;
    bool converged = false;
  };
  /// Up to `most` steps from `scores`, until none changes by more than `tolerance`. The objective never falls.
  Progress improve(std::vector<double>& scores, std::size_t most, double tolerance);

  /// At the scores given: gradient and curvature.
  struct Point {
    double objective = 0;
    std::vector<double> gradient;  ///< per item, prior included
    std::vector<double> diagonal;  ///< − second derivative, prior included
    HugeVector<double> curvature;  ///< per edge of the graph: w σ(d) σ(−d)
  };
  void evaluate(std::span<const double> scores, Point& point) const;

 private:
  struct Edge;
  [[nodiscard]] Edge plain_edge(std::uint32_t edge, double difference) const noexcept;
  [[nodiscard]] Edge davidson_edge(std::uint32_t edge, double difference) const noexcept;
  template <bool with_ties>
  void evaluate_as(std::span<const double> scores, Point& point) const;
  [[nodiscard]] std::vector<double> newton_step(const Point& point) const;
  [[nodiscard]] std::vector<double> dense_step(const Point& point) const;
  [[nodiscard]] std::vector<double> gradient_step(const Point& point) const;

  const ItemGraph& graph_;
  ScorePrior prior_;
  const RunContext& context_;
  HugeVector<double> own_, against_;  // per edge of the graph
  HugeVector<double> ties_;           // the same, for Davidson's model alone
  double nu_ = 0;
};

/// Moves scores so that their mean is 0.
void centre(std::span<double> scores);

}  // namespace wisecrowd::comparisons
