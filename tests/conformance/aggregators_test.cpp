// Every line of methods.def goes through this suite.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <thread>

#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "support/structure.hpp"
#include "wisecrowd/method_needs.hpp"

namespace wisecrowd {
namespace {

class EveryAggregator : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] const MethodInfo& info() const { return aggregation_method(GetParam()); }
  [[nodiscard]] Parameters parameters() const {
    Parameters values(info().parameters);
    // Samplers are right after any number of sweeps, only noisier.
    if (has_parameter("sweeps")) values.set("sweeps", "60");
    if (has_parameter("burn_in")) values.set("burn_in", "40");
    // The suite asks for the most probable class; other decisions have tests of their own.
    if (has_parameter("decision")) values.set("decision", "mode");
    if (uses_task_graph(info())) values.set("tolerance", "1e-9");
    return values;
  }
  [[nodiscard]] CategoryFit fit(const CategoryData& data, unsigned threads = 1, std::uint64_t seed = 0) const {
    return aggregate(suited(data), GetParam(), parameters(), RunContext({.seed = seed, .threads = threads}));
  }
  /// What the method asks for besides answers.
  [[nodiscard]] CategoryData suited(const CategoryData& data, std::span<const std::uint32_t> place_of = {}) const {
    return uses_order(info()) || uses_task_graph(info()) ? testing::with_order_and_graph(data, place_of) : data;
  }
  /// As many classes as the test wants, or as the method can.
  [[nodiscard]] std::size_t classes(std::size_t wanted) const {
    return info().max_classes == 0 ? wanted : std::min(wanted, info().max_classes);
  }
  [[nodiscard]] std::size_t workers(std::size_t wanted) const {
    return info().max_workers == 0 ? wanted : std::min(wanted, info().max_workers);
  }
  [[nodiscard]] bool has_parameter(std::string_view name) const {
    return std::any_of(info().parameters.begin(), info().parameters.end(),
                       [&](const auto& p) { return p.name == name; });
  }
};

void expect_well_formed(const CategoryFit& result, const CategoryData& data) {
  const std::size_t tasks = data.answers.task_count(), workers = data.answers.worker_count(),
                    classes = data.answers.class_count();
  ASSERT_EQ(result.task_count, tasks);
  ASSERT_EQ(result.worker_count, workers);
  ASSERT_EQ(result.class_count, classes);
  ASSERT_EQ(result.posterior.size(), tasks * classes);
  ASSERT_EQ(result.labels.size(), tasks);
  ASSERT_TRUE(result.confusion.empty() || result.confusion.size() == workers * classes * classes);
  ASSERT_TRUE(result.skill.empty() || result.skill.size() == workers);
  const auto on_simplex = [](const double* row, std::size_t size) {
    double sum = 0;
    for (std::size_t k = 0; k < size; ++k) {
      EXPECT_GE(row[k], 0);
      EXPECT_TRUE(std::isfinite(row[k]));
      sum += row[k];
    }
    EXPECT_NEAR(sum, 1, 1e-9);
  };
  for (std::size_t t = 0; t < tasks; ++t) {
    on_simplex(result.posterior.data() + t * classes, classes);
    ASSERT_LT(index(result.labels[t]), classes);
    const auto row = result.posterior_of(TaskId{static_cast<std::uint32_t>(t)});
    EXPECT_GE(row[index(result.labels[t])], *std::max_element(row.begin(), row.end()) - 1e-9);
  }
  for (std::size_t r = 0; r < result.confusion.size(); r += classes) on_simplex(result.confusion.data() + r, classes);
  if (classes > 0 && !result.class_prior.empty()) on_simplex(result.class_prior.data(), classes);
  for (const double s : result.skill) EXPECT_TRUE(std::isfinite(s));
  ASSERT_TRUE(result.worker_group.empty() || result.worker_group.size() == workers);
  ASSERT_TRUE(result.task_score.empty() || result.task_score.size() == tasks);
  EXPECT_EQ(result.task_score.empty(), result.task_score_name.empty());
  for (const double s : result.task_score) EXPECT_TRUE(std::isfinite(s));
  for (const double o : result.trace) EXPECT_TRUE(std::isfinite(o));
  if (result.objective_is_monotone) {
    for (std::size_t i = 1; i < result.trace.size(); ++i) {
      EXPECT_GE(result.trace[i], result.trace[i - 1] - 1e-8 * std::max(1.0, std::abs(result.trace[i - 1])))
          << "iteration " << i;
    }
  }
}

TEST_P(EveryAggregator, DescribesItself) {
  EXPECT_FALSE(info().title.empty());
  EXPECT_FALSE(info().summary.empty());
  EXPECT_FALSE(info().when_to_use.empty());
  EXPECT_FALSE(info().reference.empty());
  EXPECT_FALSE(info().assumptions.empty());
  EXPECT_FALSE(info().cost.empty());
  for (const auto& parameter : info().parameters) {
    EXPECT_FALSE(parameter.help.empty()) << parameter.name;
    Parameters values = parameters();
    EXPECT_NO_THROW(values.set(parameter.name, to_string(parameter.default_value))) << parameter.name;
  }
}

