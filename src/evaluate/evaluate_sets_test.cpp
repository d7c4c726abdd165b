#include "wisecrowd/evaluate_sets.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

std::vector<ClassId> classes(std::initializer_list<int> labels) {
  std::vector<ClassId> set;
  for (const int label : labels) set.push_back(ClassId(label));
  return set;
}

TEST(EvaluateSets, CountsByHand) {
  const GoldSets gold{classes({0, 1}), classes({}), classes({2}), std::nullopt, classes({0})};
  const GoldSets predicted{classes({0, 1}), classes({}), classes({0, 2}), classes({1}), std::nullopt};
  const SetEvaluation scores = evaluate_sets(predicted, gold, 3);
  EXPECT_EQ(scores.tasks, 3U);
  EXPECT_EQ(scores.missing, 1U);
  EXPECT_DOUBLE_EQ(scores.exact_match.value, 2.0 / 3);
  EXPECT_DOUBLE_EQ(scores.jaccard.value, (1 + 1 + 0.5) / 3);
  EXPECT_DOUBLE_EQ(scores.hamming.value, 1.0 / 9);
  EXPECT_DOUBLE_EQ(scores.micro_f1.value, 6.0 / 7);
  EXPECT_DOUBLE_EQ(scores.micro_precision, 3.0 / 4);
  EXPECT_DOUBLE_EQ(scores.micro_recall, 1);
  EXPECT_DOUBLE_EQ(scores.macro_f1, (2.0 / 3 + 1 + 1) / 3);
  EXPECT_EQ(scores.classes[0].predicted, 2U);
  EXPECT_LT(scores.micro_f1.low, scores.micro_f1.value);
  EXPECT_TRUE(std::isnan(scores.brier));
  EXPECT_THROW((void)evaluate_sets(predicted, GoldSets(5), 3), Error);
}

TEST(EvaluateSets, BrierCountsClassesThatAreNoCandidates) {
  SetFit fit;
  fit.task_count = 1;
  fit.class_count = 3;
  fit.known = {1};
  fit.offsets = {0, 2};
  fit.candidates = classes({0, 1});
  fit.probability = {0.8, 0.3};
  EXPECT_NEAR(evaluate_sets(fit, {classes({0, 2})}).brier, (0.04 + 0.09 + 1) / 3, 1e-12);
}

TEST(DescribeSets, AlphaByHand) {
  SetAnswersBuilder builder;
  builder.add("t", "v", {"a", "b"}).add("t", "w", {"a"}).add("u", "v", {"c"}).add("u", "w", {"c"}).add("x", "v", {});
  const SetDescription d = describe(builder.build());
  EXPECT_EQ(d.empty_answers, 1U);
  EXPECT_DOUBLE_EQ(d.set_sizes.mean, 1);
  EXPECT_DOUBLE_EQ(d.identical_share, 0.5);
  // Four answers in pairs. Distances by Jaccard: 1/2 between the first two, 1 between t and u.
  EXPECT_NEAR(d.jaccard_alpha, 1 - (2 * 0.5 / 4) / ((2 * 0.5 + 2 * 4 * 1.0) / (4 * 3)), 1e-12);
  // By MASI: 1 − 1/2 · 2/3.
  EXPECT_NEAR(d.masi_alpha, 1 - (2 * (2.0 / 3) / 4) / ((2 * (2.0 / 3) + 2 * 4 * 1.0) / (4 * 3)), 1e-12);
  EXPECT_DOUBLE_EQ(d.classes[2].alpha, 1);
  // b: one of two in t, none of two in u.
  EXPECT_NEAR(d.classes[1].alpha, 1 - 3 * (2 * 1 * 1 / 1.0) / (2 * 1 * 3), 1e-12);
}

TEST(DescribeSets, WarnsOfWhatLooksWrong) {
  SetAnswersBuilder single, silent;
  single.add("t", "v", {"a"}).add("t", "w", {"b"});
  silent.add("t", "v", {}).add("t", "w", {});
  EXPECT_EQ(describe(single.build()).warnings.at(0).code, "single_classes");
  EXPECT_EQ(describe(silent.build()).warnings.at(0).code, "constant_answers");
  EXPECT_EQ(describe(SetAnswers()).warnings.at(0).code, "no_answers");
}

}  // namespace
}  // namespace wisecrowd
