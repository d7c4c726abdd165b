#include "aggregate/categories/jaffe/jaffe.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/crowds.hpp"
#include "support/exact_crowds.hpp"

namespace wisecrowd {
namespace {

using jaffe::Balance;
using jaffe::Jaffe;

// Specificity and sensitivity in fifths.
const std::vector<std::vector<std::vector<std::size_t>>> kWorkers = {
    {{4, 1}, {2, 3}}, {{3, 2}, {1, 4}}, {{2, 3}, {0, 5}}, {{4, 1}, {1, 4}}, {{1, 4}, {3, 2}}};

void expect_exact(const CategoryFit& result, double b, double tolerance) {
  EXPECT_NEAR(result.learned[0].second, b, tolerance);
  EXPECT_NEAR(result.class_prior[1], (1 + b) / 2, tolerance);
  for (std::size_t w = 0; w < kWorkers.size(); ++w) {
    for (std::size_t k = 0; k < 2; ++k) {
      for (std::size_t l = 0; l < 2; ++l) {
        EXPECT_NEAR(result.confusion[w * 4 + k * 2 + l], static_cast<double>(kWorkers[w][k][l]) / 5, tolerance + 2e-4)
            << w;
      }
    }
  }
}

TEST(Jaffe, PopulationIsExact) {
  for (const auto& copies : {std::vector<std::size_t>{1, 1}, {2, 3}, {4, 1}}) {
    const auto crowd = testing::exact_crowd(kWorkers, copies);
    const double b =
        (static_cast<double>(copies[1]) - static_cast<double>(copies[0])) / static_cast<double>(copies[0] + copies[1]);
    // The margins of 1/(n + 2) are below 2e-4 here: one worker is never wrong on a class.
    expect_exact(Jaffe().fit(crowd.data, RunContext()), b, 1e-7);
    expect_exact(Jaffe({.balance = Balance::likelihood}).fit(crowd.data, RunContext()), b, 5e-3);
  }
}

TEST(Jaffe, BalanceInvertsTheThirdMoment) {
  for (const double b : {-0.9, -0.3, 0.0, 0.4, 0.95}) {
    EXPECT_NEAR(balance_from(-2 * b / std::sqrt(1 - b * b)), b, 1e-14);
  }
}

// Symmetric sums over workers against least squares over an explicit list of triples.
TEST(Jaffe, ThirdMomentAgreesWithLeastSquaresOverTriples) {
  auto crowd = testing::small_crowd(3, 200, 8, 2, 5);
  crowd.data.gold.assign(200, kNoClass);
  for (std::size_t t = 0; t < 200; t += 9) crowd.data.gold[t] = crowd.truth[t];
  const auto fit = fit_covariances(crowd.data, RunContext(), {}, {});
  const std::size_t M = fit.v.size();
  ASSERT_EQ(M, 9U);
  std::vector<std::vector<double>> x(200, std::vector<double>(M, 0));
  std::vector<std::vector<bool>> present(200, std::vector<bool>(M, false));
  for (std::uint32_t t = 0; t < 200; ++t) {
    const auto set = [&](std::size_t w, ClassId l) {
      x[t][w] = (index(l) == 1 ? 1 : -1) - fit.mean[w];
      present[t][w] = true;
    };
    for (std::size_t a = 0; a < crowd.data.answers.workers_of(TaskId{t}).size(); ++a) {
      set(index(crowd.data.answers.workers_of(TaskId{t})[a]), crowd.data.answers.labels_of(TaskId{t})[a]);
    }
    if (crowd.data.gold[t] != kNoClass) set(M - 1, crowd.data.gold[t]);
  }
  double above = 0, below = 0;
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = i + 1; j < M; ++j) {
      for (std::size_t k = j + 1; k < M; ++k) {
        double n = 0, moment = 0;
        for (std::size_t t = 0; t < 200; ++t) {
          if (!present[t][i] || !present[t][j] || !present[t][k]) continue;
          n += 1;
          moment += x[t][i] * x[t][j] * x[t][k];
        }
        const double product = fit.v[i] * fit.v[j] * fit.v[k];
        above += moment * product;  // n × mean moment × product
        below += n * product * product;
      }
    }
  }
  const auto third = fit_third_moment(crowd.data, fit);
  EXPECT_TRUE(third.known);
  EXPECT_NEAR(third.alpha, above / below, 1e-9);
}

TEST(Jaffe, PairsAloneStillGiveAResult) {
  CategoryAnswersBuilder builder({"0", "1"});
  const char* pairs[][2] = {{"a", "b"}, {"b", "c"}, {"c", "a"}};
  for (int t = 0; t < 90; ++t) {
    for (const char* worker : pairs[t % 3]) {
      const int label = worker[0] == 'c' && t % 5 == 0 ? 1 - t % 2 : t % 2;
      builder.add(std::to_string(t), worker, std::to_string(label));
    }
  }
  const auto result = Jaffe().fit({builder.build(), {}, {}}, RunContext());
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_EQ(result.warnings[0].code, "no_third_moments");
  std::size_t right = 0;
  for (std::uint32_t t = 0; t < 90; ++t) right += index(result.labels[t]) == t % 2 ? 1 : 0;
  EXPECT_GT(right, 80U);
}

// No published figures for these sets: what we measured, as a guard.
TEST(Jaffe, MeasuredAccuracies) {
  if (!testing::real_data_folder())
    GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  EXPECT_NEAR(testing::real_accuracy("bluebird", "jaffe"), .8981, .002);
  EXPECT_NEAR(testing::real_accuracy("rte", "jaffe"), .9275, .002);
  EXPECT_NEAR(testing::real_accuracy("product", "jaffe"), .9336, .002);
}

}  // namespace
}  // namespace wisecrowd