TEST_P(EveryAggregator, EmptyData) {
  const CategoryData data;
  expect_well_formed(fit(data), data);
}

TEST_P(EveryAggregator, DegenerateData) {
  const auto check = [&](CategoryAnswersBuilder builder) {
    const CategoryData data{builder.build(), {}, {}};
    expect_well_formed(fit(data), data);
  };
  {
    CategoryAnswersBuilder one;
    one.add("t", "w", "yes");
    check(std::move(one));
  }
  {
    CategoryAnswersBuilder one_worker;
    for (int t = 0; t < 10; ++t) one_worker.add(std::to_string(t), "w", t % 3 == 0 ? "a" : "b");
    check(std::move(one_worker));
  }
  {
    CategoryAnswersBuilder one_class;
    for (int t = 0; t < 5; ++t) one_class.add(std::to_string(t), "v", "same").add(std::to_string(t), "w", "same");
    check(std::move(one_class));
  }
  {
    std::vector<std::string> names{"a", "b", "never"};
    names.resize(classes(3));
    CategoryAnswersBuilder single_answers(names);
    for (int t = 0; t < 6; ++t) single_answers.add(std::to_string(t), std::to_string(t), t % 2 == 0 ? "a" : "b");
    single_answers.add_task("unanswered").add_worker("silent");
    check(std::move(single_answers));
  }
  {
    CategoryAnswersBuilder nobody({"a", "b"});
    nobody.add_task("t1").add_task("t2").add_worker("w");
    check(std::move(nobody));
  }
}

TEST_P(EveryAggregator, WellFormedForAnyNumberOfClasses) {
  for (const std::size_t classes : {2U, 3U, 4U, 5U, 7U, 9U, 11U, 13U, 16U, 17U, 40U}) {
    if (info().max_classes != 0 && classes > info().max_classes) continue;
    const auto crowd = testing::small_crowd(classes, 150, 12, classes, 5);
    expect_well_formed(fit(crowd.data), crowd.data);
  }
}

TEST_P(EveryAggregator, ManyAnswersPerTaskDoNotUnderflow) {
  const std::size_t many = workers(1500);
  const auto crowd = testing::small_crowd(1, 6, many, classes(3), many);
  const auto result = fit(crowd.data);
  expect_well_formed(result, crowd.data);
  EXPECT_EQ(result.labels, crowd.truth);
}

TEST_P(EveryAggregator, BeatsAGuess) {
  const auto crowd = testing::small_crowd(2, 500, 20, classes(3), 7);
  const auto result = fit(crowd.data);
  std::size_t right = 0;
  for (std::size_t t = 0; t < 500; ++t) right += result.labels[t] == crowd.truth[t] ? 1 : 0;
  EXPECT_GT(right, 425U);
}

TEST_P(EveryAggregator, SameBitsForAnyNumberOfThreads) {
  const auto crowd = testing::small_crowd(3, 20000, 40, classes(4), 3);
  const auto one = fit(crowd.data, 1, 5);
  for (const unsigned threads : {2U, 3U}) {
    const auto many = fit(crowd.data, threads, 5);
    EXPECT_EQ(one.posterior, many.posterior);
    EXPECT_EQ(one.labels, many.labels);
    EXPECT_EQ(one.confusion, many.confusion);
    EXPECT_EQ(one.skill, many.skill);
    EXPECT_EQ(one.task_score, many.task_score);
    EXPECT_EQ(one.worker_group, many.worker_group);
    EXPECT_EQ(one.trace, many.trace);
  }
}

/// Small blocks and others of four times their size side by side, as rows and tables of four classes are, given back in
/// random order: what is allocated next lies now near to this, now near to that.
void leave_gaps(Rng rng) {
  std::vector<std::unique_ptr<std::byte[]>> blocks;
  for (int pair = 0; pair < 6; ++pair) {
    const std::size_t bytes = sizeof(double) * (1 + rng.below(6));
    blocks.push_back(std::make_unique<std::byte[]>(bytes));
    blocks.push_back(std::make_unique<std::byte[]>(4 * bytes));
  }
  for (auto& block : blocks) std::swap(block, blocks[rng.below(blocks.size())]);
}

