#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <utility>

#include "aggregate/categories/automatic/automatic.hpp"
#include "base/rng.hpp"
#include "support/crowds.hpp"

namespace wisecrowd {
namespace {

using automatic::Automatic;

double cpu_seconds(const std::function<void()>& work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// Five answers per task, by workers who give `each` answers to tasks here and there and are never seen again.
CategoryData passers_by(std::size_t tasks, std::size_t each) {
  Rng rng(5);
  std::vector<WorkerId> workers;
  for (std::size_t a = 0; a < tasks * 5; ++a) workers.push_back(WorkerId(a / each));
  for (std::size_t a = workers.size(); a > 1; --a) std::swap(workers[a - 1], workers[rng.below(a)]);
  std::vector<CategoryAnswer> answers;
  for (std::size_t t = 0; t < tasks; ++t) {
    const std::size_t truth = rng.below(3);
    for (int a = 0; a < 5; ++a) {
      const std::size_t label = rng.bernoulli(0.7) ? truth : rng.below(3);
      answers.push_back({TaskId(t), workers[answers.size()], ClassId(label)});
    }
  }
  const auto blank = [](std::size_t count) { return NameTable("", std::vector<std::uint64_t>(count + 1, 0)); };
  return {make_category_answers(answers, {blank(tasks), blank((answers.size() + each - 1) / each), blank(3)},
                                DuplicatePolicy::repeat),
          {},
          {}};
}

/// The default and one_coin grow alike with the crowd; before, some folds took 600 iterations, and the default 50 times
/// as long as this.
class PassersBy : public ::testing::TestWithParam<std::size_t> {};

TEST_P(PassersBy, CostLittle) {
  const CategoryData data = passers_by(10'000, GetParam());
  const RunContext context({.threads = 1});
  CategoryFit result;
  const double plain = cpu_seconds(
      [&] { (void)aggregate(data, "one_coin", Parameters(aggregation_method("one_coin").parameters), context); });
  const double all = cpu_seconds([&] { result = Automatic().fit(data, context); });
  EXPECT_LT(all, 20 * plain) << all << " and " << plain;
  EXPECT_EQ(result.status, Status::converged);
  EXPECT_NE(result.explanation.find("one or two answers from most workers"), std::string::npos) << result.explanation;
}

INSTANTIATE_TEST_SUITE_P(LargeCrowds, PassersBy, ::testing::Values(1, 2));

TEST(LargeCrowds, TooManyClassesForTables) {
  Rng rng(6);
  constexpr std::size_t kClasses = 600, kWorkers = 300, kTasks = 400;
  std::vector<CategoryAnswer> answers;
  std::vector<ClassId> truth;
  for (std::size_t t = 0; t < kTasks; ++t) {
    truth.push_back(ClassId(rng.below(kClasses)));
    for (std::size_t a = 0; a < 5; ++a) {
      answers.push_back({TaskId(t), WorkerId((t * 7 + a * 31) % kWorkers),
                         rng.bernoulli(0.7) ? truth.back() : ClassId(rng.below(kClasses))});
    }
  }
  const auto blank = [](std::size_t count) { return NameTable("", std::vector<std::uint64_t>(count + 1, 0)); };
  const CategoryData data{make_category_answers(answers, {blank(kTasks), blank(kWorkers), blank(kClasses)}), {}, {}};
  const auto result = Automatic().fit(data, RunContext({.threads = 2}));
  EXPECT_TRUE(result.confusion.empty());
  EXPECT_EQ(result.skill.size(), kWorkers);
  EXPECT_EQ(result.explanation.find("one_coin"), 0U) << result.explanation;
  EXPECT_TRUE(std::any_of(result.warnings.begin(), result.warnings.end(),
                          [](const Warning& w) { return w.code == "tables_left_out"; }));
  std::size_t right = 0;
  for (std::size_t t = 0; t < kTasks; ++t) right += result.labels[t] == truth[t] ? 1 : 0;
  EXPECT_GT(right, kTasks * 95 / 100);
}

}  // namespace
}  // namespace wisecrowd
