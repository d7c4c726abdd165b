#include "aggregate/comparisons/bradley_terry/bradley_terry.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "aggregate/comparisons/shared/score_solver.hpp"
#include "support/comparisons.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

using testing::compared;

TEST(BradleyTerry, TwoItemsHaveAClosedForm) {
  const ComparisonData data = compared({{"a", "b", 7, 3, 0}});
  const ComparisonFit fit = bradley_terry::BradleyTerry().fit(data, RunContext());
  EXPECT_NEAR(fit.score[0] - fit.score[1], std::log(7.0 / 3), 1e-9);
  EXPECT_NEAR(fit.score[0] + fit.score[1], 0, 1e-12);
  // The information of 10 answers of probability .7 about the difference: 10 · .7 · .3.
  EXPECT_NEAR(fit.deviation[0], std::sqrt(1 / (10 * 0.7 * 0.3)) / 2, 1e-9);
  EXPECT_EQ(fit.rank, (std::vector<double>{1, 2}));
  EXPECT_TRUE(fit.warnings.empty());
}

TEST(BradleyTerry, TiesAreHalfAWinForEach) {
  const ComparisonFit with_ties = bradley_terry::BradleyTerry().fit(compared({{"a", "b", 6, 2, 4}}), RunContext());
  EXPECT_NEAR(with_ties.score[0] - with_ties.score[1], std::log(8.0 / 4), 1e-9);
}

TEST(BradleyTerry, AgreesWithTheMajorisationOfHunter) {
  const ComparisonData data = testing::random_comparisons(7, 12, 6, 400);
  const ComparisonFit fit = bradley_terry::BradleyTerry().fit(data, RunContext());
  const std::vector<double> reference = testing::hunters_scores(data);
  for (std::size_t i = 0; i < reference.size(); ++i) EXPECT_NEAR(fit.score[i], reference[i], 1e-8) << i;
}

