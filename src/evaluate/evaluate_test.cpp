#include "wisecrowd/evaluate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>

#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

struct Case {
  std::size_t classes = 0;
  std::vector<ClassId> predicted, gold;
  std::vector<double> posterior;
};

ClassId to_class(std::size_t k) { return ClassId{static_cast<std::uint16_t>(k)}; }

/// Random posteriors whose argmax is the prediction, and gold that follows them.
Case random_case(std::size_t tasks, std::size_t classes, std::uint64_t seed, double unknown = 0.2) {
  Rng rng(seed);
  Case c{.classes = classes};
  const std::vector<double> alpha(classes, 0.5);
  std::vector<double> row(classes);
  for (std::size_t t = 0; t < tasks; ++t) {
    rng.dirichlet(alpha, row);
    c.posterior.insert(c.posterior.end(), row.begin(), row.end());
    c.predicted.push_back(to_class(static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin())));
    c.gold.push_back(rng.bernoulli(unknown) ? kNoClass : to_class(rng.categorical(row)));
  }
  return c;
}

Evaluation score(const Case& c, const EvaluateOptions& options = {}, const RunContext& context = RunContext()) {
  return evaluate(c.predicted, c.posterior, c.gold, c.classes, options, context);
}

/// Written down from the definitions, task by task.
struct BruteForce {
  double accuracy = 0, macro_f1 = 0, log_loss = 0, brier = 0, ece = 0;
};

BruteForce brute_force(const Case& c, std::size_t bins) {
  BruteForce result;
  std::vector<std::size_t> known;
  for (std::size_t t = 0; t < c.gold.size(); ++t) {
    if (c.gold[t] != kNoClass) known.push_back(t);
  }
  const auto n = static_cast<double>(known.size());
  std::set<ClassId> occurring;
  for (const std::size_t t : known) {
    const double* row = c.posterior.data() + t * c.classes;
    result.accuracy += (c.predicted[t] == c.gold[t] ? 1 : 0) / n;
    result.log_loss -= std::log(std::max(row[index(c.gold[t])], kProbabilityFloor)) / n;
    for (std::size_t k = 0; k < c.classes; ++k) {
      result.brier += std::pow(row[k] - (to_class(k) == c.gold[t] ? 1 : 0), 2) / n;
    }
    occurring.insert(c.gold[t]);
    occurring.insert(c.predicted[t]);
  }
  for (const ClassId k : occurring) {
    double right = 0;
    double said = 0;
    double is = 0;
    for (const std::size_t t : known) {
      right += c.predicted[t] == k && c.gold[t] == k ? 1 : 0;
      said += c.predicted[t] == k ? 1 : 0;
      is += c.gold[t] == k ? 1 : 0;
    }
    const double precision = said > 0 ? right / said : 0;
    const double recall = is > 0 ? right / is : 0;
    const double f1 = precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
    result.macro_f1 += f1 / static_cast<double>(occurring.size());
  }
  for (std::size_t b = 0; b < bins; ++b) {
    double count = 0;
    double right = 0;
    double confidence = 0;
    for (const std::size_t t : known) {
      const double* row = c.posterior.data() + t * c.classes;
      const double top = *std::max_element(row, row + c.classes);
      if (top * static_cast<double>(bins) <= static_cast<double>(b) ||
          top * static_cast<double>(bins) > static_cast<double>(b + 1))
        continue;
      ++count;
      right += c.predicted[t] == c.gold[t] ? 1 : 0;
      confidence += top;
    }
    if (count > 0) result.ece += count / n * std::abs(right / count - confidence / count);
  }
  return result;
}

