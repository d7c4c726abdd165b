// Every method for comparisons runs through this, by its line in src/aggregate/comparisons/methods.def.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/rng.hpp"
#include "wisecrowd/comparison_aggregator.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/evaluate_comparisons.hpp"
#include "wisecrowd/held_out.hpp"
#include "wisecrowd/simulate_comparisons.hpp"

namespace wisecrowd {
namespace {

class EveryComparisonAggregator : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static ComparisonSimulation crowd(double adversaries = 0, double ties = 0.5, std::size_t items = 20) {
    Parameters parameters(comparison_simulation_parameters());
    parameters.set_value("adversaries", adversaries);
    parameters.set_value("ties", ties);
    return simulate_comparisons({.items = items, .pairs = 600, .workers = 20, .answers_per_pair = 3}, parameters,
                                RunContext({.seed = 3}));
  }
  [[nodiscard]] ComparisonFit fit(const ComparisonData& data, unsigned threads = 1) const {
    return aggregate(data, GetParam(), Parameters(method_of<Comparisons>(GetParam()).parameters),
                     RunContext({.threads = threads}));
  }
  /// The same answers with other ids, and perhaps the two sides exchanged.
  [[nodiscard]] static ComparisonData changed(const ComparisonAnswers& answers, std::span<const std::uint32_t> items,
                                              std::span<const std::uint32_t> workers, bool exchange) {
    std::vector<ComparisonAnswer> list;
    for (std::size_t t = 0; t < answers.task_count(); ++t) {
      for (AnswerIndex a = answers.task_offsets()[t]; a < answers.task_offsets()[t + 1]; ++a) {
        ComparisonAnswer one = answers.answer(TaskId(t), a);
        one.left = ItemId{items[index(one.left)]};
        one.right = ItemId{items[index(one.right)]};
        one.worker = WorkerId{workers[index(one.worker)]};
        if (exchange) {
          std::swap(one.left, one.right);
          one.outcome = mirrored(one.outcome);
        }
        list.push_back(one);
      }
    }
    const auto blank = [](std::size_t count) { return NameTable("", std::vector<std::uint64_t>(count + 1, 0)); };
    return {.answers = make_comparison_answers(list, {blank(answers.item_count()), blank(answers.worker_count())})};
  }
  [[nodiscard]] static std::vector<std::uint32_t> ids(std::size_t count) {
    std::vector<std::uint32_t> list(count);
    std::iota(list.begin(), list.end(), 0U);
    return list;
  }
};

TEST_P(EveryComparisonAggregator, IsWellFormed) {
  const ComparisonSimulation simulation = crowd();
  const ComparisonFit result = fit({.answers = simulation.data.answers});
  ASSERT_EQ(result.score.size(), 20U);
  ASSERT_EQ(result.reliability.size(), 20U);
  ASSERT_EQ(result.pair_posterior.size(), 3 * simulation.data.answers.task_count());
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_TRUE(std::isfinite(result.score[i]));
    EXPECT_GT(result.deviation[i], 0);
    EXPECT_LE(result.low[i], result.score[i]);
    EXPECT_GE(result.high[i], result.score[i]);
    EXPECT_LE(result.rank_low[i], result.rank[i]);
    EXPECT_GE(result.rank_high[i], result.rank[i]);
  }
  EXPECT_NEAR(std::accumulate(result.score.begin(), result.score.end(), 0.0), 0, 1e-6);
  for (std::size_t t = 0; t < result.pair_count; ++t) {
    const auto p = result.posterior_of(TaskId(t));
    EXPECT_NEAR(p[0] + p[1] + p[2], 1, 1e-9);
  }
}

TEST_P(EveryComparisonAggregator, EmptyAndTinyData) {
  const ComparisonFit none = fit({});
  EXPECT_TRUE(none.score.empty());
  EXPECT_FALSE(none.warnings.empty());
  ComparisonAnswersBuilder one;
  one.add("w", "a", "b", Outcome::right);
  const ComparisonFit single = fit({.answers = one.build()});
  EXPECT_GT(single.score[1], single.score[0]);
  EXPECT_TRUE(std::isfinite(single.score[1]));
  ComparisonAnswersBuilder tie;
  tie.add("w", "a", "b", Outcome::tie).add_item("alone");
  const ComparisonFit equal = fit({.answers = tie.build()});
  EXPECT_NEAR(equal.score[0], equal.score[2], 1e-6);
  EXPECT_EQ(equal.rank_low[1], 1);  // nothing is known of it
  EXPECT_EQ(equal.rank_high[1], 3);
}

