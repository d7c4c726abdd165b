#include "wisecrowd/copied_workers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "trust/pair_dependence.hpp"

namespace wisecrowd {
namespace {

/// What a crowd is made of. Copies repeat what their source says of the task, asked or not, at the given rate.
struct Plan {
  int tasks = 300, workers = 30, classes = 2, per_task = 30;
  int cliques = 0, clique_size = 0;  ///< workers 0 … are cliques, one after the other; the first of each is the source
  double rate = 1;
  double low = 0.55, high = 0.9;  ///< accuracies are even between
  bool hard_tasks = false;        ///< tasks differ in difficulty and have a lure that wrong answers fall for
};

CategoryAnswers draw(const Plan& plan, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::string> classes;
  for (int k = 0; k < plan.classes; ++k) classes.push_back(std::to_string(k));
  CategoryAnswersBuilder builder(classes);
  std::vector<double> accuracy;
  for (int w = 0; w < plan.workers; ++w) {
    accuracy.push_back(rng.uniform(plan.low, plan.high));
    builder.add_worker("w" + std::to_string(w));
  }
  std::vector<int> order(static_cast<std::size_t>(plan.workers));
  const auto others = static_cast<std::uint64_t>(plan.classes - 1);
  for (int t = 0; t < plan.tasks; ++t) {
    const int truth = t % plan.classes;
    const int lure = (truth + 1 + static_cast<int>(rng.below(others))) % plan.classes;
    const double ease = plan.hard_tasks ? std::exp(rng.normal()) : 1;
    const auto own = [&](int w) {
      const double chance = 1.0 / plan.classes;
      const double skill = (accuracy[static_cast<std::size_t>(w)] - chance) / (1 - chance);
      if (rng.bernoulli(chance + (1 - chance) * (1 - std::pow(1 - skill, ease)))) return truth;
      if (plan.hard_tasks && rng.bernoulli(0.7)) return lure;
      return (truth + 1 + static_cast<int>(rng.below(others))) % plan.classes;
    };
    std::vector<int> source(static_cast<std::size_t>(plan.cliques));
    for (int c = 0; c < plan.cliques; ++c) source[static_cast<std::size_t>(c)] = own(c * plan.clique_size);
    std::iota(order.begin(), order.end(), 0);
    rng.shuffle(std::span(order));
    for (int i = 0; i < plan.per_task; ++i) {
      const int w = order[static_cast<std::size_t>(i)];
      const bool in_clique = w < plan.cliques * plan.clique_size;
      const bool repeats = in_clique && (w % plan.clique_size == 0 || rng.bernoulli(plan.rate));
      const int label = repeats ? source[static_cast<std::size_t>(w / plan.clique_size)] : own(w);
      builder.add("t" + std::to_string(t), "w" + std::to_string(w), std::to_string(label));
    }
  }
  return builder.build();
}

std::set<std::size_t> members(const CopiedGroup& group) {
  std::set<std::size_t> ids;
  for (const WorkerId worker : group.workers) ids.insert(index(worker));
  return ids;
}

/// How many of 20 crowds have exactly the planted cliques as their groups.
int crowds_with_planted_groups(const Plan& plan) {
  std::set<std::set<std::size_t>> planted;
  for (int c = 0; c < plan.cliques; ++c) {
    std::set<std::size_t> ids;
    for (int n = 0; n < plan.clique_size; ++n) ids.insert(static_cast<std::size_t>(c * plan.clique_size + n));
    planted.insert(ids);
  }
  int right = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::set<std::set<std::size_t>> found;
    for (const CopiedGroup& group : copied_workers(draw(plan, seed), RunContext())) found.insert(members(group));
    right += found == planted ? 1 : 0;
  }
  return right;
}

TEST(CopiedWorkers, IndependentCrowdsOfEveryKindRaiseNoAlarm) {
  for (const std::string kind : {"dawid_skene", "one_coin_beta", "hammer_spammer", "regular", "naive_majority"}) {
    for (const std::size_t classes : {2U, 4U}) {
      int alarms = 0;
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        RunOptions run;
        run.seed = seed;
        const Parameters parameters(simulation_kind(kind).parameters);
        const Simulation crowd = simulate(kind, {600, 30, classes, 5}, parameters, RunContext(run));
        alarms += copied_workers(crowd.data.answers, RunContext()).empty() ? 0 : 1;
      }
      EXPECT_LE(alarms, 1) << kind << ", " << classes << " classes";
    }
  }
}