TEST(Evaluate, MatchesTheDefinitions) {
  for (const auto& [tasks, classes] : {std::pair(50, 2), std::pair(300, 5), std::pair(40000, 3), std::pair(60, 40)}) {
    const Case c = random_case(static_cast<std::size_t>(tasks), static_cast<std::size_t>(classes), 11);
    const Evaluation e = score(c, {.bootstrap = 0});
    const BruteForce expected = brute_force(c, 15);
    EXPECT_NEAR(e.accuracy.value, expected.accuracy, 1e-12);
    EXPECT_NEAR(e.macro_f1.value, expected.macro_f1, 1e-12);
    EXPECT_NEAR(e.log_loss->value, expected.log_loss, 1e-10);
    EXPECT_NEAR(e.brier->value, expected.brier, 1e-12);
    EXPECT_NEAR(e.ece->value, expected.ece, 1e-12);
    EXPECT_TRUE(std::isnan(e.accuracy.low));
    EXPECT_EQ(e.tasks, static_cast<std::size_t>(
                           std::count_if(c.gold.begin(), c.gold.end(), [](ClassId g) { return g != kNoClass; })));
  }
}

TEST(Evaluate, SmallExampleByHand) {
  // Gold 0 0 1 1 2, predicted 0 1 1 1 –: four scored tasks.
  Case c{.classes = 4};
  c.gold = {ClassId{0}, ClassId{0}, ClassId{1}, ClassId{1}, ClassId{2}};
  c.predicted = {ClassId{0}, ClassId{1}, ClassId{1}, ClassId{1}, kNoClass};
  const Evaluation e = score(c, {.bootstrap = 0});
  EXPECT_EQ(e.tasks, 4U);
  EXPECT_DOUBLE_EQ(e.accuracy.value, 0.75);
  EXPECT_DOUBLE_EQ(e.macro_f1.value, (2.0 / 3 + 0.8) / 2);  // classes 2 and 3 occur in no scored task
  EXPECT_FALSE(e.log_loss || e.brier || e.ece);
}

TEST(Evaluate, LogLossIsFlooredNotInfinite) {
  Case c{.classes = 2, .predicted = {ClassId{0}}, .gold = {ClassId{1}}, .posterior = {1, 0}};
  const Evaluation e = score(c);
  EXPECT_DOUBLE_EQ(e.log_loss->value, -std::log(kProbabilityFloor));
  EXPECT_DOUBLE_EQ(e.brier->value, 2);
  EXPECT_DOUBLE_EQ(e.ece->value, 1);
}

TEST(Evaluate, FractionalTiesShareTheCredit) {
  Case c{.classes = 3};
  c.posterior = {0.4, 0.4, 0.2, 1.0 / 3, 1.0 / 3, 1.0 / 3, 0.1, 0.2, 0.7, 0.5, 0.5, 0};
  c.predicted = {ClassId{0}, ClassId{0}, ClassId{2}, ClassId{0}};
  c.gold = {ClassId{1}, ClassId{0}, ClassId{2}, ClassId{2}};
  EXPECT_DOUBLE_EQ(score(c, {.bootstrap = 0}).accuracy.value, 0.5);
  const Evaluation e = score(c, {.tie_rule = TieRule::fractional, .bootstrap = 0});
  EXPECT_DOUBLE_EQ(e.accuracy.value, (0.5 + 1.0 / 3 + 1) / 4);
  // Predicted: class 0 gets 1/2 + 1/3 + 1/2, class 1 the same, class 2 gets 1/3 + 1.
  const double f0 = 2 * (1.0 / 3) / (4.0 / 3 + 1);
  const double f1 = 2 * 0.5 / (4.0 / 3 + 1);
  const double f2 = 2 * 1.0 / (4.0 / 3 + 2);
  EXPECT_NEAR(e.macro_f1.value, (f0 + f1 + f2) / 3, 1e-12);
}

TEST(Evaluate, IntervalsAreThoseOfTheBinomial) {
  // 400 tasks with accuracy 0.8: the percentile interval of the mean is about ± 1.96 √(0.16 / 400).
  Case c{.classes = 2};
  for (std::size_t t = 0; t < 400; ++t) {
    c.gold.push_back(ClassId{0});
    c.predicted.push_back(to_class(t % 5 == 0 ? 1 : 0));
  }
  const Evaluation e = score(c, {.bootstrap = 4000});
  EXPECT_NEAR(e.accuracy.low, 0.8 - 1.96 * 0.02, 0.004);
  EXPECT_NEAR(e.accuracy.high, 0.8 + 1.96 * 0.02, 0.004);
  const Evaluation narrow = score(c, {.bootstrap = 4000, .confidence_level = 0.5});
  EXPECT_NEAR(narrow.accuracy.high - narrow.accuracy.low, 2 * 0.6745 * 0.02, 0.004);
}