TEST_P(EveryComparisonAggregator, SameBitsForAnyNumberOfThreads) {
  const ComparisonData data{.answers = crowd().data.answers};
  const ComparisonFit one = fit(data, 1), many = fit(data, 3);
  EXPECT_EQ(one.score, many.score);
  EXPECT_EQ(one.deviation, many.deviation);
  EXPECT_EQ(one.pair_posterior, many.pair_posterior);
}

TEST_P(EveryComparisonAggregator, RenamingPermutesAndChangesNothingElse) {
  if (method_of<Comparisons>(GetParam()).uses_chance) GTEST_SKIP() << "depends on the seed";
  const ComparisonSimulation simulation = crowd();
  auto items = ids(20), workers = ids(20);
  Rng rng(1);
  rng.shuffle(std::span(items));
  rng.shuffle(std::span(workers));
  const ComparisonFit before = fit({.answers = simulation.data.answers});
  const ComparisonFit after = fit(changed(simulation.data.answers, items, workers, false));
  for (std::size_t i = 0; i < 20; ++i) EXPECT_NEAR(before.score[i], after.score[items[i]], 1e-4) << i;
  for (std::size_t w = 0; w < 20; ++w) {
    if (std::isfinite(before.reliability[w])) {
      EXPECT_NEAR(before.reliability[w], after.reliability[workers[w]], 1e-3);
    }
  }
}

TEST_P(EveryComparisonAggregator, ExchangingLeftAndRightChangesNoScore) {
  const ComparisonSimulation simulation = crowd();
  const ComparisonFit before = fit({.answers = simulation.data.answers});
  const ComparisonFit after = fit(changed(simulation.data.answers, ids(20), ids(20), true));
  for (std::size_t i = 0; i < 20; ++i) EXPECT_NEAR(before.score[i], after.score[i], 1e-4) << i;
  for (std::size_t w = 0; w < 20; ++w) {
    if (std::isfinite(before.side_bias[w])) {
      EXPECT_NEAR(before.side_bias[w], 1 - after.side_bias[w], 1e-3);
    }
  }
}

TEST_P(EveryComparisonAggregator, TurningEveryAnswerRoundTurnsTheRanking) {
  if (GetParam() == "crowd_bt" || GetParam() == "comparisons_default") {
    GTEST_SKIP() << "who is right decides, and that is asked of the answers themselves";
  }
  const ComparisonSimulation simulation = crowd();
  const ComparisonAnswers& answers = simulation.data.answers;
  std::vector<ComparisonAnswer> turned;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (AnswerIndex a = answers.task_offsets()[t]; a < answers.task_offsets()[t + 1]; ++a) {
      turned.push_back(answers.answer(TaskId(t), a));
      turned.back().outcome = mirrored(turned.back().outcome);
    }
  }
  const ComparisonFit before = fit({.answers = answers});
  const ComparisonFit after = fit({.answers = with_answers(answers, turned)});
  EXPECT_LT(kendall_tau(before.score, after.score), -0.95);
}

TEST_P(EveryComparisonAggregator, IsNearTheTruth) {
  const ComparisonSimulation simulation = crowd();
  const ComparisonFit result = fit({.answers = simulation.data.answers});
  const ComparisonEvaluation evaluation = evaluate_comparisons(result.score, result.pair_posterior, simulation.data);
  EXPECT_GT(*evaluation.kendall, 0.8);
  EXPECT_GT(evaluation.ordered->value, 0.85);
}

