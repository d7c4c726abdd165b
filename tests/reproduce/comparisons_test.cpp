// What the methods for comparisons reach on real data; skipped where these are not at hand.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>

#include "support/crowds.hpp"
#include "wisecrowd/comparison_aggregator.hpp"
#include "wisecrowd/evaluate_comparisons.hpp"
#include "wisecrowd/read_comparisons.hpp"

namespace wisecrowd {
namespace {

TEST(ReproduceComparisons, BradleyTerryAgreesWithThePublishedScores) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  const std::string folder = *root + "/pairwise/llmfao/";
  const ComparisonData data =
      read_comparisons(folder + "labels.csv", std::nullopt, ComparisonReadOptions(), RunContext());
  ASSERT_EQ(data.answers.answer_count(), 8931U);
  const ComparisonFit fit = aggregate(data, "bradley_terry");
  EXPECT_TRUE(fit.warnings.empty());
  double sum = 0;
  for (const double s : fit.score) sum += std::exp(s);
  std::map<std::string, double> reference;
  std::ifstream file(folder + "reference_scores.csv");
  for (std::string line; std::getline(file, line);) {
    const std::string prefix = "bradley_terry,";
    if (line.rfind(prefix, 0) != 0) continue;
    const auto comma = line.rfind(',');
    reference[line.substr(prefix.size(), comma - prefix.size())] = std::stod(line.substr(comma + 1));
  }
  ASSERT_EQ(reference.size(), 59U);
  for (std::size_t i = 0; i < fit.score.size(); ++i) {
    const std::string name(data.answers.item_names()[i]);
    EXPECT_NEAR(std::exp(fit.score[i]) / sum, reference.at(name), 1e-14) << name;
  }
}

TEST(ReproduceComparisons, PairsOfArguments) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  const std::string folder = *root + "/pairwise/ukp_convarg/";
  const ComparisonData data =
      read_comparisons(folder + "labels.csv", folder + "pairs_gold.csv", ComparisonReadOptions(), RunContext());
  ComparisonData seen = data;
  seen.gold.clear();
  for (const char* method : {"bradley_terry", "crowd_bt"}) {
    const ComparisonFit fit = aggregate(seen, method);
    const ComparisonEvaluation evaluation = evaluate_comparisons(fit.score, fit.pair_posterior, data);
    EXPECT_EQ(evaluation.pairs, 16081U);
    EXPECT_GE(evaluation.accuracy->value, 0.8903) << method;  // the most frequent vote
    EXPECT_GE(evaluation.ordered->value, 0.80) << method;
  }
}

}  // namespace
}  // namespace wisecrowd