TEST(Evaluate, FewTasksThatAreAllRightProveLittle) {
  Case c{.classes = 2};
  for (std::size_t t = 0; t < 30; ++t) {
    c.gold.push_back(to_class(t % 2));
    c.predicted.push_back(to_class(t % 2));
  }
  const Evaluation e = score(c);
  EXPECT_DOUBLE_EQ(e.accuracy.value, 1);
  EXPECT_NEAR(e.accuracy.low, 30 / (30 + 1.959963984540054 * 1.959963984540054), 1e-9);  // Wilson: n / (n + z²)
  EXPECT_DOUBLE_EQ(e.accuracy.high, 1);
  EXPECT_DOUBLE_EQ(e.macro_f1.low, e.accuracy.low);
  EXPECT_NEAR(score(c, {.confidence_level = 0.5}).accuracy.low, 30 / (30 + 0.6744897502 * 0.6744897502), 1e-6);
}

TEST(Evaluate, IntervalsCoverTheTruth) {
  // Gold drawn from the posterior: accuracy and log-loss have known expectations over gold and posterior.
  const Evaluation large = score(random_case(200000, 3, 99), {.bootstrap = 0});
  std::size_t accuracy = 0;
  std::size_t log_loss = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Evaluation e = score(random_case(250, 3, 1000 + seed), {.bootstrap = 300});
    accuracy += e.accuracy.low <= large.accuracy.value && large.accuracy.value <= e.accuracy.high ? 1 : 0;
    log_loss += e.log_loss->low <= large.log_loss->value && large.log_loss->value <= e.log_loss->high ? 1 : 0;
  }
  EXPECT_GE(accuracy, 178U);  // 95 % of 200, less four standard errors
  EXPECT_GE(log_loss, 176U);
}

TEST(Evaluate, GroupsOfTasksGiveTheSameWidth) {
  const Case c = random_case(100000, 3, 5, 0);
  const Evaluation e = score(c, {.bootstrap = 2000});
  const double p = e.accuracy.value;
  EXPECT_NEAR(e.accuracy.high - e.accuracy.low, 2 * 1.96 * std::sqrt(p * (1 - p) / 100000), 0.0005);
  EXPECT_LT(e.accuracy.low, p);
  EXPECT_GT(e.accuracy.high, p);
  double mean = 0;
  double square = 0;
  for (std::size_t t = 0; t < 100000; ++t) {
    const double loss = -std::log(std::max(c.posterior[t * 3 + index(c.gold[t])], kProbabilityFloor));
    mean += loss / 100000;
    square += loss * loss / 100000;
  }
  const double width = 2 * 1.96 * std::sqrt((square - mean * mean) / 100000);
  EXPECT_NEAR((e.log_loss->high - e.log_loss->low) / width, 1, 0.08);
}

TEST(Evaluate, ThreadsDoNotMatterAndSeedsDo) {
  const Case c = random_case(30000, 4, 8);
  const auto all = [](const Evaluation& e) {
    std::vector<double> values;
    for (const Estimate& x : {e.accuracy, e.macro_f1, *e.log_loss, *e.brier, *e.ece}) {
      values.insert(values.end(), {x.value, x.low, x.high});
    }
    return values;
  };
  const auto one = all(score(c, {.bootstrap = 100}, RunContext({.seed = 3, .threads = 1})));
  EXPECT_EQ(one, all(score(c, {.bootstrap = 100}, RunContext({.seed = 3, .threads = 4}))));
  EXPECT_NE(one, all(score(c, {.bootstrap = 100}, RunContext({.seed = 4, .threads = 1}))));
}