TEST_P(EveryComparisonAggregator, KnownOutcomesAreCertain) {
  if (!method_of<Comparisons>(GetParam()).uses_gold) GTEST_SKIP() << "does not use gold";
  ComparisonData data{.answers = crowd().data.answers};
  data.gold.assign(data.answers.task_count(), std::nullopt);
  data.gold[7] = Outcome::tie;
  data.gold[8] = Outcome::right;
  const ComparisonFit result = fit(data);
  EXPECT_EQ(result.posterior_of(TaskId{7})[2], 1);
  EXPECT_EQ(result.posterior_of(TaskId{8})[1], 1);
}

TEST_P(EveryComparisonAggregator, ProbabilitiesOfHiddenAnswersSumToOne) {
  const ComparisonSimulation simulation = crowd(0.2);
  const auto method = make_method<Comparisons>(GetParam(), Parameters(method_of<Comparisons>(GetParam()).parameters));
  std::vector<ComparisonAnswer> asked;
  for (const Outcome outcome : {Outcome::left, Outcome::right, Outcome::tie}) {
    ComparisonAnswer one = simulation.data.answers.answer(TaskId{3}, simulation.data.answers.task_offsets()[3]);
    one.outcome = outcome;
    asked.push_back(one);
  }
  const auto logs = method->log_predictive({.answers = simulation.data.answers}, asked, RunContext());
  EXPECT_NEAR(std::exp(logs[0]) + std::exp(logs[1]) + std::exp(logs[2]), 1, 1e-9);
}

TEST_P(EveryComparisonAggregator, StopsWhenCancelled) {
  std::atomic<bool> stop{true};
  const RunContext context({.cancel = &stop});
  const ComparisonFit result = aggregate(ComparisonData{.answers = crowd().data.answers}, GetParam(),
                                         Parameters(method_of<Comparisons>(GetParam()).parameters), context);
  EXPECT_EQ(result.status, Status::cancelled);
}

std::vector<std::string> comparison_method_names() {
  std::vector<std::string> names;
  for (const MethodInfo& info : methods_of<Comparisons>()) names.push_back(info.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Registry, EveryComparisonAggregator, ::testing::ValuesIn(comparison_method_names()),
                         [](const auto& info) { return info.param; });

TEST(ComparisonMethods, PredictBetterThanChance) {
  Parameters parameters(comparison_simulation_parameters());
  const ComparisonSimulation simulation = simulate_comparisons(
      {.items = 15, .pairs = 300, .workers = 20, .answers_per_pair = 3}, parameters, RunContext({.seed = 1}));
  const ComparisonData data{.answers = simulation.data.answers};
  const RunContext context;
  const HeldOut<Comparisons> held_out(data, {.folds = 2, .share = 0.1}, context);
  std::vector<MethodStage> stages;
  for (const std::string& name : comparison_method_names()) {
    stages.push_back({name, Parameters(method_of<Comparisons>(name).parameters)});
  }
  for (const HeldOutScore& score : score_by_held_out_answers(held_out, stages, context)) {
    EXPECT_GT(score.log_probability.value, std::log(0.5)) << score.method;
  }
}

TEST(ComparisonMethods, CrowdBtFindsThePlantedAdversaries) {
  Parameters parameters(comparison_simulation_parameters());
  const ComparisonSimulationSize size{.items = 60, .pairs = 3000, .workers = 50, .answers_per_pair = 3};
  const RunContext context({.seed = 5});
  const ComparisonSimulation clean = simulate_comparisons(size, parameters, context);
  parameters.set_value("adversaries", 0.3);
  const ComparisonSimulation noisy = simulate_comparisons(size, parameters, context);
  const ComparisonFit wanted = aggregate(ComparisonData{.answers = clean.data.answers}, "crowd_bt");
  const ComparisonFit found = aggregate(ComparisonData{.answers = noisy.data.answers}, "crowd_bt");
  EXPECT_GT(kendall_tau(wanted.score, found.score), 0.9);
  for (std::size_t w = 0; w < 50; ++w) {
    EXPECT_EQ(found.reliability[w] < 0.5, noisy.worker_kind[w] == "adversary") << w;
  }
}

TEST(ComparisonMethods, TheWrongKindIsSaid) {
  try {
    (void)aggregation_method("bradley_terry");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("these answers are categories"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace wisecrowd
