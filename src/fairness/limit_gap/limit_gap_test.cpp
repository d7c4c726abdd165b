#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.hpp"
#include "wisecrowd/wisecrowd.hpp"

namespace wisecrowd {
namespace {

struct Made {
  CategoryFit fit;
  TaskGroups groups;
};

/// Posteriors drawn by group; labels are the most probable classes.
Made drawn(std::uint64_t seed, std::vector<std::size_t> sizes, std::size_t classes = 2) {
  Made made;
  made.fit.class_count = classes;
  Rng rng(seed);
  std::vector<std::string> names;
  for (std::size_t g = 0; g < sizes.size(); ++g) {
    names.push_back("g" + std::to_string(g));
    std::vector<double> alpha(classes, 1.0), row(classes);
    alpha.back() = 0.4 + static_cast<double>(g);
    for (std::size_t i = 0; i < sizes[g]; ++i) {
      rng.dirichlet(alpha, row);
      made.fit.posterior.insert(made.fit.posterior.end(), row.begin(), row.end());
      made.fit.labels.push_back(ClassId(std::max_element(row.begin(), row.end()) - row.begin()));
      made.groups.of_task.push_back(GroupId(g));
    }
  }
  made.fit.task_count = made.fit.labels.size();
  made.groups.names = NameTable(names);
  return made;
}

double expected_error(const Made& made, const std::vector<ClassId>& labels) {
  double wrong = 0;
  for (std::size_t t = 0; t < labels.size(); ++t) wrong += 1 - made.fit.posterior_of(TaskId(t))[index(labels[t])];
  return wrong / static_cast<double>(labels.size());
}

double rate_of(const Made& made, const std::vector<ClassId>& labels, std::size_t group, GapMeasure measure,
               ClassId positive) {
  double yes = 0, all = 0;
  for (std::size_t t = 0; t < labels.size(); ++t) {
    if (made.groups.of_task[t] != GroupId(group)) continue;
    const double weight =
        measure == GapMeasure::equal_opportunity ? made.fit.posterior_of(TaskId(t))[index(positive)] : 1;
    all += weight;
    yes += labels[t] == positive ? weight : 0;
  }
  return yes / all;
}

double gap_of(const Made& made, const std::vector<ClassId>& labels, GapMeasure measure, ClassId positive) {
  double low = 1, high = 0;
  for (std::size_t g = 0; g < made.groups.count(); ++g) {
    const double rate = rate_of(made, labels, g, measure, positive);
    low = std::min(low, rate);
    high = std::max(high, rate);
  }
  return high - low;
}

constexpr GapMeasure kMeasures[] = {GapMeasure::demographic_parity, GapMeasure::equal_opportunity};

TEST(LimitGap, ALimitOfOneLeavesTheLabels) {
  const Made made = drawn(1, {60, 90, 40}, 3);
  for (const GapMeasure measure : kMeasures) {
    const LimitedLabels limited = limit_gap(made.fit, made.groups, {measure, 1, ClassId{2}}, RunContext());
    EXPECT_EQ(limited.labels, made.fit.labels);
    EXPECT_EQ(limited.changed, 0U);
    EXPECT_DOUBLE_EQ(limited.expected_error, limited.expected_error_before);
    EXPECT_NEAR(limited.expected_error, expected_error(made, made.fit.labels), 1e-12);
  }
}

TEST(LimitGap, KeepsTheLimitAndTheErrorFallsAsItRises) {
  for (const std::size_t classes : {2, 3}) {
    for (const GapMeasure measure : kMeasures) {
      const Made made = drawn(classes, {200, 311, 157}, classes);
      const auto positive = ClassId(classes - 1);
      double before = 2;
      for (const double limit : {0.0, .01, .02, .05, .1, .2, .4, 1.0}) {
        const LimitedLabels limited = limit_gap(made.fit, made.groups, {measure, limit, positive}, RunContext());
        const double gap = gap_of(made, limited.labels, measure, positive);
        EXPECT_NEAR(gap, limited.gap, 1e-9);
        EXPECT_NEAR(expected_error(made, limited.labels), limited.expected_error, 1e-9);
        // What a single task weighs at most in any group.
        const double step = measure == GapMeasure::demographic_parity ? 1.0 / 157 : .03;
        EXPECT_LE(gap, std::max(limit, limited.coarse.empty() ? limit : limit + step) + 1e-9) << limit;
        EXPECT_TRUE(limit < step || limited.coarse.empty());
        EXPECT_LE(limited.expected_error, before + 1e-12) << limit;
        before = limited.expected_error;
      }
    }
  }
}

TEST(LimitGap, IsTheBestOfAllLabelsOfSmallCrowds) {
  // Every labelling of two groups, by brute force.
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Made made = drawn(seed, {6, 6});
    for (const GapMeasure measure : kMeasures) {
      for (const double limit : {.17, .34, .5, .7}) {
        double best = 2;
        std::vector<ClassId> labels(12);
        for (unsigned bits = 0; bits < 4096; ++bits) {
          for (std::size_t t = 0; t < 12; ++t) labels[t] = ClassId(bits >> t & 1U);
          if (gap_of(made, labels, measure, ClassId{1}) > limit + 1e-9) continue;
          best = std::min(best, expected_error(made, labels));
        }
        const LimitedLabels limited = limit_gap(made.fit, made.groups, {measure, limit, ClassId{1}}, RunContext());
        if (!limited.coarse.empty()) continue;  // the limit is widened to what one task weighs
        if (measure == GapMeasure::demographic_parity) {
          EXPECT_NEAR(limited.expected_error, best, 1e-9) << seed << ' ' << limit;
        } else {
          // Thresholds are not all labellings: others may hit a rate that no threshold has.
          EXPECT_GE(limited.expected_error, best - 1e-9);
        }
        EXPECT_LE(gap_of(made, limited.labels, measure, ClassId{1}), limit + 1e-9);
      }
    }
  }
}

TEST(LimitGap, NoGapMeansEqualRatesUpToATask) {
  const Made made = drawn(2, {50, 80});
  const LimitedLabels limited =
      limit_gap(made.fit, made.groups, {GapMeasure::demographic_parity, 0, ClassId{1}}, RunContext());
  EXPECT_GT(limited.gap_before, .1);
  EXPECT_LE(limited.gap, .5 / 50 + .5 / 80 + 1e-9);
  EXPECT_EQ(limited.coarse.size(), 2U);
}

TEST(LimitGap, RandomisedBoundariesKeepTheLimitInTheMean) {
  const Made made = drawn(6, {7, 9});
  std::vector<double> mean(2, 0.0);
  constexpr int kSeeds = 4000;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const LimitedLabels limited =
        limit_gap(made.fit, made.groups, {GapMeasure::demographic_parity, 0, ClassId{1}, true},
                  RunContext({.seed = static_cast<std::uint64_t>(seed), .threads = 1}));
    for (std::size_t g = 0; g < 2; ++g) mean[g] += limited.rates[g] / kSeeds;
    EXPECT_TRUE(limited.coarse.empty());
  }
  EXPECT_NEAR(mean[0], mean[1], .01);
}