TEST(Evaluate, CancelledHasNoIntervals) {
  const std::atomic<bool> cancel{true};
  const Evaluation e = score(random_case(100, 2, 1), {}, RunContext({.cancel = &cancel}));
  EXPECT_TRUE(std::isnan(e.accuracy.low));
  EXPECT_GT(e.accuracy.value, 0);
}

TEST(Evaluate, RefusesWhatDoesNotFit) {
  const Case good = random_case(10, 2, 1, 0);
  const auto refused = [](const Case& c, const EvaluateOptions& options = {}) -> std::string {
    try {
      static_cast<void>(score(c, options));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  Case bad = good;
  bad.predicted.pop_back();
  EXPECT_NE(refused(bad).find("9 predictions for 10 tasks"), std::string::npos);
  bad = good;
  bad.posterior.pop_back();
  EXPECT_NE(refused(bad).find("need 20"), std::string::npos);
  bad = good;
  bad.gold[3] = ClassId{2};
  EXPECT_NE(refused(bad).find("task 3 has class 2"), std::string::npos);
  bad = good;
  bad.posterior[6] += 0.5;
  EXPECT_NE(refused(bad).find("task 3"), std::string::npos);
  bad = good;
  bad.posterior[6] = NAN;
  EXPECT_NE(refused(bad).find("task 3"), std::string::npos);
  bad = good;
  std::fill(bad.gold.begin(), bad.gold.end(), kNoClass);
  EXPECT_NE(refused(bad).find("same tasks"), std::string::npos);
  bad = good;
  bad.posterior.clear();
  EXPECT_NE(refused(bad, {.tie_rule = TieRule::fractional}).find("fractional"), std::string::npos);
  EXPECT_NE(refused(good, {.confidence_level = 1}).find("0.95"), std::string::npos);
  EXPECT_NE(refused(good, {.calibration_bins = 0}).find("bin"), std::string::npos);
}

TEST(Evaluate, AbstentionsAreCountedAndNotScored) {
  Case c = random_case(400, 3, 8, 0.0);
  const Evaluation all = score(c);
  EXPECT_EQ(all.abstained, 0U);
  EXPECT_EQ(all.coverage(), 1);
  std::size_t right = 0;
  for (std::size_t t = 0; t < 400; ++t) {
    if (t % 4 == 0) {
      c.predicted[t] = kNoClass;
    } else {
      right += c.predicted[t] == c.gold[t] ? 1 : 0;
    }
  }
  const Evaluation some = score(c);
  EXPECT_EQ(some.tasks, 300U);
  EXPECT_EQ(some.abstained, 100U);
  EXPECT_DOUBLE_EQ(some.coverage(), 0.75);
  EXPECT_DOUBLE_EQ(some.accuracy.value, static_cast<double>(right) / 300);
}

TEST(Evaluate, CoverageCurveByHand) {
  // Probabilities .9 .8 .8 .6; right, right, wrong, wrong. The two of .8 count half each.
  Case c{.classes = 2,
         .predicted = {to_class(0), to_class(0), to_class(0), to_class(0)},
         .gold = {to_class(0), to_class(0), to_class(1), to_class(1)},
         .posterior = {0.9, 0.1, 0.8, 0.2, 0.8, 0.2, 0.6, 0.4}};
  const auto curve = score(c).curve;
  ASSERT_EQ(curve.size(), 6U);
  EXPECT_DOUBLE_EQ(curve[0].coverage, 0.5);
  EXPECT_DOUBLE_EQ(curve[0].accuracy, 0.75);
  EXPECT_DOUBLE_EQ(curve[0].threshold, 0.8);
  EXPECT_DOUBLE_EQ(curve[5].coverage, 1);
  EXPECT_DOUBLE_EQ(curve[5].accuracy, 0.5);
  EXPECT_DOUBLE_EQ(curve[5].threshold, 0.6);
  c.posterior.clear();
  EXPECT_TRUE(score(c).curve.empty());
}

}  // namespace
}  // namespace wisecrowd
