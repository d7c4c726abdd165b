#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "learn/shared/score_loss.hpp"
#include "wisecrowd/comparison_aggregator.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/evaluate_comparisons.hpp"
#include "wisecrowd/learn_comparisons.hpp"

namespace wisecrowd {
namespace {

/// Items with three features, scores that are linear in them, and answers by workers of whom some say the opposite.
struct ScoreWorld {
  ComparisonData data;
  Features features;  ///< of the items, and of others behind them
  std::vector<std::uint32_t> row_of_item;
  std::vector<double> truth;  ///< per row
  std::vector<bool> adversary;

  /// Of the items, or of the rows that nobody compared.
  [[nodiscard]] double kendall(const std::vector<double>& row_score, bool compared) const {
    const auto items = static_cast<std::ptrdiff_t>(row_of_item.size());
    const auto begin = compared ? 0 : items, end = compared ? items : static_cast<std::ptrdiff_t>(truth.size());
    return kendall_tau({row_score.begin() + begin, row_score.begin() + end},
                       {truth.begin() + begin, truth.begin() + end});
  }
};

ScoreWorld score_world(std::size_t items, std::size_t answers, double adversaries, double ties = 0,
                       std::size_t others = 50) {
  Rng rng(3);
  ScoreWorld world;
  world.features.rows = items + others;
  world.features.shape = {3};
  ComparisonAnswersBuilder builder;
  const auto name = [](std::size_t i) { return fmt::format("{:04}", i); };
  for (std::size_t r = 0; r < items + others; ++r) {
    double score = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const double x = rng.normal();
      world.features.dense.push_back(static_cast<float>(x));
      score += (c == 1 ? -0.7 : 1) * x;
    }
    world.truth.push_back(score);
    if (r >= items) continue;
    world.row_of_item.push_back(static_cast<std::uint32_t>(r));
    builder.add_item(name(r));
  }
  constexpr std::size_t kWorkers = 20;
  for (std::size_t w = 0; w < kWorkers; ++w) {
    world.adversary.push_back(static_cast<double>(w) < adversaries * static_cast<double>(kWorkers));
  }
  for (std::size_t a = 0; a < answers; ++a) {
    const std::size_t left = rng.below(items), worker = rng.below(kWorkers);
    std::size_t right = rng.below(items - 1);
    if (right >= left) ++right;
    bool first = rng.bernoulli(sigmoid(world.truth[left] - world.truth[right]));
    if (rng.bernoulli(world.adversary[worker] ? 0.95 : 0.05)) first = !first;
    const bool tie = rng.bernoulli(ties);
    builder.add(fmt::format("w{:02}", worker), name(left), name(right),
                tie     ? Outcome::tie
                : first ? Outcome::left
                        : Outcome::right);
  }
  world.data.answers = builder.build();
  return world;
}

ComparisonLearned scores_from(const ScoreWorld& world, unsigned threads = 1,
                              const ComparisonLearningOptions& options = {.epochs = 30, .learning_rate = 0.01}) {
  return learn_comparisons(world.data, world.features, {}, world.row_of_item, {.hidden = 16, .dropout = 0}, options,
                           RunContext({.threads = threads}));
}

TEST(ScoreLoss, GradientIsThatOfTheLoss) {
  std::vector<double> scores{0.3, -1.2, 2, 0.1}, gradient(4, 0);
  const ScoreAnswer answers[] = {{0, 1, Outcome::left, 0.9},
                                 {1, 2, Outcome::right, 0.2},
                                 {2, 3, Outcome::tie, 0.7},
                                 {3, 0, Outcome::left, 0.5},
                                 {2, 0, Outcome::right, 1}};
  (void)score_loss(scores, answers, gradient);
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double at = scores[i];
    scores[i] = at + kStep;
    const double up = score_loss(scores, answers);
    scores[i] = at - kStep;
    const double down = score_loss(scores, answers);
    scores[i] = at;
    EXPECT_NEAR((up - down) / (2 * kStep), gradient[i], 1e-8);
  }
}

TEST(ScoreLoss, PerfectWorkersMakeItRankNet) {
  const std::vector<double> scores{0.3, -1.2};
  const ScoreAnswer won[] = {{0, 1, Outcome::left, 1}}, lost[] = {{0, 1, Outcome::right, 1}};
  const ScoreAnswer tied[] = {{0, 1, Outcome::tie, 1}};
  EXPECT_NEAR(score_loss(scores, won), -log_sigmoid(1.5), 1e-12);
  EXPECT_NEAR(score_loss(scores, lost), -log_sigmoid(-1.5), 1e-12);
  EXPECT_NEAR(score_loss(scores, tied), -(log_sigmoid(1.5) + log_sigmoid(-1.5)) / 2, 1e-12);
  EXPECT_NEAR(follows(1.5, Outcome::left, 0.5), sigmoid(1.5), 1e-12);  // EM: what a coin says may follow the scores
}

