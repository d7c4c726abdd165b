#include "wisecrowd/replay.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "base/rng.hpp"
#include "select/savings.hpp"
#include "support/crowds.hpp"
#include "support/open_crowd.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

using testing::changed;

const Refit kVote = [](const CategoryData& data, const CategoryStart&, const RunContext& context) {
  return aggregate(data, "majority_vote", Parameters(aggregation_method("majority_vote").parameters), context);
};

/// A Dawid–Skene fit with pseudo-counts as the simulator of the specification has it.
const Refit kFit = [](const CategoryData& data, const CategoryStart& start, const RunContext& context) {
  Parameters parameters(aggregation_method("dawid_skene").parameters);
  parameters.set("pseudo_count", "0.5");
  parameters.set("diagonal_pseudo_count", "2.5");
  parameters.set("class_prior", "uniform");
  return aggregate(data, "dawid_skene", parameters, context, start);
};

Policy policy(const std::string& name, std::vector<std::pair<std::string, std::string>> changes = {}) {
  return {name, name, changed(name, std::move(changes))};
}

NameTable numbered(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t n = 0; n < count; ++n) names.push_back(std::to_string(n));
  return NameTable(names);
}

ReplayWorld world_of(std::vector<double> tables, std::vector<ClassId> truth, std::size_t workers, std::size_t classes) {
  ReplayWorld world;
  world.answers = make_category_answers({}, {numbered(truth.size()), numbered(workers), numbered(classes)});
  world.truth = std::move(truth);
  world.tables = std::move(tables);
  return world;
}

ReplayWorld recorded_world(std::uint64_t seed) {
  const testing::SmallCrowd crowd = testing::small_crowd(seed, 60, 12, 3, 5);
  ReplayWorld world;
  world.answers = crowd.data.answers;
  world.truth = crowd.truth;
  return world;
}

TEST(Savings, CrossingsAreStraightBetweenPoints) {
  const std::vector<double> answers = {0, 10, 20, 30}, accuracy = {.5, .7, .65, .9};
  EXPECT_NEAR(selecting::first_crossing(answers, accuracy, .6), 5, 1e-12);
  EXPECT_NEAR(selecting::first_crossing(answers, accuracy, .7), 10, 1e-12);
  EXPECT_NEAR(selecting::first_crossing(answers, accuracy, .8), 26, 1e-9);
  EXPECT_EQ(selecting::first_crossing(answers, accuracy, .4), 0);
  EXPECT_TRUE(std::isnan(selecting::first_crossing(answers, accuracy, .95)));
}

TEST(Savings, AgainstTheFirstPolicyWithAnIntervalOverSeeds) {
  // Two seeds: the second policy needs half of the answers in one, three quarters in the other.
  std::vector<ReplayCurve> curves(2);
  const std::vector<double> axis = {0, 100};
  for (ReplayCurve& curve : curves) curve.answers_by_seed = {axis, axis};
  curves[0].by_seed = {{0, .8}, {0, .8}};
  curves[1].by_seed = {{0, 1.6}, {0, .8 / .75}};
  for (ReplayCurve& curve : curves) selecting::summarise(curve, 0.95);
  ReplayOptions options;
  options.slacks = {0, .4};
  const auto savings = selecting::savings_of(curves, std::vector<double>{.8, .8}, options, RunContext());
  ASSERT_EQ(savings.size(), 4U);
  EXPECT_NEAR(savings[0].answers, 100, 1e-9);
  EXPECT_NEAR(savings[0].saved, 0, 1e-9);
  EXPECT_NEAR(savings[1].answers, 60, 1e-9);  // the mean curve ends at 4/3
  EXPECT_NEAR(savings[1].saved, .4, 1e-9);
  EXPECT_NEAR(savings[1].saved_low, .25, 1e-9);  // both resampled seeds are the worse one
  EXPECT_NEAR(savings[1].saved_high, .5, 1e-9);
  EXPECT_NEAR(savings[3].answers, 30, 1e-9);
}

