// Every method for numbers runs through this, by its line in src/aggregate/numbers/methods.def.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/rng.hpp"
#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/number_limits.hpp"
#include "wisecrowd/simulate_numbers.hpp"

namespace wisecrowd {
namespace {

class EveryNumberAggregator : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static NumberSimulation crowd(std::size_t dimensions = 1, std::size_t tasks = 400) {
    return simulate_numbers({.tasks = tasks, .workers = 30, .answers_per_task = 5, .dimensions = dimensions},
                            Parameters(number_simulation_parameters()), RunContext({.seed = 3}));
  }
  /// Without the truth that was drawn.
  [[nodiscard]] static NumberData answers_of(const NumberSimulation& simulation) {
    return {simulation.data.answers, {}};
  }
  [[nodiscard]] NumberFit fit(const NumberData& data, unsigned threads = 1) const {
    return aggregate(data, GetParam(), Parameters(method_of<Numbers>(GetParam()).parameters),
                     RunContext({.threads = threads}));
  }
  /// The same answers with values changed and ids permuted.
  template <class Change>
  [[nodiscard]] static NumberData changed(const NumberAnswers& answers, std::span<const std::uint32_t> task_order,
                                          std::span<const std::uint32_t> worker_order, const Change& change) {
    std::vector<double> values;
    for (const double v : answers.values()) values.push_back(change(v));
    std::vector<NumberAnswer> list;
    const auto offsets = answers.task_offsets();
    for (std::size_t t = 0; t < answers.task_count(); ++t) {
      for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
        list.push_back({TaskId{task_order[t]}, WorkerId{worker_order[index(answers.workers()[a])]},
                        std::span(values).subspan(a * answers.dimensions(), answers.dimensions())});
      }
    }
    const auto blank = [](std::size_t count) { return NameTable("", std::vector<std::uint64_t>(count + 1, 0)); };
    return {make_number_answers(
                list, {blank(answers.task_count()), blank(answers.worker_count()), answers.dimension_names()}),
            {}};
  }
  [[nodiscard]] static std::vector<std::uint32_t> ids(std::size_t count) {
    std::vector<std::uint32_t> list(count);
    std::iota(list.begin(), list.end(), 0U);
    return list;
  }
};

TEST_P(EveryNumberAggregator, IsWellFormed) {
  for (const std::size_t dimensions : {1UL, 3UL}) {
    const NumberSimulation simulation = crowd(dimensions);
    const NumberFit result = fit(answers_of(simulation));
    ASSERT_EQ(result.estimate.size(), 400 * dimensions);
    ASSERT_EQ(result.bias.size(), 30 * dimensions);
    for (std::size_t i = 0; i < result.estimate.size(); ++i) {
      EXPECT_TRUE(std::isfinite(result.estimate[i]));
      EXPECT_LE(result.low[i], result.estimate[i]);
      EXPECT_GE(result.high[i], result.estimate[i]);
      EXPECT_GE(result.deviation[i], 0);
    }
  }
}

TEST_P(EveryNumberAggregator, EmptyAndTinyData) {
  EXPECT_TRUE(fit({}).estimate.empty());
  NumberAnswersBuilder one;
  one.add("t", "w", 7);
  const NumberFit single = fit({one.build(), {}});
  EXPECT_DOUBLE_EQ(single.estimate[0], 7);
  EXPECT_TRUE(std::isnan(single.deviation[0]) || single.deviation[0] >= 0);
  NumberAnswersBuilder same;
  for (const char* task : {"a", "b"}) same.add(task, "u", 5).add(task, "v", 5);
  const NumberFit equal = fit({same.build(), {}});
  EXPECT_EQ(equal.estimate, (std::vector<double>{5, 5}));
  EXPECT_EQ(equal.deviation, (std::vector<double>{0, 0}));
  NumberAnswersBuilder bare;
  bare.add("a", "u", 5).add_task("b").add_worker("v");
  EXPECT_TRUE(std::isnan(fit({bare.build(), {}}).estimate[1]));
}

