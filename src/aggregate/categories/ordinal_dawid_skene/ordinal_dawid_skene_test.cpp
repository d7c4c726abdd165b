#include "aggregate/categories/ordinal_dawid_skene/ordinal_dawid_skene.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "wisecrowd/evaluate_ordered.hpp"
#include "wisecrowd/ordered_classes.hpp"
#include "wisecrowd/task_graph.hpp"

namespace wisecrowd {
namespace {

using ordinal_dawid_skene::above;
using ordinal_dawid_skene::make_falling;
using ordinal_dawid_skene::OrdinalDawidSkene;

CategoryData ordered(CategoryData data) {
  order_classes(data, true);
  data.gold.clear();
  return data;
}

TEST(OrdinalDawidSkene, PoolsAdjacentViolators) {
  std::vector<double> values{0.9, 0.2, 0.6, 0.7, 0.1};
  make_falling(values);
  const std::vector<double> expected{0.9, 0.5, 0.5, 0.5, 0.1};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(values[i], expected[i], 1e-15);
  std::vector<double> falling{0.8, 0.8, 0.3};
  make_falling(falling);
  EXPECT_EQ(falling, (std::vector<double>{0.8, 0.8, 0.3}));
}

/// No sequence on a grid that never rises is nearer.
TEST(OrdinalDawidSkene, PooledIsNearestByBruteForce) {
  Rng rng(5);
  for (int round = 0; round < 20; ++round) {
    std::vector<double> values(3);
    for (double& v : values) v = rng.uniform();
    std::vector<double> pooled = values;
    make_falling(pooled);
    const auto distance = [&](double a, double b, double c) {
      return (a - values[0]) * (a - values[0]) + (b - values[1]) * (b - values[1]) + (c - values[2]) * (c - values[2]);
    };
    double best = 1e9;
    for (int a = 0; a <= 50; ++a) {
      for (int b = 0; b <= a; ++b) {
        for (int c = 0; c <= b; ++c) best = std::min(best, distance(a / 50.0, b / 50.0, c / 50.0));
      }
    }
    EXPECT_LE(distance(pooled[0], pooled[1], pooled[2]), best + 1e-12);
  }
}

TEST(OrdinalDawidSkene, TwoClassesAreDawidSkene) {
  const CategoryData data = ordered(testing::small_crowd(3, 300, 15, 2, 4).data);
  Parameters same(aggregation_method("dawid_skene").parameters);
  same.set("pseudo_count", "1");
  const CategoryFit one = aggregate(data, "dawid_skene", same, RunContext());
  const std::string_view decisions[] = {"mode", "median", "mean"};
  for (const std::string_view decision : decisions) {
    Parameters parameters(aggregation_method("ordinal_dawid_skene").parameters);
    parameters.set("decision", decision);
    const CategoryFit other = aggregate(data, "ordinal_dawid_skene", parameters, RunContext());
    EXPECT_EQ(one.posterior, other.posterior);
    EXPECT_EQ(one.confusion, other.confusion);
    EXPECT_EQ(one.class_prior, other.class_prior);
    EXPECT_EQ(one.trace, other.trace);
    EXPECT_EQ(one.labels, other.labels);
    EXPECT_EQ(one.log_likelihood, other.log_likelihood);
  }
}

TEST(OrdinalDawidSkene, EachCutIsDawidSkeneOfItsQuestion) {
  const CategoryData data = ordered(testing::small_crowd(4, 200, 12, 4, 5).data);
  const CategoryFit all = aggregate(data, "ordinal_dawid_skene");
  Parameters same(aggregation_method("dawid_skene").parameters);
  same.set("pseudo_count", "1");
  std::vector<CategoryFit> cuts;
  for (std::size_t cut = 0; cut < 3; ++cut) {
    cuts.push_back(aggregate(above(data, cut), "dawid_skene", same, RunContext()));
  }
  for (std::size_t t = 0; t < 200; ++t) {
    std::vector<double> tails;
    for (const CategoryFit& cut : cuts) tails.push_back(cut.posterior[2 * t + 1]);
    make_falling(tails);
    double beyond = 1;
    for (std::size_t cut = 0; cut < 3; ++cut) {
      beyond -= all.posterior[4 * t + cut];
      EXPECT_NEAR(beyond, tails[cut], 1e-9);
    }
  }
}

TEST(OrdinalDawidSkene, DecisionsMinimiseWhatTheySay) {
  const CategoryData data = ordered(testing::small_crowd(6, 200, 8, 5, 3).data);
  for (const auto& [decision, power] : {std::pair("median", 1.0), std::pair("mean", 2.0)}) {
    Parameters parameters(aggregation_method("ordinal_dawid_skene").parameters);
    parameters.set("decision", decision);
    const CategoryFit fit = aggregate(data, "ordinal_dawid_skene", parameters, RunContext());
    for (std::size_t t = 0; t < 200; ++t) {
      const auto cost = [&](std::size_t label) {
        double sum = 0;
        for (std::size_t k = 0; k < 5; ++k) {
          sum +=
              fit.posterior[5 * t + k] * std::pow(std::abs(static_cast<double>(k) - static_cast<double>(label)), power);
        }
        return sum;
      };
      for (std::size_t other = 0; other < 5; ++other) EXPECT_LE(cost(index(fit.labels[t])), cost(other) + 1e-8);
    }
  }
}

TEST(OrdinalDawidSkene, RefusesClassesWithoutOrder) {
  const CategoryData data = testing::small_crowd(3, 30, 5, 3, 3).data;
  try {
    static_cast<void>(aggregate(data, "ordinal_dawid_skene"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("`ordered`"), std::string::npos);
  }
}

TEST(OrdinalDawidSkene, NearerThanDawidSkeneOnAnOrderedCrowd) {
  const SimulationInfo& kind = simulation_kind("ordered_scale");
  double own = 0, plain = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Simulation crowd = simulate(kind.name, {.tasks = 500, .workers = 60, .classes = 6, .answers_per_task = 4},
                                      Parameters(kind.parameters), RunContext({.seed = seed}));
    CategoryData data{.answers = crowd.data.answers};
    ASSERT_TRUE(is_ordered(data.answers));
    for (const auto& [method, error] : {std::pair("ordinal_dawid_skene", &own), std::pair("dawid_skene", &plain)}) {
      const CategoryFit fit = aggregate(data, method);
      *error += evaluate_ranks(fit.labels, crowd.data.gold, 6, RunContext()).rank_error.value;
    }
  }
  EXPECT_LT(own, plain);
}

}  // namespace
}  // namespace wisecrowd