TEST(CopiedWorkers, HardTasksAreNoCopying) {
  for (const int per_task : {5, 30}) {
    Plan plan{.tasks = 400, .classes = 3, .per_task = per_task};
    plan.hard_tasks = true;
    int alarms = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      alarms += copied_workers(draw(plan, seed), RunContext()).empty() ? 0 : 1;
    }
    EXPECT_LE(alarms, 1) << per_task;
  }
}

TEST(CopiedWorkers, CliquesAreNamedAsGroups) {
  EXPECT_EQ(crowds_with_planted_groups({.cliques = 1, .clique_size = 3}), 20);
  EXPECT_EQ(crowds_with_planted_groups({.classes = 4, .cliques = 2, .clique_size = 4}), 20);
}

// The posterior follows half of the crowd wherever it goes; counted once, it does not.
TEST(CopiedWorkers, HalfOfTheCrowdMayBeOneVoice) {
  EXPECT_EQ(crowds_with_planted_groups({.cliques = 1, .clique_size = 15}), 20);
  EXPECT_EQ(crowds_with_planted_groups({.classes = 3, .cliques = 1, .clique_size = 15}), 20);
}

// About 46 tasks in common for each pair.
TEST(CopiedWorkers, FiveAnswersPerTaskAreEnough) {
  EXPECT_EQ(crowds_with_planted_groups({.tasks = 2000, .per_task = 5, .cliques = 1, .clique_size = 3}), 20);
  EXPECT_EQ(crowds_with_planted_groups({.tasks = 2000, .per_task = 5, .cliques = 1, .clique_size = 15}), 20);
}

// Six pairs in each crowd, about 120 common tasks a pair.
TEST(CopiedWorkers, PartialCopiesAreFound) {
  const auto power = [](double rate) {
    Plan plan{.tasks = 1000, .workers = 40, .classes = 3, .per_task = 14, .cliques = 6, .clique_size = 2};
    plan.rate = rate;
    double found = 0;
    constexpr int kCrowds = 4;
    for (std::uint64_t seed = 0; seed < kCrowds; ++seed) {
      for (const CopiedGroup& group : copied_workers(draw(plan, seed), RunContext())) {
        EXPECT_EQ(group.workers.size(), 2U);
        EXPECT_LT(index(group.workers[1]), 12U) << "nobody else is accused";
        found += 1;
      }
    }
    return found / (6 * kCrowds);
  };
  EXPECT_GE(power(0.5), 0.6);
  EXPECT_GE(power(0.7), 0.9);
  EXPECT_EQ(power(0.9), 1);
}

// Given the posterior without both workers, agreements of independent workers are what is expected of them.
TEST(CopiedWorkers, TheJointNullHolds) {
  double n = 0, sum = 0, squares = 0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const auto sample = trust::sample_of(draw({.tasks = 2000, .per_task = 5}, seed), {});
    const RunContext context;
    const auto pairs = trust::pairs_of(sample, context);
    std::vector<std::uint32_t> alone(sample.workers);
    std::iota(alone.begin(), alone.end(), 0U);
    const auto model = trust::GroupModel::fit(sample, trust::Grouping(alone), context);
    const auto found = trust::dependence_of(sample, pairs, model, context);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const double z = (pairs.agreed[p] - found.expected[p]) / std::sqrt(found.variance[p]);
      n += 1;
      sum += z;
      squares += z * z;
    }
  }
  const double mean = sum / n;
  EXPECT_LT(std::abs(mean), 0.15);
  EXPECT_GT(std::sqrt(squares / n - mean * mean), 0.8);
  EXPECT_LT(std::sqrt(squares / n - mean * mean), 1.1);
}