TEST(ScoreNetwork, RecoversTheOrderAsDataGrow) {
  double before = 0;
  for (const std::size_t answers : {200, 2000, 20000}) {
    const ScoreWorld world = score_world(100, answers, 0, 0.1);
    const double tau = world.kendall(scores_from(world).row_score, true);
    EXPECT_GT(tau, before);
    before = tau;
  }
  EXPECT_GT(before, 0.93);
}

TEST(ScoreNetwork, KeepsTheOrderDespiteAdversariesAndFindsThem) {
  const ScoreWorld clean = score_world(100, 4000, 0), attacked = score_world(100, 4000, 0.3);
  const ComparisonLearned learned = scores_from(attacked);
  const double without = clean.kendall(scores_from(clean).row_score, true);
  EXPECT_GT(attacked.kendall(learned.row_score, true), 0.9 * without);
  EXPECT_GT(attacked.kendall(learned.row_score, false), 0.9 * without);  // nobody compared these
  for (std::size_t w = 0; w < attacked.adversary.size(); ++w) {
    EXPECT_EQ(learned.fit.reliability[w] < 0.5, attacked.adversary[w]) << w;
  }
  // Without reliabilities the adversaries count like all others.
  const ComparisonLearned plain = scores_from(attacked, 1, {.epochs = 30, .learning_rate = 0.01, .reliability = false});
  EXPECT_LT(plain.fit.learned[1].second, learned.fit.learned[1].second - 0.05);  // hidden answers are foretold worse
  EXPECT_EQ(plain.fit.reliability[0], 1);
}

TEST(ScoreNetwork, TheGaugeIsFixed) {
  const ScoreWorld world = score_world(60, 1500, 0.3);
  const ComparisonFit fit = scores_from(world).fit;
  EXPECT_NEAR(std::accumulate(fit.score.begin(), fit.score.end(), 0.0), 0, 1e-9);
  double sum = 0;
  for (const double om : fit.reliability) sum += om;
  EXPECT_GT(sum / static_cast<double>(fit.worker_count), 0.5);  // of both signs the one with good workers
}

TEST(ScoreNetwork, SameBitsForAnyNumberOfThreads) {
  const ScoreWorld world = score_world(60, 1500, 0.1, 0.2);
  const ComparisonLearned one = scores_from(world, 1), two = scores_from(world, 2);
  EXPECT_EQ(one.row_score, two.row_score);
  EXPECT_EQ(one.fit.reliability, two.fit.reliability);
  EXPECT_EQ(one.fit.pair_posterior, two.fit.pair_posterior);
}

TEST(ScoreNetwork, WithAColumnPerItemItIsBradleyTerry) {
  ScoreWorld world = score_world(8, 4000, 0, 0.1, 0);
  world.features.shape = {8};
  world.features.dense.assign(64, 0);
  for (std::size_t i = 0; i < 8; ++i) world.features.dense[i * 9] = 1;
  ComparisonLearningOptions options;
  options.reliability = false;
  options.weight_decay = 0;
  options.hidden_share = 0;
  options.batch = 4000;  // all of them, so that it comes to rest
  options.epochs = 400;
  options.learning_rate = 0.02;
  const ComparisonLearned learned =
      learn_comparisons(world.data, world.features, {}, world.row_of_item, {.kind = "linear"}, options, RunContext());
  const ComparisonFit expected = aggregate(world.data, "bradley_terry");
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(learned.fit.score[i], expected.score[i], 0.01);
}

TEST(ScoreNetwork, BadInputIsRefused) {
  ScoreWorld world = score_world(10, 200, 0);
  world.row_of_item[4] = kNoRow;
  try {
    (void)scores_from(world);
    FAIL() << "an item without features was taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'0004'"), std::string::npos) << error.what();
  }
  world.row_of_item.pop_back();
  EXPECT_THROW((void)scores_from(world), Error);
  world = score_world(10, 200, 0);
  world.features.dense[2] = std::nanf("");
  EXPECT_THROW((void)scores_from(world), Error);
  world = score_world(10, 200, 0);
  EXPECT_THROW((void)scores_from(world, 1, {.epochs = 5, .learning_rate = 1e38}), Error);
  world.data = {};
  world.row_of_item.clear();
  EXPECT_THROW((void)scores_from(world), Error);
}

}  // namespace
}  // namespace wisecrowd