TEST(Savings, AResampledSeedBringsItsOwnTarget) {
  // Each seed reaches its own end with half of the answers, whatever the other's end is.
  std::vector<ReplayCurve> curves(2);
  const std::vector<double> axis = {0, 50, 100};
  for (ReplayCurve& curve : curves) curve.answers_by_seed = {axis, axis};
  curves[0].by_seed = {{0, .3, .6}, {0, .4, .8}};
  curves[1].by_seed = {{0, .6, .6}, {0, .8, .8}};
  for (ReplayCurve& curve : curves) selecting::summarise(curve, 0.95);
  ReplayOptions options;
  options.slacks = {0};
  const auto savings = selecting::savings_of(curves, std::vector<double>{.6, .8}, options, RunContext());
  EXPECT_NEAR(savings[1].saved, .5, 1e-9);
  EXPECT_NEAR(savings[1].saved_low, .5, 1e-9);
  EXPECT_NEAR(savings[1].saved_high, .5, 1e-9);
}

TEST(Replay, RepetitionsOfARandomAggregatorEndWhereTheyAreMeasured) {
  // A fit that flips a coin for every task: no two repetitions end alike, and their mean is the target.
  const Refit coins = [](const CategoryData& data, const CategoryStart& start, const RunContext& context) {
    CategoryFit fit = kVote(data, start, context);
    Rng rng = context.rng("coins");
    for (double& p : fit.posterior) p += 2 * rng.uniform();
    return fit;
  };
  ReplayOptions options;
  options.seeds = 4;
  const Replay played =
      replay(recorded_world(3), std::vector<Policy>{policy("random"), policy("entropy")}, options, coins, RunContext());
  for (const ReplayCurve& curve : played.curves) {
    EXPECT_NEAR(curve.accuracy.back(), played.target, 1e-12);
    EXPECT_NE(curve.by_seed[0].back(), curve.by_seed[1].back());
  }
  for (const Saving& saving : played.savings) EXPECT_TRUE(saving.reached);
}

TEST(Replay, WithinARoundTasksThatAnAnswerSettledAreLeftAlone) {
  // Workers who are nearly always right, by the fit. The first round knows no tables and is one batch of 30; the second
  // has five batches of a tenth of the tasks, and none asks what an earlier one settled.
  constexpr std::size_t kTasks = 60;
  std::vector<std::vector<std::size_t>> asked;
  const Refit watched = [&](const CategoryData& data, const CategoryStart&, const RunContext& context) {
    CategoryFit fit = kVote(data, {}, context);
    fit.posterior.assign(fit.posterior.size(), 1.0 / 3);
    fit.confusion.assign(data.answers.worker_count() * 9, .01);
    for (std::size_t table = 0; table < fit.confusion.size(); table += 9) {
      for (std::size_t k = 0; k < 3; ++k) fit.confusion[table + 4 * k] = .98;
    }
    asked.emplace_back();
    for (std::size_t i = 0; i < kTasks; ++i) asked.back().push_back(data.answers.workers_of(TaskId(i)).size());
    return fit;
  };
  ReplayOptions options;
  options.seeds = 1;
  options.answers_per_round = 30;
  options.most_answers = 60;
  RunOptions one;
  one.threads = 1;
  (void)replay(recorded_world(9), std::vector<Policy>{policy("entropy", {{"per_task", "0"}})}, options, watched,
               RunContext(one));
  ASSERT_EQ(asked.size(), 3U);  // two rounds, and the fit to everything
  for (std::size_t i = 0; i < kTasks; ++i) EXPECT_LE(asked[1][i], asked[0][i] + 1) << i;
}

TEST(Replay, AllPoliciesEndWhereAllAnswersLead) {
  const ReplayWorld world = recorded_world(3);
  const std::vector<Policy> policies = {policy("random"), policy("entropy"), policy("expected_information")};
  ReplayOptions options;
  options.seeds = 3;
  const Replay played = replay(world, policies, options, kFit, RunContext());
  ASSERT_EQ(played.curves.size(), 3U);
  EXPECT_EQ(played.all_answers, world.answers.answer_count());
  for (const ReplayCurve& curve : played.curves) {
    EXPECT_EQ(curve.answers.front(), 0);
    EXPECT_NEAR(curve.accuracy.front(), 1.0 / 3, 1e-12);  // nothing known: ties share the credit
    EXPECT_EQ(curve.answers.back(), static_cast<double>(world.answers.answer_count()));
    for (const auto& run : curve.by_seed) EXPECT_NEAR(run.back(), played.target, 1e-12);
    EXPECT_EQ(curve.stopped, 0U);
  }
  for (const Saving& saving : played.savings) {
    EXPECT_TRUE(saving.reached);
    EXPECT_LE(saving.saved_low, saving.saved_high);
  }
}

