#include "aggregate/categories/shared/em_acceleration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd {
namespace {

CategoryFit fit(const CategoryData& data, const std::string& method, const std::string& acceleration,
                const std::string& tolerance, std::size_t max_iterations, unsigned threads = 1) {
  Parameters parameters(aggregation_method(method).parameters);
  parameters.set("acceleration", acceleration);
  parameters.set("tolerance", tolerance);
  parameters.set("max_iterations", std::to_string(max_iterations));
  return aggregate(data, method, parameters, RunContext({.threads = threads}));
}

const char* const kMethods[] = {"dawid_skene",     "one_coin", "confusion_vector", "ibcc", "hierarchical_dawid_skene",
                                "spammer_mixture", "mace"};

void expect_monotone(const std::vector<double>& trace, const std::string& what) {
  for (std::size_t i = 1; i < trace.size(); ++i) {
    EXPECT_GE(trace[i], trace[i - 1] - 1e-9 * std::abs(trace[i])) << what << ", iteration " << i;
  }
}

// Steps that shrink by a fixed share each lead to their limit in one go.
TEST(EmAcceleration, OneRateIsSummedUpExactly) {
  const double rate = 0.95;
  VectorHistory history;
  for (const double left : {1.0, rate, rate * rate}) history.note({3 + left, 5 - 2 * left});
  const auto [step, bend] = history.lengths();
  EXPECT_NEAR(std::sqrt(step / bend), 1 / (1 - rate), 1e-9);
  const auto limit = history.beyond(1 / (1 - rate));
  EXPECT_NEAR(limit[0], 3, 1e-9);
  EXPECT_NEAR(limit[1], 5, 1e-9);
  EXPECT_EQ(history.beyond(1)[0], 3 + rate * rate);
  // A number on its way to 0 stays positive.
  VectorHistory falling;
  for (const double value : {0.9, 0.5, 0.1}) falling.note({value});
  EXPECT_NEAR(falling.beyond(4)[0], 0.01, 1e-12);
}

TEST(EmAcceleration, TheLimitGrowsWithSuccessAndFallsWithFailure) {
  Reach reach;
  EXPECT_EQ(reach.of(1, 4), 1) << "a step that shrinks by more than half needs no help";
  EXPECT_EQ(reach.of(9, 1), 3);
  EXPECT_EQ(reach.of(1e6, 1), 4);
  EXPECT_EQ(reach.of(1e6, 1), 16);
  reach.was_too_far();
  EXPECT_EQ(reach.of(1e6, 1), 4);
  EXPECT_EQ(reach.of(0, 0), 1) << "at rest";
}

TEST(EmAcceleration, FindsTheOptimumOfPlainSteps) {
  std::size_t plain_passes = 0, passes = 0;
  for (const std::size_t classes : {2U, 3U, 16U}) {
    const auto crowd = testing::small_crowd(classes, 300, 12, classes, 5);
    const CategoryData data{crowd.data.answers, {}, {}};
    for (const char* const method : kMethods) {
      const std::string what = std::string(method) + " with " + std::to_string(classes);
      const auto plain = fit(data, method, "none", "1e-14", 20'000);
      const auto quick = fit(data, method, "squarem", "1e-14", 20'000);
      EXPECT_EQ(quick.status, Status::converged) << what;
      EXPECT_GE(quick.trace.back(), plain.trace.back() - 1e-8 * std::abs(plain.trace.back())) << what;
      EXPECT_EQ(quick.labels, plain.labels) << what;
      expect_monotone(quick.trace, what);
      plain_passes += plain.iterations;
      passes += quick.iterations;
    }
  }
  EXPECT_LT(2 * passes, plain_passes);
}

TEST(EmAcceleration, GoldAndTaskPriorsAreKept) {
  auto crowd = testing::small_crowd(31, 200, 8, 3, 3);
  crowd.data.gold.assign(200, kNoClass);
  for (std::size_t t = 0; t < 200; t += 4) crowd.data.gold[t] = crowd.truth[t];
  Rng rng(1);
  const std::vector<double> flat(3, 1.0);
  for (const bool with_priors : {false, true}) {
    if (with_priors) {
      crowd.data.task_priors.resize(200 * 3);
      for (std::size_t t = 0; t < 200; ++t) rng.dirichlet(flat, std::span(crowd.data.task_priors).subspan(t * 3, 3));
    }
    for (const char* const method : kMethods) {
      const auto plain = fit(crowd.data, method, "none", "1e-13", 20'000);
      const auto quick = fit(crowd.data, method, "squarem", "1e-13", 20'000);
      EXPECT_GE(quick.trace.back(), plain.trace.back() - 1e-8 * std::abs(plain.trace.back())) << method;
      expect_monotone(quick.trace, method);
      for (std::size_t t = 0; t < 200; t += 4) EXPECT_EQ(quick.posterior[t * 3 + index(crowd.truth[t])], 1) << method;
    }
  }
}

// What a fit returns is the state whose objective its trace ends with, also where the last step tried was discarded.
TEST(EmAcceleration, IsStoppedAnywhere) {
  std::size_t discarded = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const auto crowd = testing::small_crowd(seed, 60, 9, 2 + seed % 3, 3);
    const CategoryData data{crowd.data.answers, {}, {}};
    for (std::size_t most = 1; most <= 40; ++most) {
      Parameters parameters(aggregation_method("dawid_skene").parameters);
      parameters.set("pseudo_count", "0");
      parameters.set("tolerance", "1e-300");
      parameters.set("max_iterations", std::to_string(most));
      const auto result = aggregate(data, "dawid_skene", parameters, RunContext());
      EXPECT_LE(result.trace.size(), most);
      EXPECT_EQ(result.iterations, result.trace.size());
      EXPECT_DOUBLE_EQ(result.log_likelihood, result.trace.back()) << "the objective, where nothing is smoothed";
      for (std::size_t i = 1; i < result.trace.size(); ++i) discarded += result.trace[i] == result.trace[i - 1] ? 1 : 0;
    }
  }
  EXPECT_GT(discarded, 0U) << "otherwise this test has not seen what it is about";
}

TEST(EmAcceleration, SameBitsForAnyNumberOfThreads) {
  for (const std::size_t classes : {2U, 5U, 17U}) {
    const auto crowd = testing::small_crowd(classes, 9000, 200, classes, 4);
    const CategoryData data{crowd.data.answers, {}, {}};
    for (const char* const method : kMethods) {
      const auto one = fit(data, method, "squarem", "1e-9", 60);
      for (const unsigned threads : {2U, 3U}) {
        const auto several = fit(data, method, "squarem", "1e-9", 60, threads);
        EXPECT_EQ(one.trace, several.trace) << method;
        EXPECT_EQ(one.posterior, several.posterior) << method;
        EXPECT_EQ(one.confusion, several.confusion) << method;
      }
    }
  }
}

// A number of iterations instead of a tolerance means that many plain ones.
TEST(EmAcceleration, NoToleranceMeansPlainSteps) {
  const auto crowd = testing::small_crowd(3, 200, 9, 3, 3);
  for (const char* const method : kMethods) {
    const auto plain = fit(crowd.data, method, "none", "0", 15);
    EXPECT_EQ(fit(crowd.data, method, "squarem", "0", 15).trace, plain.trace) << method;
  }
}

// Both layouts show visitors what they are told to.
TEST(EmAcceleration, CountsCanBeReadFromElsewhere) {
  const auto crowd = testing::small_crowd(5, 200, 9, 3, 3);
  const RunContext context;
  for (const auto layout : {ConfusionPass::Layout::scattered, ConfusionPass::Layout::gathered}) {
    ConfusionPass pass(crowd.data, context, 1, layout);
    (void)pass.sweep_votes();
    const auto total = [&] {
      std::vector<double> sums(9, 0.0);
      pass.visit_counts([&](std::size_t, std::size_t worker, const double* counts) {
        for (std::size_t l = 0; l < 3; ++l) {
          for (std::size_t k = 0; k < 3; ++k) sums[worker] += counts[l * pass.stride() + k];
        }
      });
      return sums;
    };
    const auto own = total();
    pass.read_counts_by([&](std::size_t worker, double* counts) {
      std::fill_n(counts, 3 * pass.stride(), 0.0);
      counts[0] = static_cast<double>(worker) + 0.5;
    });
    for (std::size_t w = 0; w < 9; ++w) EXPECT_EQ(total()[w], static_cast<double>(w) + 0.5);
    pass.read_counts_by({});
    EXPECT_EQ(total(), own);
  }
}

}  // namespace
}  // namespace wisecrowd