TEST(LimitGap, TasksWithoutGroupAndTinyGroups) {
  Made made = drawn(8, {30, 1, 40});
  made.groups.of_task[0] = made.groups.of_task[40] = kNoGroup;
  const LimitedLabels limited =
      limit_gap(made.fit, made.groups, {GapMeasure::demographic_parity, .05, ClassId{1}}, RunContext());
  EXPECT_EQ(limited.labels[0], made.fit.labels[0]);
  EXPECT_EQ(limited.labels[40], made.fit.labels[40]);
  EXPECT_LE(std::abs(limited.rates[0] - limited.rates[2]), .05 + 1e-9);  // one task does not widen it for the others
  made.groups.of_task.assign(made.fit.task_count, kNoGroup);
  EXPECT_EQ(limit_gap(made.fit, made.groups, {}, RunContext()).labels, made.fit.labels);
}

TEST(LimitGap, EqualTasksAreToldApartByChanceAlone) {
  Made made;
  made.fit.class_count = 2;
  made.groups.names = NameTable(std::vector<std::string>{"a", "b"});
  for (std::size_t t = 0; t < 100; ++t) {
    const double q = t < 50 ? .6 : .4;
    made.fit.posterior.insert(made.fit.posterior.end(), {1 - q, q});
    made.fit.labels.push_back(ClassId(t < 50 ? 1 : 0));
    made.groups.of_task.push_back(GroupId(t < 50 ? 0 : 1));
  }
  made.fit.task_count = 100;
  const LimitedLabels limited =
      limit_gap(made.fit, made.groups, {GapMeasure::demographic_parity, .2, ClassId{1}}, RunContext());
  EXPECT_NEAR(limited.gap, .2, 1e-9);
  EXPECT_EQ(limited.changed, 40U);
  EXPECT_NEAR(limited.expected_error, (60 * .4 + 40 * .6) / 100, 1e-9);
}

TEST(LimitGap, RefusesOtherMeasuresAndLimits) {
  const Made made = drawn(1, {5, 5});
  EXPECT_THROW((void)limit_gap(made.fit, made.groups, {GapMeasure::accuracy, .1, ClassId{1}}, RunContext()), Error);
  EXPECT_THROW((void)limit_gap(made.fit, made.groups, {GapMeasure::demographic_parity, -.1, ClassId{1}}, RunContext()),
               Error);
  EXPECT_THROW((void)limit_gap(made.fit, made.groups, {GapMeasure::demographic_parity, .1, ClassId{2}}, RunContext()),
               Error);
}

}  // namespace
}  // namespace wisecrowd
