#include "wisecrowd/worker_tables.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/crowds.hpp"

namespace wisecrowd {
namespace {

TEST(WorkerTables, CountsAreSumsOfPosteriors) {
  CategoryAnswersBuilder builder({"a", "b"});
  builder.add("t0", "w0", "a").add("t0", "w1", "b").add("t1", "w0", "a");
  const std::vector<double> posterior = {.75, .25, .5, .5};
  const WorkerTables counts = expected_counts(builder.build(), posterior);
  const std::vector<double> expected = {1.25, 0,   .75, 0,     // w0 said a twice
                                        0,    .75, 0,   .25};  // w1 said b once
  EXPECT_EQ(counts.worker_count(), 2U);
  EXPECT_EQ(std::vector(counts.cells().begin(), counts.cells().end()), expected);
  EXPECT_EQ(counts.sum(), (std::vector<double>{1.25, .75, .75, .25}));
  EXPECT_DOUBLE_EQ(share_of_right(counts.table(WorkerId{0}), 2), 1.25 / 2);
  EXPECT_TRUE(std::isnan(share_of_right(std::vector<double>(4, 0.0), 2)));
}

TEST(WorkerTables, PriorIsSoManyAnswersOfThatAccuracy) {
  for (const std::size_t classes : {1U, 2U, 5U}) {
    const TablePrior prior{.answers = 8, .accuracy = .75};
    const std::vector<double> table = prior.table(classes);
    for (std::size_t k = 0; k < classes; ++k) {
      double row = 0;
      for (std::size_t l = 0; l < classes; ++l) row += table[k * classes + l];
      EXPECT_NEAR(row, 8, 1e-12);
      EXPECT_DOUBLE_EQ(table[k * classes + k], classes == 1 ? 8 : 6);
    }
  }
}

TEST(WorkerTables, MeansAreRowsThatSumToOne) {
  WorkerTables tables(2, 2, TablePrior{}.table(2));
  tables.count(WorkerId{1}, ClassId{1}, std::vector<double>{1, 0});
  tables.add(std::vector<double>{1, 0, 0, 1}, 2);
  tables.append(std::vector<double>{0, 0, 3, 1});
  tables.normalise();
  EXPECT_EQ(tables.worker_count(), 3U);
  EXPECT_NEAR(tables.table(WorkerId{0})[0], (2.8 + 2) / 6, 1e-15);
  EXPECT_NEAR(tables.row(WorkerId{1}, 0)[1], (1.2 + 1) / 7, 1e-15);
  EXPECT_EQ(tables.table(WorkerId{2})[0], .5) << "an empty row becomes even";
  EXPECT_EQ(tables.table(WorkerId{2})[2], .75);
}

TEST(WorkerTables, InformationAndAccuracyAreThoseOfTheDefinition) {
  const std::vector<double> shares = {.5, .5}, coin = {.5, .5, .5, .5}, sure = {1, 0, 0, 1}, swapped = {0, 1, 1, 0};
  EXPECT_EQ(mutual_information_bits(shares, coin), 0);
  EXPECT_DOUBLE_EQ(mutual_information_bits(shares, sure), 1);
  EXPECT_DOUBLE_EQ(mutual_information_bits(shares, swapped), 1) << "reliably wrong is worth as much";
  EXPECT_DOUBLE_EQ(accuracy_at(shares, swapped), 0);
  const std::vector<double> channel = {.9, .1, .1, .9};
  EXPECT_NEAR(mutual_information_bits(shares, channel), 1 + .1 * std::log2(.1) + .9 * std::log2(.9), 1e-14);
  EXPECT_DOUBLE_EQ(accuracy_at(shares, channel), .9);
}

}  // namespace
}  // namespace wisecrowd
