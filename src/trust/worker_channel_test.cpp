#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.hpp"
#include "wisecrowd/trust.hpp"

namespace wisecrowd {
namespace {

const std::vector<double> kGolden = {.7, .2, .1, .1, .8, .1, .2, .2, .6};

double entropy_of(double p) { return -p * std::log(p) - (1 - p) * std::log(1 - p); }

std::vector<double> one_coin(std::size_t classes, double accuracy) {
  std::vector<double> table(classes * classes, (1 - accuracy) / static_cast<double>(classes - 1));
  for (std::size_t k = 0; k < classes; ++k) table[k * (classes + 1)] = accuracy;
  return table;
}

TEST(WorkerChannel, GoldenVectors) {
  EXPECT_NEAR(spammer_score(kGolden, 3), .306666666667, 1e-12);
  const Capacity capacity = channel_capacity(kGolden, 3);
  EXPECT_NEAR(capacity.nats, .2903232505, 1e-9);
  EXPECT_NEAR(capacity.input[0], .331169, 1e-5);
  EXPECT_NEAR(capacity.input[1], .382308, 1e-5);
  EXPECT_NEAR(capacity.input[2], .286523, 1e-5);
  EXPECT_NEAR(channel_capacity(one_coin(2, .9), 2).nats, .368064207168, 1e-9);
}

TEST(WorkerChannel, SpammerScoreIdentities) {
  for (const std::size_t classes : {2U, 3U, 5U}) {
    for (const double w : {.2, .5, .9, 1.0}) {
      const double k = static_cast<double>(classes);
      EXPECT_NEAR(spammer_score(one_coin(classes, w), classes), std::pow((k * w - 1) / (k - 1), 2), 1e-12);
    }
    std::vector<double> same, swapped(classes * classes, 0);
    for (std::size_t k = 0; k < classes; ++k) {
      for (std::size_t l = 0; l < classes; ++l) same.push_back(l == 0 ? .5 : .5 / static_cast<double>(classes - 1));
      swapped[k * classes + (k + 1) % classes] = 1;
    }
    EXPECT_NEAR(spammer_score(same, classes), 0, 1e-15);
    EXPECT_NEAR(spammer_score(swapped, classes), 1, 1e-12);
  }
  const std::vector<double> two = {.8, .2, .4, .6};  // K = 2: (sensitivity + specificity − 1)²
  EXPECT_NEAR(spammer_score(two, 2), .4 * .4, 1e-12);
}

TEST(WorkerChannel, CapacityIdentities) {
  EXPECT_NEAR(channel_capacity(one_coin(4, 1), 4).nats, std::log(4.0), 1e-9);
  EXPECT_NEAR(channel_capacity(std::vector<double>{.3, .7, .3, .7}, 2).nats, 0, 1e-12);
  for (const double p : {.01, .2, .4}) {
    EXPECT_NEAR(channel_capacity(one_coin(2, 1 - p), 2).nats, std::log(2.0) - entropy_of(p), 1e-9);
  }
}

/// Brute force over a grid of inputs, K = 2.
TEST(WorkerChannel, CapacityIsTheLargestInformation) {
  Rng rng(3);
  for (int round = 0; round < 20; ++round) {
    const double a = rng.uniform(), b = rng.uniform();
    const std::vector<double> table = {a, 1 - a, b, 1 - b};
    double best = 0;
    for (int step = 1; step < 2000; ++step) {
      const double p = step / 2000.0, out = p * a + (1 - p) * b;
      best = std::max(best, entropy_of(out) - p * entropy_of(a) - (1 - p) * entropy_of(b));
    }
    EXPECT_NEAR(channel_capacity(table, 2).nats, best, 1e-6);
  }
}

TEST(WorkerChannel, JudgesPlantedWorkers) {
  // Good; a spammer who says class 1; one who takes class 2 for class 1 throughout; a new one.
  const std::vector<std::vector<double>> tables = {{90, 5, 5, 5, 90, 5, 5, 5, 90},
                                                   {10, 80, 10, 10, 80, 10, 10, 80, 10},
                                                   {90, 5, 5, 5, 90, 5, 5, 90, 5},
                                                   {1.4, .3, .3, .3, 1.4, .3, .3, .3, 1.4}};
  std::vector<double> counts;
  for (const auto& table : tables) counts.insert(counts.end(), table.begin(), table.end());
  const std::vector<double> shares = {.4, .3, .3};
  const std::vector<std::uint32_t> answers = {300, 300, 300, 0};
  const auto judged = judge_workers(counts, shares, answers, {}, RunContext());
  EXPECT_EQ(judged[0].advice, WorkerAdvice::keep);
  EXPECT_EQ(judged[1].advice, WorkerAdvice::stop);
  EXPECT_EQ(judged[2].advice, WorkerAdvice::retrain);
  EXPECT_EQ(index(judged[2].truth), 2U);
  EXPECT_EQ(index(judged[2].said), 1U);
  EXPECT_EQ(judged[3].advice, WorkerAdvice::unsure);
  for (const auto& judgement : judged) {
    for (const auto& e : {judgement.accuracy, judgement.score, judgement.information}) EXPECT_LT(e.low, e.high);
    EXPECT_LE(judgement.information.value, judgement.capacity + 1e-6);  // no mix of truths tells more
  }
  RunOptions four;
  four.threads = 4;
  const auto again = judge_workers(counts, shares, answers, {}, RunContext(four));
  EXPECT_EQ(judged[0].score.low, again[0].score.low);
}

}  // namespace
}  // namespace wisecrowd
