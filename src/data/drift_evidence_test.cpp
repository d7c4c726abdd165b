#include "data/drift_evidence.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace wisecrowd {
namespace {

TEST(DriftEvidence, WhatIsUnlikeThePastSpeaksForADegradedWorker) {
  const std::vector<double> table = {0.8, 0.2, 0.2, 0.8}, shares = {0.5, 0.5}, sure = {1, 0};
  const PastTable past(table, table, 100, shares);
  // 60 % of the way to chance: .62 and .38.
  EXPECT_NEAR(drift_odds(past, sure, 0, 0.6), std::log(0.62 / 0.8), 1e-12);
  EXPECT_NEAR(drift_odds(past, sure, 1, 0.6), std::log(0.38 / 0.2), 1e-12);
  EXPECT_NEAR(drift_information(past, sure, 0.6), 0.62 * std::log(0.62 / 0.8) + 0.38 * std::log(0.38 / 0.2), 1e-12);
  const std::vector<double> unsure = {0.5, 0.5};
  EXPECT_NEAR(drift_information(past, unsure, 0.6), 0, 1e-12);
  PastTable perfect = past;
  perfect.start_at(1, 1000);
  EXPECT_DOUBLE_EQ(drift_odds(perfect, sure, 1, 0.6), 2.5);  // never more
}

TEST(DriftEvidence, ThePastMovesTheTable) {
  const std::vector<double> table = {0.8, 0.2, 0.2, 0.8}, shares = {0.5, 0.5}, sure = {1, 0};
  PastTable past(table, table, 100, shares);
  EXPECT_NEAR(past.probability(sure, 0), 0.8, 1e-12);
  past.start_after(100, 100);  // another hundred, all right
  EXPECT_NEAR(past.probability(sure, 0), 0.9, 1e-12);
  PastTable counted(table, table, 100, shares);
  for (int n = 0; n < 100; ++n) counted.count(sure, 0);
  EXPECT_NEAR(counted.probability(sure, 0), past.probability(sure, 0), 1e-12);
  past.start_at(0.5, 10);
  EXPECT_NEAR(past.probability(sure, 0), 0.5, 1e-12);
}

TEST(DriftEvidence, FewerFalseAlarmsAskForMoreEvidence) {
  EXPECT_GT(drift_alarm(0.1, 0.1), drift_alarm(0.1, 0.2));
  EXPECT_GT(drift_alarm(0.2, 0.15), drift_alarm(0.1, 0.15));
  EXPECT_DOUBLE_EQ(drift_alarm(0, 0.15), drift_alarm(0.001, 0.15));
  EXPECT_NEAR(drift_alarm(100, 0.15), std::log(1000), 1e-12);
}

}  // namespace
}  // namespace wisecrowd