TEST(CopiedWorkers, TheWarningNamesGroupsAndWhatFollows) {
  const CategoryAnswers answers = draw({.cliques = 1, .clique_size = 15}, 1);
  const auto groups = copied_workers(answers, RunContext());
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].common_tasks, 300U);
  EXPECT_EQ(groups[0].agreement, 1);
  EXPECT_LT(groups[0].expected, 0.9);
  EXPECT_EQ(groups[0].answers, 4500U);
  EXPECT_TRUE(copies_cast_doubt(answers, groups));
  const auto warning = copied_workers_warning(answers, groups);
  ASSERT_TRUE(warning);
  EXPECT_EQ(warning->message.find("15 workers answer as one: w0, w1, "), 0U) << warning->message;
  EXPECT_NE(warning->message.find("cannot be trusted"), std::string::npos);
  EXPECT_FALSE(copied_workers_warning(answers, {}));
  EXPECT_FALSE(copies_cast_doubt(answers, {}));

  const CategoryAnswers few = draw({.workers = 60, .per_task = 60, .cliques = 2, .clique_size = 2}, 1);
  const auto pairs = copied_workers(few, RunContext());
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_FALSE(copies_cast_doubt(few, pairs));
  EXPECT_NE(copied_workers_warning(few, pairs)->message.find(" So do 2: w2, w3."), std::string::npos);
}

TEST(CopiedWorkers, TheSameForAnyNumberOfThreads) {
  const CategoryAnswers answers = draw({.tasks = 2000, .classes = 3, .per_task = 5, .cliques = 1, .clique_size = 8}, 3);
  const auto one = copied_workers(answers, RunContext({.threads = 1}));
  const auto three = copied_workers(answers, RunContext({.threads = 3}));
  ASSERT_EQ(one.size(), three.size());
  ASSERT_FALSE(one.empty());
  EXPECT_EQ(one[0].workers, three[0].workers);
  EXPECT_EQ(one[0].expected, three[0].expected);
}

// More classes than tables have room for, and more answers to a task than are looked at.
TEST(CopiedWorkers, ManyClassesAndManyAnswers) {
  const CategoryAnswers answers = draw({.tasks = 200, .classes = 150, .cliques = 1, .clique_size = 3}, 1);
  const auto groups = copied_workers(answers, RunContext());
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(members(groups[0]), (std::set<std::size_t>{0, 1, 2}));
  trust::SampleLimits limits;
  limits.per_task = 10;
  const auto sample = trust::sample_of(answers, limits);
  EXPECT_EQ(sample.bins, 32U);
  EXPECT_EQ(sample.answers(), 2000U);
  EXPECT_EQ(std::set<std::uint32_t>(sample.who.begin(), sample.who.end()).size(), 10U);  // the same ten everywhere
  limits = {};
  limits.pairs = 100 * 435;
  EXPECT_NEAR(static_cast<double>(trust::sample_of(answers, limits).tasks), 100, 25);
}

TEST(CopiedWorkers, NothingToCompare) {
  CategoryAnswersBuilder builder({"a", "b"});
  builder.add("t", "v", "a").add("t", "w", "a");
  EXPECT_TRUE(copied_workers(builder.build(), RunContext()).empty());
  EXPECT_TRUE(copied_workers(CategoryAnswers(), RunContext()).empty());
}

TEST(CopiedWorkers, RealSets) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  const RunContext context({.threads = 2});
  const auto groups_of = [&](const std::string& set) {
    const CategoryData data = read_dataset(*root + "/" + set + "/labels.csv", std::nullopt, {}, context, nullptr);
    return std::pair(data.answers, copied_workers(data.answers, context));
  };
  for (const std::string set : {"bluebird", "rte", "dog", "faces", "possent"}) {
    EXPECT_TRUE(groups_of("aggregate/" + set).second.empty()) << set;
  }
  // Judges are language models under several prompts: those of one model are no independent voices.
  const auto [answers, groups] = groups_of("aggregate_more/llmbar_natural");
  ASSERT_FALSE(groups.empty());
  EXPECT_GE(groups[0].workers.size(), 10U);
  for (const WorkerId worker : groups[0].workers) {
    EXPECT_EQ(answers.worker_names()[index(worker)].substr(0, 5), "GPT-4");
  }
}

}  // namespace
}  // namespace wisecrowd
