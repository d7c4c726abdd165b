// Every method for sets runs through this, by its line in src/aggregate/sets/methods.def.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numeric>

#include "base/rng.hpp"
#include "support/sets.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/evaluate_sets.hpp"
#include "wisecrowd/set_methods.hpp"

namespace wisecrowd {
namespace {

class EverySetAggregator : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static SetSimulation crowd(std::size_t tasks = 300, std::size_t classes = 6) {
    return testing::set_crowd(3, {.tasks = tasks, .workers = 25, .answers_per_task = 5, .classes = classes});
  }
  [[nodiscard]] static Parameters defaults() { return Parameters(method_of<Sets>(GetParam()).parameters); }
  [[nodiscard]] static SetFit fit(const SetData& data, unsigned threads = 1) {
    return aggregate(data, GetParam(), defaults(), RunContext({.threads = threads}));
  }
  [[nodiscard]] static std::vector<std::uint32_t> shuffled(std::size_t count, std::uint64_t seed) {
    std::vector<std::uint32_t> list(count);
    std::iota(list.begin(), list.end(), 0U);
    Rng rng(seed);
    rng.shuffle(std::span(list));
    return list;
  }
  /// The same answers with tasks, workers and classes called otherwise.
  [[nodiscard]] static SetData renamed(const SetAnswers& answers, std::span<const std::uint32_t> tasks,
                                       std::span<const std::uint32_t> workers, std::span<const std::uint32_t> classes) {
    std::vector<std::vector<ClassId>> sets(answers.answer_count());
    std::vector<SetAnswer> list;
    for (std::size_t t = 0; t < answers.task_count(); ++t) {
      for (AnswerIndex a = answers.task_offsets()[t]; a < answers.task_offsets()[t + 1]; ++a) {
        for (const ClassId label : answers.set(a)) sets[a].push_back(ClassId(classes[index(label)]));
        std::sort(sets[a].begin(), sets[a].end());
        list.push_back({TaskId{tasks[t]}, WorkerId{workers[index(answers.workers()[a])]}, sets[a]});
      }
    }
    return {make_set_answers(list, {answers.task_names(), answers.worker_names(), answers.class_names()}), {}};
  }
};

TEST_P(EverySetAggregator, IsWellFormed) {
  const SetSimulation simulation = crowd();
  const SetFit result = fit(testing::answers_alone(simulation.data));
  ASSERT_EQ(result.offsets.size(), 301U);
  ASSERT_EQ(result.candidates.size(), result.probability.size());
  ASSERT_EQ(result.sensitivity.size(), 25U * 6);
  ASSERT_EQ(result.specificity.size(), 25U * 6);
  ASSERT_EQ(result.class_prior.size(), 6U);
  for (const auto* values : {&result.probability, &result.sensitivity, &result.specificity, &result.class_prior}) {
    for (const double p : *values) EXPECT_TRUE(p >= 0 && p <= 1) << p;
  }
  for (std::size_t t = 0; t < 300; ++t) EXPECT_TRUE(result.is_known(TaskId(t)));
  if (result.objective_is_monotone) {
    for (std::size_t i = 1; i < result.trace.size(); ++i) {
      EXPECT_GE(result.trace[i], result.trace[i - 1] - 1e-9 * std::abs(result.trace[i]));
    }
  }
}

TEST_P(EverySetAggregator, EmptyAndTinyData) {
  EXPECT_TRUE(fit({}).probability.empty());
  SetAnswersBuilder one;
  one.add("t", "w", {"a"});
  const SetFit single = fit({one.build(), {}});
  EXPECT_TRUE(single.is_known(TaskId{0}));
  EXPECT_EQ(single.set_of(TaskId{0}), std::vector{ClassId{0}});
  SetAnswersBuilder silent({"a", "b"});
  silent.add("t", "v", {}).add("t", "w", {}).add("u", "v", {});
  const SetFit none = fit({silent.build(), {}});
  EXPECT_TRUE(none.set_of(TaskId{0}).empty());
  EXPECT_TRUE(none.is_known(TaskId{1}));
  SetAnswersBuilder bare;
  bare.add("a", "u", {"x"}).add("a", "v", {"x"}).add_task("b").add_worker("w");
  const SetFit unanswered = fit({bare.build(), {}});
  EXPECT_FALSE(unanswered.is_known(TaskId{1}));
  EXPECT_TRUE(unanswered.candidates_of(TaskId{1}).empty());
  for (const double p : unanswered.sensitivity) EXPECT_TRUE(std::isfinite(p));
  SetAnswersBuilder nothing;
  nothing.add("t", "w", {});
  EXPECT_TRUE(fit({nothing.build(), {}}).set_of(TaskId{0}).empty());
}

TEST_P(EverySetAggregator, SameBitsForAnyNumberOfThreads) {
  const SetSimulation simulation = crowd(1500);
  const SetData data = testing::answers_alone(simulation.data);
  const SetFit one = fit(data, 1), many = fit(data, 3);
  EXPECT_EQ(one.probability, many.probability);
  EXPECT_EQ(one.sensitivity, many.sensitivity);
  EXPECT_EQ(one.specificity, many.specificity);
  EXPECT_EQ(one.trace, many.trace);
}

TEST_P(EverySetAggregator, RenamingPermutesAndChangesNothingElse) {
  if (method_of<Sets>(GetParam()).uses_chance) GTEST_SKIP() << "draws by the order of tasks";
  const SetSimulation simulation = crowd();
  const auto tasks = shuffled(300, 1), workers = shuffled(25, 2), classes = shuffled(6, 3);
  const SetFit before = fit(testing::answers_alone(simulation.data));
  const SetFit after = fit(renamed(simulation.data.answers, tasks, workers, classes));
  for (std::size_t t = 0; t < 300; ++t) {
    for (std::size_t k = 0; k < 6; ++k) {
      EXPECT_NEAR(before.probability_of(TaskId(t), ClassId(k)),
                  after.probability_of(TaskId(tasks[t]), ClassId(classes[k])), 1e-5);
    }
  }
  for (std::size_t w = 0; w < 25; ++w) {
    for (std::size_t k = 0; k < 6; ++k) {
      EXPECT_NEAR(before.sensitivity[w * 6 + k], after.sensitivity[workers[w] * 6 + classes[k]], 1e-5);
    }
  }
}

TEST_P(EverySetAggregator, GoldIsTheSet) {
  SetData data = crowd().data;
  for (std::size_t t = 0; t < data.gold.size(); ++t) {
    if (t != 7) data.gold[t].reset();
  }
  data.gold[7] = std::vector{ClassId{1}, ClassId{4}};
  const SetFit result = fit(data);
  EXPECT_EQ(result.set_of(TaskId{7}), *data.gold[7]);
  EXPECT_EQ(result.probability_of(TaskId{7}, ClassId{1}), 1);
  EXPECT_EQ(result.probability_of(TaskId{7}, ClassId{0}), 0);
}

TEST_P(EverySetAggregator, IsNearTheTruth) {
  const SetSimulation simulation = crowd(1000);
  const SetFit result = fit(testing::answers_alone(simulation.data));
  EXPECT_GT(evaluate_sets(result, simulation.data.gold).micro_f1.value, 0.8);
}

TEST_P(EverySetAggregator, HiddenSetsHaveProbabilities) {
  // All subsets together have probability 1.
  const SetSimulation simulation = crowd(60, 4);
  std::vector<std::vector<ClassId>> sets(16);
  std::vector<SetAnswer> answers;
  for (std::size_t s = 0; s < 16; ++s) {
    for (std::size_t k = 0; k < 4; ++k) {
      if ((s >> k) % 2 == 1) sets[s].push_back(ClassId(k));
    }
    answers.push_back({TaskId{3}, WorkerId{2}, sets[s]});
  }
  const auto method = make_method<Sets>(GetParam(), defaults());
  double sum = 0;
  for (const double log : method->log_predictive(testing::answers_alone(simulation.data), answers, RunContext())) {
    EXPECT_TRUE(std::isfinite(log));
    sum += std::exp(log);
  }
  EXPECT_NEAR(sum, 1, 1e-6);
  // Also of a task and a worker of whom nothing is known.
  SetAnswersBuilder builder({"a", "b"});
  builder.add("t", "v", {"a"}).add("t", "w", {"a", "b"}).add_task("u").add_worker("x");
  const ClassId named[] = {ClassId{1}};
  const SetAnswer strange{TaskId{1}, WorkerId{2}, named};
  EXPECT_TRUE(std::isfinite(method->log_predictive({builder.build(), {}}, std::span(&strange, 1), RunContext())[0]));
}

TEST_P(EverySetAggregator, StopsWhenCancelled) {
  std::atomic<bool> stop{true};
  const RunContext context({.cancel = &stop});
  EXPECT_EQ(aggregate(crowd().data, GetParam(), defaults(), context).status, Status::cancelled);
}

std::vector<std::string> names_of_set_methods() {
  std::vector<std::string> names;
  for (const MethodInfo& info : methods_of<Sets>()) names.push_back(info.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Registry, EverySetAggregator, ::testing::ValuesIn(names_of_set_methods()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace wisecrowd