TEST(Replay, SameSeedSameCurvesForAnyNumberOfThreads) {
  const ReplayWorld world = recorded_world(4);
  const std::vector<Policy> policies = {policy("random"), policy("expected_information", {{"tables", "drawn"}})};
  ReplayOptions options;
  options.seeds = 3;
  RunOptions one, four, other;
  one.threads = 1;
  four.threads = 4;
  other.seed = 1;
  const Replay a = replay(world, policies, options, kFit, RunContext(one));
  const Replay b = replay(world, policies, options, kFit, RunContext(four));
  const Replay c = replay(world, policies, options, kFit, RunContext(other));
  for (std::size_t p = 0; p < 2; ++p) EXPECT_EQ(a.curves[p].by_seed, b.curves[p].by_seed);
  EXPECT_EQ(a.savings[1].saved_low, b.savings[1].saved_low);
  EXPECT_NE(a.curves[0].by_seed, c.curves[0].by_seed);
  EXPECT_NE(a.curves[0].by_seed[0], a.curves[0].by_seed[1]);
}

TEST(Replay, PerfectWorkersAreAskedOncePerTask) {
  constexpr std::size_t kTasks = 40, kWorkers = 5, kClasses = 3;
  std::vector<double> tables(kWorkers * kClasses * kClasses, 0);
  for (std::size_t row = 0; row < kWorkers * kClasses; ++row) tables[row * kClasses + row % kClasses] = 1;
  std::vector<ClassId> truth;
  for (std::size_t i = 0; i < kTasks; ++i) truth.push_back(ClassId{static_cast<std::uint16_t>(i % kClasses)});
  const ReplayWorld world = world_of(tables, truth, kWorkers, kClasses);
  // Told from the start that answers are right, the loop stops when every task has one.
  const Refit trusting = [](const CategoryData& data, const CategoryStart&, const RunContext& context) {
    return aggregate(data, "majority_vote", Parameters(aggregation_method("majority_vote").parameters), context);
  };
  ReplayOptions options;
  options.seeds = 2;
  options.answers_per_round = 7;
  for (const std::string name : {"expected_information", "entropy", "margin", "least_confidence"}) {
    const Replay played =
        replay(world, std::vector<Policy>{policy(name, {{"delta", "0.01"}})}, options, trusting, RunContext());
    EXPECT_EQ(played.curves[0].answers.back(), kTasks) << name;
    EXPECT_EQ(played.curves[0].accuracy.back(), 1) << name;
    EXPECT_EQ(played.curves[0].stopped, 2U) << name;
  }
}

TEST(Replay, CapacityOfWorkersHoldsOverAllRounds) {
  const ReplayWorld world = recorded_world(5);
  ReplayOptions options;
  options.seeds = 1;
  options.answers_per_round = 10;
  options.offers.resize(world.answers.worker_count());
  for (WorkerOffer& offer : options.offers) {
    offer.capacity = 3;
    offer.cost = 2;
  }
  const Replay played = replay(world, std::vector<Policy>{policy("entropy")}, options, kVote, RunContext());
  EXPECT_EQ(played.curves[0].answers.back(), 36);
  EXPECT_EQ(played.curves[0].cost.back(), 72);
  EXPECT_EQ(played.curves[0].stopped, 1U);
}

TEST(Replay, RefusesWhatItCannotPlay) {
  ReplayWorld world = recorded_world(6);
  ReplayOptions options;
  const auto play = [&](const std::string& name) {
    return replay(world, std::vector<Policy>{policy(name)}, options, kVote, RunContext());
  };
  EXPECT_THROW((void)play("bald"), Error);
  world.truth.assign(world.truth.size(), kNoClass);
  EXPECT_THROW((void)play("random"), Error);
  world = recorded_world(6);
  options.offers.resize(3);
  EXPECT_THROW((void)play("random"), Error);
}