TEST_P(EveryAggregator, SameBitsWhereverArraysLieInMemory) {
  const auto crowd = testing::small_crowd(3, 60, 10, classes(4), 3);
  const auto first = fit(crowd.data);
  for (std::uint64_t round = 0; round < 100; ++round) {
    CategoryFit again;
    std::thread([&] {  // a new thread brings neither arrays of its own nor gaps
      leave_gaps(Rng(round));
      again = fit(crowd.data);
    })
        .join();
    ASSERT_EQ(first.posterior, again.posterior) << "round " << round;
    ASSERT_EQ(first.confusion, again.confusion) << "round " << round;
    ASSERT_EQ(first.skill, again.skill) << "round " << round;
    ASSERT_EQ(first.trace, again.trace) << "round " << round;
  }
}

TEST_P(EveryAggregator, SameBitsForAnyOrderOfRows) {
  const auto crowd = testing::small_crowd(14, 150, 12, classes(3), 4);
  const CategoryAnswers& answers = crowd.data.answers;
  struct Row {
    std::string_view task, worker, label;
  };
  std::vector<Row> rows;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId(t));
    const auto labels = answers.labels_of(TaskId(t));
    for (std::size_t a = 0; a < workers.size(); ++a) {
      rows.push_back({answers.task_names()[t], answers.worker_names()[index(workers[a])],
                      answers.class_names()[index(labels[a])]});
    }
  }
  const auto built = [&] {
    CategoryAnswersBuilder builder;
    for (const Row& row : rows) builder.add(row.task, row.worker, row.label);
    return builder.build();
  };
  const CategoryAnswers unshuffled = built();
  const auto expected = fit({unshuffled, {}, {}}, 1, 7);
  Rng rng(15);
  for (int shuffle = 0; shuffle < 5; ++shuffle) {
    rng.shuffle(std::span(rows));
    const CategoryAnswers shuffled = built();
    EXPECT_EQ(shuffled.content_hash(), unshuffled.content_hash());
    for (std::size_t t = 0; t < shuffled.task_count(); ++t)
      ASSERT_EQ(shuffled.task_names()[t], unshuffled.task_names()[t]);
    const auto result = fit({shuffled, {}, {}}, 1, 7);
    EXPECT_EQ(result.labels, expected.labels);
    EXPECT_EQ(result.posterior, expected.posterior);
    EXPECT_EQ(result.confusion, expected.confusion);
    EXPECT_EQ(result.skill, expected.skill);
  }
}

TEST_P(EveryAggregator, RenamingPermutesTheResultAndChangesNothingElse) {
  const std::size_t count = classes(3);
  const auto crowd = testing::small_crowd(4, 120, 10, count, 5);
  const CategoryAnswers& answers = crowd.data.answers;
  Rng rng(9);
  const auto permutation = [&](std::size_t n) {
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0U);
    rng.shuffle(std::span(order));
    return order;
  };
  const auto tasks = permutation(120), workers = permutation(10);
  auto classes = permutation(count);
  if (uses_order(info())) {  // an order may be turned round, no more
    for (std::uint32_t k = 0; k < count; ++k) classes[k] = static_cast<std::uint32_t>(count - 1 - k);
  }
  std::vector<CategoryAnswer> moved;
  for (std::uint32_t t = 0; t < 120; ++t) {
    for (std::size_t a = 0; a < answers.workers_of(TaskId{t}).size(); ++a) {
      moved.push_back({TaskId{tasks[t]}, WorkerId{workers[index(answers.workers_of(TaskId{t})[a])]},
                       ClassId{static_cast<std::uint16_t>(classes[index(answers.labels_of(TaskId{t})[a])])}});
    }
  }
  CategoryAnswerNames names{answers.task_names(), answers.worker_names(), answers.class_names()};
  const CategoryData other{make_category_answers(moved, names), {}, {}};
  Parameters values = parameters();
  const auto original = aggregate(suited(crowd.data), GetParam(), values, RunContext());
  const auto permuted = aggregate(suited(other, tasks), GetParam(), values, RunContext());
  if (info().uses_chance) {  // other draws, but nearly the same labels
    std::size_t same = 0;
    for (std::size_t t = 0; t < 120; ++t) {
      same += classes[index(original.labels[t])] == index(permuted.labels[tasks[t]]) ? 1 : 0;
    }
    EXPECT_GE(same, 114U);
    return;
  }
  for (std::size_t t = 0; t < 120; ++t) {
    for (std::size_t k = 0; k < count; ++k) {
      EXPECT_NEAR(original.posterior[t * count + k], permuted.posterior[tasks[t] * count + classes[k]], 1e-6);
    }
  }
  for (std::size_t w = 0; w < original.skill.size(); ++w)
    EXPECT_NEAR(original.skill[w], permuted.skill[workers[w]], 1e-6);
}

TEST_P(EveryAggregator, AllGoldGivesBackGold) {
  if (!info().uses_gold) GTEST_SKIP() << "this method does not use gold";
  const std::size_t count = classes(4);
  auto crowd = testing::small_crowd(6, 100, 8, count, 4);
  crowd.data.gold = crowd.truth;
  const auto result = fit(crowd.data);
  expect_well_formed(result, crowd.data);
  EXPECT_EQ(result.labels, crowd.truth);
  for (std::size_t t = 0; t < 100; ++t) EXPECT_DOUBLE_EQ(result.posterior[t * count + index(crowd.truth[t])], 1);
}

