#include "learn/shared/dirichlet_tables.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/numeric.hpp"
#include "support/learning.hpp"

namespace wisecrowd {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

TrainingSet some_set() { return training_set(gaussian_crowd(3, 25, 0, 2, 1, max_mig_workers('H', 1), 0.5).data); }

TEST(DirichletTables, CountsMeansAndExpectedLogarithms) {
  const TrainingSet set = some_set();
  const std::vector<double> q = vote_shares(set);
  DirichletTables tables(set.worker_count, 2, {false, 4, 1});
  tables.update(set, q);
  const std::vector<double> means = tables_from(set, q, 1, 3);
  for (std::size_t c = 0; c < means.size(); ++c) EXPECT_NEAR(tables.means()[c], means[c], 1e-12);
  double right = 2, wrong = 1;
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    for (std::size_t a = 0; a < set.workers_of(i).size(); ++a) {
      if (index(set.workers_of(i)[a]) != 1) continue;
      right += q[2 * i + index(set.labels_of(i)[a])];
      wrong += 1 - q[2 * i + index(set.labels_of(i)[a])];
    }
  }
  DirichletTables coin(set.worker_count, 2, {true, 2, 1});
  coin.update(set, q);
  EXPECT_NEAR(coin.means()[4], right / (right + wrong), 1e-12);
  EXPECT_NEAR(std::log(coin.geometric()[4] / coin.geometric()[5]), digamma(right) - digamma(wrong), 1e-12);
}

/// A whole step towards the counts of all answers is the closed form; a part of it lies between.
TEST(DirichletTables, StepsMoveTowardsTheTarget) {
  const TrainingSet set = some_set();
  const std::vector<double> q = vote_shares(set);
  for (const bool one_coin : {false, true}) {
    DirichletTables closed(set.worker_count, 2, {one_coin, 3, 1}), stepped = closed, half = closed;
    closed.update(set, q);
    for (std::uint32_t j = 0; j < set.worker_count; ++j) {
      std::vector<double> counts(4, 0.0);
      for (std::size_t i = 0; i < set.task_count(); ++i) {
        for (std::size_t a = 0; a < set.workers_of(i).size(); ++a) {
          if (index(set.workers_of(i)[a]) != j) continue;
          for (std::size_t k = 0; k < 2; ++k) counts[k * 2 + index(set.labels_of(i)[a])] += q[2 * i + k];
        }
      }
      stepped.move(WorkerId(j), counts, 1);
      half.move(WorkerId(j), counts, 0.5);
    }
    for (std::size_t c = 0; c < closed.means().size(); ++c) {
      EXPECT_NEAR(stepped.means()[c], closed.means()[c], 1e-12);
      const double start = c % 4 == 0 || c % 4 == 3 ? 0.75 : 0.25;
      EXPECT_LE(std::abs(half.means()[c] - closed.means()[c]), std::abs(start - closed.means()[c]) + 1e-12);
    }
  }
}

TEST(DirichletTables, DivergenceIsZeroAtThePriorAndRightElsewhere) {
  DirichletTables tables(1, 2, {true, 2, 1});
  EXPECT_EQ(tables.divergence(), 0);
  const std::vector<double> counts{3, 1, 0, 0};
  tables.move(WorkerId{0}, counts, 1);  // Beta(5, 2) against Beta(2, 1), by numerical integration
  double sum = 0;
  const int cells = 200000;
  for (int c = 0; c < cells; ++c) {
    const double w = (c + 0.5) / cells;
    const double p = 30 * std::pow(w, 4) * (1 - w), p0 = 2 * w;
    sum += p * std::log(p / p0) / cells;
  }
  EXPECT_NEAR(tables.divergence(), sum, 1e-6);
}

}  // namespace
}  // namespace wisecrowd