TEST(Replay, CancelledItReturnsWhatIsWhole) {
  const ReplayWorld world = recorded_world(7);
  std::atomic<bool> cancel{false};
  std::atomic<int> fits{0};
  const Refit stopping = [&](const CategoryData& data, const CategoryStart& start, const RunContext& context) {
    if (++fits == 70) cancel = true;
    return kVote(data, start, context);
  };
  RunOptions own;
  own.threads = 1;
  own.cancel = &cancel;
  ReplayOptions options;
  options.seeds = 5;
  const Replay played = replay(world, std::vector<Policy>{policy("random")}, options, stopping, RunContext(own));
  EXPECT_EQ(played.status, Status::cancelled);
  EXPECT_EQ(played.seeds, 1U);  // fifty fits each
  EXPECT_EQ(played.curves.at(0).by_seed.size(), 1U);
}

TEST(Replay, KnowledgeHasTheTablesOfTheFit) {
  const testing::SmallCrowd crowd = testing::small_crowd(8, 50, 10, 3, 4);
  const CategoryFit fit = kFit(crowd.data, {}, RunContext());
  const CrowdKnowledge known = knowledge_of(crowd.data.answers, fit, 4);
  for (std::size_t j = 0; j < 10; ++j) {
    double all = 0;
    for (std::size_t row = j * 3; row < j * 3 + 3; ++row) {
      double weight = 0;
      for (std::size_t l = 0; l < 3; ++l) weight += known.tables.cells()[row * 3 + l];
      for (std::size_t l = 0; l < 3; ++l)
        EXPECT_NEAR(known.tables.cells()[row * 3 + l] / weight, fit.confusion[row * 3 + l], 1e-9);
      all += weight;
    }
    EXPECT_NEAR(all, 3 * 4 + known.worker_answers[j], 1e-6);  // four per row, and what the worker said
  }
}

/// Section E7 of the specification: K = 4, 800 tasks, 10 good, 10 medium and 10 weak workers; one random answer per
/// task, then batches of 100; 20 crowds.
TEST(Replay, JointBeatsOneSidedBeatsRandomOnTheSimulator) {
  constexpr std::size_t kTasks = 800, kWorkers = 30, kClasses = 4, kCrowds = 20;
  const std::vector<Policy> policies = {policy("random"), policy("entropy", {{"worker", "random"}}),
                                        policy("random", {{"worker", "accuracy"}, {"per_task", "1"}}),
                                        policy("expected_information")};
  std::vector<double> reached(policies.size(), 0);
  for (std::size_t crowd = 0; crowd < kCrowds; ++crowd) {
    Rng rng(100 + crowd);
    std::vector<double> tables;
    for (std::size_t j = 0; j < kWorkers; ++j) {
      const double level = j < 10 ? 6 : j < 20 ? 2 : 1;
      for (std::size_t k = 0; k < kClasses; ++k) {
        std::vector<double> row(kClasses);
        for (double& x : row) x = rng.uniform();
        std::swap(row[k], *std::max_element(row.begin(), row.end()));
        row[k] *= level;
        double sum = 0;
        for (const double x : row) sum += x;
        for (const double x : row) tables.push_back(x / sum);
      }
    }
    std::vector<ClassId> truth;
    for (std::size_t i = 0; i < kTasks; ++i) truth.push_back(ClassId{static_cast<std::uint16_t>(rng.below(kClasses))});
    ReplayOptions options;
    options.seeds = 1;
    options.bootstrap = 0;
    options.answers_per_round = 100;
    options.random_answers_per_task = 1;
    options.most_answers = 3200;
    RunOptions own;
    own.seed = crowd;
    const Replay played = replay(world_of(tables, truth, kWorkers, kClasses), policies, options, kFit, RunContext(own));
    for (std::size_t p = 0; p < policies.size(); ++p) {
      EXPECT_EQ(played.curves[p].answers[1], 800);
      EXPECT_EQ(played.curves[p].answers.back(), 3200);
      reached[p] += played.curves[p].accuracy.back() / kCrowds;
    }
  }
  EXPECT_LT(reached[0] + 0.05, reached[1]);  // measured: .810, .909, .922, .978
  EXPECT_LT(reached[0] + 0.05, reached[2]);
  EXPECT_LT(reached[1] + 0.03, reached[3]);
  EXPECT_LT(reached[2] + 0.03, reached[3]);
  EXPECT_GE(reached[3], .975);
}

}  // namespace
}  // namespace wisecrowd