TEST(BradleyTerry, MinorisationComesToTheSame) {
  // All pairs of a few items were compared, and few pairs of many; then groups of both sorts side by side.
  std::vector<testing::Series> groups;
  for (int i = 0; i < 7; ++i) {
    for (int j = 0; j < i; ++j) groups.push_back({"a" + std::to_string(i), "a" + std::to_string(j), 1 + i, 2, 1});
  }
  for (int i = 0; i < 9; ++i)
    groups.push_back({"b" + std::to_string(i), "b" + std::to_string((i + 1) % 9), 3, 1 + i, 0});
  groups.push_back({"c0", "c1", 1, 2, 0});
  for (const ComparisonData& data : {testing::random_comparisons(7, 12, 6, 400),
                                     testing::random_comparisons(7, 90, 6, 900), testing::compared(groups)}) {
    const ComparisonFit newton = bradley_terry::BradleyTerry({.ridge = 1e-9}).fit(data, RunContext());
    const ComparisonFit steps =
        bradley_terry::BradleyTerry(
            {.algorithm = comparisons::Algorithm::minorisation, .max_iterations = 100'000, .tolerance = 1e-12})
            .fit(data, RunContext());
    EXPECT_EQ(steps.status, Status::converged);
    EXPECT_GT(steps.iterations, newton.iterations);
    for (std::size_t i = 0; i < newton.score.size(); ++i) EXPECT_NEAR(newton.score[i], steps.score[i], 1e-6) << i;
  }
  EXPECT_THROW((void)bradley_terry::BradleyTerry({.algorithm = comparisons::Algorithm::minorisation})
                   .fit(compared({{"a", "b", 5, 0, 0}}), RunContext()),
               Error);
}

TEST(BradleyTerry, WithoutAFiniteMaximumARidgeIsUsedAndSaid) {
  const ComparisonFit fit = bradley_terry::BradleyTerry().fit(compared({{"a", "b", 5, 0, 0}}), RunContext());
  ASSERT_EQ(fit.warnings.size(), 1U);
  EXPECT_EQ(fit.warnings[0].code, "no_finite_scores");
  EXPECT_TRUE(std::isfinite(fit.score[0]));
  EXPECT_GT(fit.score[0], 1);
}

TEST(BradleyTerry, GroupsNeverComparedAreSaidAndCentredEach) {
  const ComparisonFit fit =
      bradley_terry::BradleyTerry().fit(compared({{"a", "b", 3, 1, 0}, {"c", "d", 1, 3, 0}}), RunContext());
  ASSERT_FALSE(fit.warnings.empty());
  EXPECT_EQ(fit.warnings[0].code, "comparisons_apart");
  EXPECT_NEAR(fit.score[0] + fit.score[1], 0, 1e-9);
  EXPECT_NEAR(fit.score[2] + fit.score[3], 0, 1e-9);
  EXPECT_NEAR(fit.score[0] - fit.score[1], std::log(3.0), 1e-2);  // the ridge of 0.001
}

TEST(BradleyTerry, DenseAndGradientStepsAgree) {
  const ComparisonData data = testing::random_comparisons(3, 450, 10, 20000);  // beyond the dense limit
  const ComparisonFit fit = bradley_terry::BradleyTerry().fit(data, RunContext());
  const std::vector<double> reference = testing::hunters_scores(data, 3000);
  for (std::size_t i = 0; i < reference.size(); ++i) EXPECT_NEAR(fit.score[i], reference[i], 1e-4) << i;
  EXPECT_EQ(fit.status, Status::converged);
}

TEST(BradleyTerry, BootstrapAgreesWithTheAnalyticDeviations) {
  const ComparisonData data = testing::random_comparisons(5, 8, 5, 2000);
  const RunContext context({.seed = 3});
  const ComparisonFit analytic = bradley_terry::BradleyTerry().fit(data, context);
  const ComparisonFit drawn =
      bradley_terry::BradleyTerry({.intervals = {.intervals = comparisons::Intervals::bootstrap, .replicates = 400}})
          .fit(data, context);
  for (std::size_t i = 0; i < analytic.score.size(); ++i) {
    EXPECT_NEAR(drawn.deviation[i] / analytic.deviation[i], 1, 0.2) << i;
    EXPECT_LE(drawn.rank_low[i], drawn.rank_high[i]);
  }
}

TEST(BradleyTerry, FeaturesAreTakenOutOfTheScores) {
  // Longer answers win: strength = quality + length, and the quality of all is the same.
  ComparisonData data = testing::strengths_compared({-1.5, -0.5, 0.5, 1.5}, 400, 11);
  const double before = bradley_terry::BradleyTerry().fit(data, RunContext()).score[3];
  data.features = {{"length"}, {-1.5, -0.5, 0.5, 1.5}};
  const ComparisonFit fit = bradley_terry::BradleyTerry().fit(data, RunContext());
  EXPECT_GT(before, 1);
  ASSERT_EQ(fit.feature_effect.size(), 1U);
  EXPECT_NEAR(fit.feature_effect[0], 1, 0.15);
  for (const double s : fit.score) EXPECT_NEAR(s, 0, 0.2);
}

TEST(ScoreSolver, GradientAndCurvatureAreDerivatives) {
  const ComparisonData data = testing::random_comparisons(2, 6, 4, 80);
  const comparisons::ItemGraph graph(data.answers.pairs(), data.answers.item_count());
  const RunContext context;
  const comparisons::PairWins wins = comparisons::count_wins(data, context);
  for (const double nu : {0.0, 0.7}) {
    comparisons::ScoreSolver solver(graph, {.ridge = 0.3, .games = 0.4}, context);
    solver.set_weights(wins.first, wins.second);
    if (nu > 0) solver.set_ties(wins.second, nu);
    std::vector<double> scores{0.3, -0.2, 0.9, -1.4, 0.1, 0.6};
    comparisons::ScoreSolver::Point here, up, down;
    solver.evaluate(scores, here);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      std::vector<double> moved = scores;
      moved[i] += 1e-5;
      solver.evaluate(moved, up);
      moved[i] -= 2e-5;
      solver.evaluate(moved, down);
      EXPECT_NEAR(here.gradient[i], (up.objective - down.objective) / 2e-5, 1e-6) << nu;
      EXPECT_NEAR(here.diagonal[i], -(up.gradient[i] - down.gradient[i]) / 2e-5, 1e-6) << nu;
    }
  }
}

}  // namespace
}  // namespace wisecrowd
