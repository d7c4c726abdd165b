#include "aggregate/comparisons/crowd_bt/crowd_bt.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "aggregate/comparisons/shared/score_solver.hpp"
#include "base/rng.hpp"
#include "data/crowd_likelihood.hpp"
#include "support/comparisons.hpp"

namespace wisecrowd {
namespace {

TEST(CrowdLikelihood, AgreesWithTheWorkedExample) {
  const comparisons::CrowdTerm term = comparisons::crowd_term(0.5, 0.8);
  EXPECT_NEAR(term.probability, 0.573475598721, 1e-12);
  EXPECT_NEAR(term.by_difference, 0.245873107130, 1e-12);
  EXPECT_NEAR(term.by_reliability, 0.427077739576, 1e-12);
  const double up = std::log(comparisons::crowd_term(0.5 + 1e-6, 0.8).probability);
  const double down = std::log(comparisons::crowd_term(0.5 - 1e-6, 0.8).probability);
  EXPECT_NEAR(term.by_difference, (up - down) / 2e-6, 1e-8);
  EXPECT_NEAR(term.by_logit, term.by_reliability * 0.8 * 0.2, 1e-12);
}

TEST(CrowdBt, ReliableWorkersMakeItBradleyTerry) {
  const ComparisonData data = testing::random_comparisons(4, 8, 5, 300);
  const ComparisonFit fit =
      crowd_bt::CrowdBt({.prior_right = 1e9, .prior_wrong = 1, .start_reliability = 1, .tolerance = 1e-9})
          .fit(data, RunContext());
  const RunContext context;
  const comparisons::ItemGraph graph(data.answers.pairs(), data.answers.item_count());
  const comparisons::PairWins wins = comparisons::count_wins(data, context);
  comparisons::ScoreSolver plain(graph, {.games = 0.5}, context);
  plain.set_weights(wins.first, wins.second);
  std::vector<double> scores(8, 0);
  plain.improve(scores, 50, 1e-12);
  comparisons::centre(scores);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(fit.score[i], scores[i], 1e-6);
}

/// 30 % of the workers answer against the truth.
ComparisonData crowd_with_adversaries(std::uint64_t seed, std::vector<double>& truth) {
  Rng rng(seed);
  truth.assign(30, 0);
  for (double& s : truth) s = 1.5 * rng.normal();
  ComparisonAnswersBuilder builder;
  for (std::size_t i = 0; i < truth.size(); ++i) builder.add_item("i" + std::to_string(100 + i));
  for (int w = 0; w < 40; ++w) {
    for (int n = 0; n < 60; ++n) {
      const std::size_t i = rng.below(30), j = (i + 1 + rng.below(29)) % 30;
      bool left = rng.bernoulli(1 / (1 + std::exp(truth[j] - truth[i])));
      if (w < 12) left = !left;
      builder.add("w" + std::to_string(100 + w), "i" + std::to_string(100 + i), "i" + std::to_string(100 + j),
                  left ? Outcome::left : Outcome::right);
    }
  }
  return {.answers = builder.build()};
}

TEST(CrowdBt, FindsAdversaries) {
  std::vector<double> truth;
  const ComparisonData data = crowd_with_adversaries(1, truth);
  const ComparisonFit fit = crowd_bt::CrowdBt().fit(data, RunContext());
  for (std::size_t w = 0; w < 40; ++w) EXPECT_EQ(fit.reliability[w] < 0.5, w < 12) << w;
  int right = 0, all = 0;
  for (std::size_t i = 0; i < 30; ++i) {
    for (std::size_t j = 0; j < i; ++j, ++all) right += (fit.score[i] > fit.score[j]) == (truth[i] > truth[j]) ? 1 : 0;
  }
  EXPECT_GT(right, 0.93 * all);
}

TEST(CrowdBt, TheLogPosteriorNeverFalls) {
  std::vector<double> truth;
  const ComparisonFit fit = crowd_bt::CrowdBt().fit(crowd_with_adversaries(2, truth), RunContext());
  for (std::size_t i = 1; i < fit.trace.size(); ++i) EXPECT_GE(fit.trace[i], fit.trace[i - 1] - 1e-6) << i;
  EXPECT_EQ(fit.status, Status::converged);
}

/// Scores and reliabilities are fitted anew, so that intervals know that the reliabilities are estimates, too.
TEST(CrowdBt, BootstrapAgreesWithTheAnalyticDeviations) {
  std::vector<double> truth;
  const ComparisonData data = crowd_with_adversaries(5, truth);
  const ComparisonFit analytic = crowd_bt::CrowdBt().fit(data, RunContext());
  for (const auto resample : {comparisons::Resampled::answers, comparisons::Resampled::workers}) {
    const crowd_bt::CrowdBt method(
        {.intervals = {.intervals = comparisons::Intervals::bootstrap, .replicates = 200, .resample = resample}});
    const ComparisonFit drawn = method.fit(data, RunContext({.seed = 3, .threads = 1}));
    EXPECT_EQ(drawn.score, analytic.score);
    double ratio = 0, inside = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      ratio += drawn.deviation[i] / analytic.deviation[i] / static_cast<double>(truth.size());
      EXPECT_LE(drawn.rank_low[i], drawn.rank[i]);
      EXPECT_GE(drawn.rank_high[i], drawn.rank[i]);
      inside += drawn.low[i] <= drawn.score[i] && drawn.score[i] <= drawn.high[i] ? 1 : 0;
    }
    EXPECT_GT(ratio, 0.8);
    EXPECT_LT(ratio, 1.4);
    EXPECT_GE(inside, 29);
    EXPECT_EQ(method.fit(data, RunContext({.seed = 3, .threads = 2})).deviation, drawn.deviation);
  }
}

}  // namespace
}  // namespace wisecrowd
