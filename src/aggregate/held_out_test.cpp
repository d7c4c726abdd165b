#include "wisecrowd/held_out.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>

#include "base/rng.hpp"
#include "support/crowds.hpp"

namespace wisecrowd {
namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;

std::vector<Pair> pairs_of(const CategoryAnswers& answers) {
  std::vector<Pair> pairs;
  for (std::uint32_t t = 0; t < answers.task_count(); ++t) {
    for (const WorkerId w : answers.workers_of(TaskId{t})) pairs.emplace_back(t, static_cast<std::uint32_t>(index(w)));
  }
  return pairs;
}

MethodStage stage(const std::string& method) { return {method, Parameters(aggregation_method(method).parameters)}; }

TEST(HeldOut, HidesEachAnswerOnceAtMostAndLeavesEveryTaskOne) {
  const auto crowd = testing::small_crowd(1, 2000, 30, 3, 4);
  const HeldOut held_out(crowd.data, {.folds = 5, .share = 0.2}, RunContext());
  ASSERT_EQ(held_out.folds(), 5U);
  const auto all = pairs_of(crowd.data.answers);
  std::map<Pair, int> hidden;
  std::size_t missing = 0;
  for (std::size_t f = 0; f < 5; ++f) {
    const CategoryAnswers& visible = held_out.visible(f).answers;
    EXPECT_EQ(visible.task_count(), 2000U);
    EXPECT_EQ(visible.worker_count(), 30U);
    const auto seen = pairs_of(visible);
    std::vector<Pair> gone;
    std::set_difference(all.begin(), all.end(), seen.begin(), seen.end(), std::back_inserter(gone));
    EXPECT_EQ(gone.size() + seen.size(), all.size());
    for (const Pair& p : gone) ++hidden[p];
    missing += gone.size();
    for (std::uint32_t t = 0; t < 2000; ++t) EXPECT_FALSE(visible.workers_of(TaskId{t}).empty());
  }
  EXPECT_EQ(missing, held_out.hidden_count());
  for (const auto& [pair, times] : hidden) EXPECT_EQ(times, 1);
  EXPECT_GT(static_cast<double>(missing), 0.97 * static_cast<double>(all.size()));  // folds × share is 1
}

TEST(HeldOut, TheSameForAnyNumberOfThreadsAndAnotherForAnotherSeed) {
  const auto crowd = testing::small_crowd(2, 9000, 20, 2, 3);
  const auto seen = [&](unsigned threads, std::uint64_t seed) {
    const RunContext context({.seed = seed, .threads = threads});
    return pairs_of(HeldOut(crowd.data, {}, context).visible(0).answers);
  };
  EXPECT_EQ(seen(1, 3), seen(3, 3));
  EXPECT_NE(seen(1, 3), seen(1, 4));
}

TEST(HeldOut, ProbabilityOfAHiddenAnswerByHand) {
  const auto crowd = testing::small_crowd(3, 300, 10, 3, 4);
  const RunContext context;
  const HeldOut held_out(crowd.data, {.folds = 2, .share = 0.3}, context);
  const auto fit = aggregate(held_out.visible(1), "dawid_skene");
  const auto both =
      held_out.log_probabilities(*make_aggregator("dawid_skene", stage("dawid_skene").parameters), context);
  ASSERT_EQ(both.size(), held_out.hidden_count());
  const std::vector<double> logs(both.begin() + static_cast<std::ptrdiff_t>(held_out.hidden(0).size()), both.end());
  EXPECT_EQ(held_out.z_score(both, both), 0);
  const auto all = pairs_of(crowd.data.answers), seen = pairs_of(held_out.visible(1).answers);
  std::vector<Pair> gone;
  std::set_difference(all.begin(), all.end(), seen.begin(), seen.end(), std::back_inserter(gone));
  ASSERT_EQ(logs.size(), gone.size());
  for (std::size_t i = 0; i < gone.size(); ++i) {
    const TaskId task{gone[i].first};
    const auto workers = crowd.data.answers.workers_of(task);
    const auto at =
        static_cast<std::size_t>(std::find(workers.begin(), workers.end(), WorkerId{gone[i].second}) - workers.begin());
    const std::size_t label = index(crowd.data.answers.labels_of(task)[at]);
    double probability = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      probability += fit.posterior_of(task)[k] * fit.confusion_of(WorkerId{gone[i].second})[k * 3 + label];
    }
    EXPECT_NEAR(logs[i], std::log(probability), 1e-12);
  }
}

