#pragma once

#include "aggregate/comparisons/shared/ranking.hpp"
#include "data/item_graph.hpp"
#include "wisecrowd/enum_names.hpp"

namespace wisecrowd::comparisons {

/// Precision of the prior where no finite scores are the most probable ones.
inline constexpr double kFallbackRidge = 1e-3;
/// Precision of the prior of what features do not explain.
inline constexpr double kFeatureRidge = 1;

/// The graph of the items and what it is like.
struct PlainScores {
  ItemGraph graph;
  PairWins wins;
  Connectivity found;
};

/// How the most probable scores are found.
enum class Algorithm { newton, minorisation };
inline constexpr auto kAlgorithmNames =
    enum_names<Algorithm>({{Algorithm::newton, "newton"}, {Algorithm::minorisation, "minorisation"}});

struct PlainOptions {
  double ridge = 0;
  Algorithm algorithm = Algorithm::newton;
  std::size_t max_iterations = 100;
  double tolerance = 1e-9;
};

/// Scores by the plain model, in which all workers are alike: fills scores, intervals, ranks, objective and trace of
/// `fit`. With features of items, scores are what these do not explain, and `feature_effect` what they do. Throws
/// unsupported when minorisation is asked for where a prior is needed.
PlainScores fit_plain_scores(const ComparisonData& data, const PlainOptions& options, const ComparisonStart& start,
                             ComparisonFit& fit, const RunContext& context);

}  // namespace wisecrowd::comparisons