TEST_P(EveryAggregator, TaskPriorsAreHeard) {
  if (!info().uses_task_priors) GTEST_SKIP() << "this method does not use task priors";
  const std::size_t count = classes(3);
  auto crowd = testing::small_crowd(7, 200, 8, count, 2);
  crowd.data.task_priors.assign(200 * count, 0.01 / static_cast<double>(count - 1));
  for (std::size_t t = 0; t < 200; ++t) crowd.data.task_priors[t * count + index(crowd.truth[t])] = 0.99;
  const auto result = fit(crowd.data);
  expect_well_formed(result, crowd.data);
  std::size_t right = 0;
  for (std::size_t t = 0; t < 200; ++t) right += result.labels[t] == crowd.truth[t] ? 1 : 0;
  EXPECT_GT(right, 190U);
}

TEST_P(EveryAggregator, CancelStopsEarlyAndStillReturnsAWholeResult) {
  const auto crowd = testing::small_crowd(10, 300, 12, classes(3), 4);
  const std::atomic<bool> cancel = true;
  const auto result = aggregate(suited(crowd.data), GetParam(), parameters(), RunContext({.cancel = &cancel}));
  expect_well_formed(result, crowd.data);
  if (has_parameter("max_iterations")) {
    EXPECT_EQ(result.status, Status::cancelled);
    EXPECT_LE(result.iterations, 1U);
  }
}

TEST_P(EveryAggregator, RestartsDifferAndSeedsRepeat) {
  if (!has_parameter("start")) GTEST_SKIP() << "this method has one start only";
  const auto crowd = testing::small_crowd(12, 200, 12, classes(3), 3);
  Parameters values = parameters();
  values.set("start", "random");
  values.set("max_iterations", "1");
  const auto run = [&](std::uint64_t seed) {
    return aggregate(suited(crowd.data), GetParam(), values, RunContext({.seed = seed})).posterior;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST_P(EveryAggregator, RepeatsCountAsFurtherAnswers) {
  if (!info().allows_repeats) GTEST_SKIP() << "this method takes each pair once";
  CategoryAnswersBuilder once, twice;
  Rng rng(21);
  for (int t = 0; t < 60; ++t) {
    for (int w = 0; w < 5; ++w) {
      const std::string label = std::to_string(rng.bernoulli(0.7) ? t % 2 : 1 - t % 2);
      once.add(std::to_string(t), std::to_string(w), label);
      twice.add(std::to_string(t), std::to_string(w), label).add(std::to_string(t), std::to_string(w), label);
    }
  }
  const CategoryData repeated{twice.build(DuplicatePolicy::repeat), {}, {}};
  EXPECT_TRUE(repeated.answers.has_repeats());
  EXPECT_EQ(repeated.answers.answer_count(), 600U);
  expect_well_formed(fit(repeated), repeated);
  const CategoryData kept{twice.build(DuplicatePolicy::keep_last), {}, {}};
  EXPECT_EQ(fit(kept).posterior, fit({once.build(), {}, {}}).posterior);
}

TEST_P(EveryAggregator, StartsWhereAnotherMethodEnded) {
  const auto crowd = testing::small_crowd(13, 300, 15, classes(3), 5);
  const auto before = aggregate(crowd.data, "majority_vote");
  const CategoryStart start{before.posterior};
  if (!info().uses_start) {
    EXPECT_THROW(static_cast<void>(aggregate(suited(crowd.data), GetParam(), parameters(), RunContext(), start)),
                 Error);
    return;
  }
  const auto result = aggregate(suited(crowd.data), GetParam(), parameters(), RunContext(), start);
  expect_well_formed(result, crowd.data);
  std::size_t right = 0;
  for (std::size_t t = 0; t < 300; ++t) right += result.labels[t] == crowd.truth[t] ? 1 : 0;
  EXPECT_GT(right, 240U);
  const CategoryStart short_one{std::span(before.posterior).first(3)};
  EXPECT_THROW(static_cast<void>(aggregate(suited(crowd.data), GetParam(), parameters(), RunContext(), short_one)),
               Error);
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto& info : aggregation_methods()) names.push_back(info.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAggregator, ::testing::ValuesIn(all_names()),
                         [](const auto& instance) { return instance.param; });

TEST(Registry, UnknownNameListsTheCandidates) {
  try {
    static_cast<void>(aggregation_method("dawid_sken"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_parameter);
    EXPECT_NE(std::string(error.what()).find("dawid_skene"), std::string::npos);
  }
}

}  // namespace
}  // namespace wisecrowd