TEST_P(EveryNumberAggregator, SameBitsForAnyNumberOfThreads) {
  const NumberSimulation simulation = crowd(2, 20'000);
  const NumberFit one = fit(answers_of(simulation), 1), many = fit(answers_of(simulation), 3);
  EXPECT_EQ(one.estimate, many.estimate);
  EXPECT_EQ(one.deviation, many.deviation);
  EXPECT_EQ(one.bias, many.bias);
  EXPECT_EQ(one.scale, many.scale);
}

TEST_P(EveryNumberAggregator, RenamingPermutesAndChangesNothingElse) {
  const NumberSimulation simulation = crowd();
  const NumberAnswers& answers = simulation.data.answers;
  auto tasks = ids(400), workers = ids(30);
  Rng rng(1);
  for (std::size_t i = tasks.size(); i > 1; --i) std::swap(tasks[i - 1], tasks[rng.below(i)]);
  for (std::size_t i = workers.size(); i > 1; --i) std::swap(workers[i - 1], workers[rng.below(i)]);
  const NumberFit before = fit(answers_of(simulation));
  const NumberFit after = fit(changed(answers, tasks, workers, [](double v) { return v; }));
  for (std::size_t t = 0; t < 400; ++t) EXPECT_NEAR(before.estimate[t], after.estimate[tasks[t]], 1e-9);
  for (std::size_t w = 0; w < 30; ++w) EXPECT_NEAR(before.scale[w], after.scale[workers[w]], 1e-9);
}

TEST_P(EveryNumberAggregator, FollowsShiftAndScale) {
  const NumberSimulation simulation = crowd();
  const NumberFit before = fit(answers_of(simulation));
  const NumberFit after =
      fit(changed(simulation.data.answers, ids(400), ids(30), [](double v) { return 1000 - 4 * v; }));
  for (std::size_t t = 0; t < 400; ++t) {
    EXPECT_NEAR(after.estimate[t], 1000 - 4 * before.estimate[t], 1e-9);
    EXPECT_NEAR(after.deviation[t], 4 * before.deviation[t], 1e-9);
  }
  for (std::size_t w = 0; w < 30; ++w) EXPECT_NEAR(after.bias[w], -4 * before.bias[w], 1e-9);
}

TEST_P(EveryNumberAggregator, GoldIsTheEstimate) {
  if (!method_of<Numbers>(GetParam()).uses_gold) GTEST_SKIP() << "does not use gold";
  NumberData data = crowd().data;
  const double known = data.gold[7];
  std::fill(data.gold.begin(), data.gold.end(), std::nan(""));
  data.gold[7] = known;
  const NumberFit result = fit(data);
  EXPECT_EQ(result.estimate[7], known);
  EXPECT_EQ(result.deviation[7], 0);
}

TEST_P(EveryNumberAggregator, IsNearTheTruth) {
  const NumberSimulation simulation = crowd(1, 2000);
  const NumberFit result = fit(answers_of(simulation));
  double off = 0;
  for (std::size_t t = 0; t < 2000; ++t) off += std::abs(result.estimate[t] - simulation.data.gold[t]) / 2000;
  EXPECT_LT(off, 3);  // one answer is off by about 5
}

TEST_P(EveryNumberAggregator, DensitiesOfHiddenAnswersAreFinite) {
  const NumberSimulation simulation = crowd(2, 50);
  const double far[] = {1e6, -1e6};
  const NumberAnswer answer{TaskId{3}, WorkerId{2}, far};
  const auto method = make_method<Numbers>(GetParam(), Parameters(method_of<Numbers>(GetParam()).parameters));
  const auto logs = method->log_predictive(answers_of(simulation), std::span(&answer, 1), RunContext());
  EXPECT_TRUE(std::isfinite(logs[0]));
}

TEST_P(EveryNumberAggregator, DensitiesAreFiniteWhereLittleIsKnown) {
  const auto method = make_method<Numbers>(GetParam(), Parameters(method_of<Numbers>(GetParam()).parameters));
  NumberAnswersBuilder none, one, single, same, edge;
  none.add_task("t").add_worker("w");
  one.add("t", "w", 7);
  single.add("s", "v", 7).add("t", "w", 8);
  same.add("s", "v", 5).add("s", "w", 5).add("t", "v", 5).add("t", "w", 5);
  edge.add("s", "v", kLargestNumber).add("s", "w", -kLargestNumber).add("t", "v", 0).add("t", "w", kLargestNumber);
  for (const NumberAnswers& answers : {none.build(), one.build(), single.build(), same.build(), edge.build()}) {
    const NumberData data{answers, {}};
    for (const double y : {0.0, 5.0, kLargestNumber, -kLargestNumber}) {
      const NumberAnswer answer{TaskId{0}, WorkerId{0}, std::span(&y, 1)};
      const auto logs = method->log_predictive(data, std::span(&answer, 1), RunContext());
      EXPECT_TRUE(std::isfinite(logs.at(0))) << answers.answer_count() << " " << y;
    }
  }
  const NumberFit fitted = fit({edge.build(), {}});
  for (const auto* values :
       {&fitted.estimate, &fitted.deviation, &fitted.low, &fitted.high, &fitted.bias, &fitted.scale}) {
    for (const double value : *values) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST_P(EveryNumberAggregator, StopsWhenCancelled) {
  std::atomic<bool> stop{true};
  const RunContext context({.cancel = &stop});
  const NumberFit result =
      aggregate(crowd().data, GetParam(), Parameters(method_of<Numbers>(GetParam()).parameters), context);
  EXPECT_EQ(result.status, Status::cancelled);
}

std::vector<std::string> names_of_methods() {
  std::vector<std::string> names;
  for (const MethodInfo& info : methods_of<Numbers>()) names.push_back(info.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Registry, EveryNumberAggregator, ::testing::ValuesIn(names_of_methods()),
                         [](const auto& info) { return info.param; });

TEST(NumberMethods, TheWrongKindIsSaid) {
  EXPECT_THROW((void)method_of<Numbers>("dawid_skene"), Error);
  try {
    (void)method_of<Numbers>("dawid_skene");
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("these answers are numbers"), std::string::npos) << error.what();
  }
  try {
    (void)aggregation_method("median");
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("these answers are categories"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace wisecrowd