TEST(HeldOut, PrefersTheModelThatMadeTheData) {
  // A third of the workers guess: a method that knows workers predicts answers better than one that does not.
  CategoryAnswersBuilder builder({"a", "b", "c"});
  Rng rng(5);
  for (int t = 0; t < 800; ++t) {
    for (int w = 0; w < 9; ++w) {
      const bool knows = w % 3 != 0 && rng.bernoulli(0.85);
      builder.add(std::to_string(t), std::to_string(w),
                  std::string(1, static_cast<char>('a' + (knows ? t % 3 : static_cast<int>(rng.below(3))))));
    }
  }
  const CategoryData data{builder.build(), {}, {}};
  const RunContext context({.threads = 2});
  const HeldOut held_out(data, {}, context);
  const std::vector<MethodStage> methods = {stage("majority_vote"), stage("dawid_skene"), stage("one_coin")};
  const auto scores = score_by_held_out_answers(held_out, methods, context);
  ASSERT_EQ(scores.size(), 3U);
  EXPECT_GT(scores[1].log_probability.value, scores[0].log_probability.value);
  EXPECT_GT(scores[0].behind_best.low, 0);
  double best = 0;
  for (const auto& score : scores) {
    EXPECT_LT(score.log_probability.low, score.log_probability.value);
    EXPECT_GE(score.behind_best.value, 0);
    best += score.behind_best.value == 0 ? 1 : 0;
  }
  EXPECT_EQ(best, 1);
}

TEST(HeldOut, KeepsMethodsThatRefuse) {
  const auto crowd = testing::small_crowd(6, 200, 10, 3, 4);
  const RunContext context;
  const HeldOut held_out(crowd.data, {}, context);
  const std::vector<MethodStage> methods = {stage("sml"), stage("majority_vote")};
  const auto scores = score_by_held_out_answers(held_out, methods, context);
  EXPECT_FALSE(scores[0].refusal.empty());
  EXPECT_TRUE(scores[1].refusal.empty());
  EXPECT_EQ(scores[1].behind_best.value, 0);
}

TEST(HeldOut, NothingToHide) {
  CategoryAnswersBuilder builder;
  for (int t = 0; t < 20; ++t) builder.add(std::to_string(t), "w", t % 2 == 0 ? "x" : "y");
  const RunContext context;
  EXPECT_EQ(HeldOut({builder.build(), {}, {}}, {}, context).hidden_count(), 0U);
  EXPECT_THROW(HeldOut({builder.build(), {}, {}}, {.folds = 5, .share = 0.3}, context), Error);
  EXPECT_THROW(HeldOut({builder.build(), {}, {}}, {.folds = 0}, context), Error);
}

TEST(HeldOut, KeepsTheNumbersThatItHides) {
  const RunContext context;
  const auto crowd = [](double first) {
    NumberAnswersBuilder builder;
    for (int t = 0; t < 2000; ++t) {
      for (int w = 0; w < 5; ++w) builder.add(std::to_string(t), std::to_string(w), first + t + w);
    }
    return std::make_unique<NumberData>(NumberData{builder.build(), {}});
  };
  auto data = crowd(0);
  const HeldOut held_out(*data, {.folds = 1, .share = 0.3}, context);
  data.reset();
  const auto others = crowd(1e6);  // where the first ones lay
  for (const NumberAnswer& answer : held_out.hidden(0)) ASSERT_LT(answer.value[0], 3000);
}

}  // namespace
}  // namespace wisecrowd
