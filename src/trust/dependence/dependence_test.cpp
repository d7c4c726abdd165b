#include "wisecrowd/dependence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "trust/shared/pair_dependence.hpp"

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

std::vector<DependentGroup> groups_of(const CategoryAnswers& answers, const RunContext& context) {
  return find_dependence({.answers = answers}, {}, context).groups;
}

std::set<std::size_t> members(const DependentGroup& group) {
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
    for (const DependentGroup& group : find_dependence({.answers = draw(plan, seed)}, {}, RunContext()).groups)
      found.insert(members(group));
    right += found == planted ? 1 : 0;
  }
  return right;
}

TEST(Dependence, IndependentCrowdsOfEveryKindRaiseNoAlarm) {
  for (const std::string kind : {"dawid_skene", "one_coin_beta", "hammer_spammer", "regular", "naive_majority"}) {
    for (const std::size_t classes : {2U, 4U}) {
      int alarms = 0;
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        RunOptions run;
        run.seed = seed;
        const Parameters parameters(simulation_kind(kind).parameters);
        const Simulation crowd = simulate(kind, {600, 30, classes, 5}, parameters, RunContext(run));
        alarms += groups_of(crowd.data.answers, RunContext()).empty() ? 0 : 1;
      }
      EXPECT_LE(alarms, 1) << kind << ", " << classes << " classes";
    }
  }
}

TEST(Dependence, HardTasksAreNoCopying) {
  for (const int per_task : {5, 30}) {
    Plan plan{.tasks = 400, .classes = 3, .per_task = per_task};
    plan.hard_tasks = true;
    int alarms = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      alarms += find_dependence({.answers = draw(plan, seed)}, {}, RunContext()).groups.empty() ? 0 : 1;
    }
    EXPECT_LE(alarms, 1) << per_task;
  }
}

TEST(Dependence, CliquesAreNamedAsGroups) {
  EXPECT_EQ(crowds_with_planted_groups({.cliques = 1, .clique_size = 3}), 20);
  EXPECT_EQ(crowds_with_planted_groups({.classes = 4, .cliques = 2, .clique_size = 4}), 20);
}

// The posterior follows half of the crowd wherever it goes; counted once, it does not.
TEST(Dependence, HalfOfTheCrowdMayBeOneVoice) {
  EXPECT_EQ(crowds_with_planted_groups({.cliques = 1, .clique_size = 15}), 20);
  EXPECT_EQ(crowds_with_planted_groups({.classes = 3, .cliques = 1, .clique_size = 15}), 20);
}

// About 46 tasks in common for each pair.
TEST(Dependence, FiveAnswersPerTaskAreEnough) {
  EXPECT_EQ(crowds_with_planted_groups({.tasks = 2000, .per_task = 5, .cliques = 1, .clique_size = 3}), 20);
  EXPECT_EQ(crowds_with_planted_groups({.tasks = 2000, .per_task = 5, .cliques = 1, .clique_size = 15}), 20);
}

// Six pairs in each crowd, about 120 common tasks a pair.
TEST(Dependence, PartialCopiesAreFound) {
  const auto power = [](double rate) {
    Plan plan{.tasks = 1000, .workers = 40, .classes = 3, .per_task = 14, .cliques = 6, .clique_size = 2};
    plan.rate = rate;
    double found = 0;
    constexpr int kCrowds = 4;
    for (std::uint64_t seed = 0; seed < kCrowds; ++seed) {
      for (const DependentGroup& group : find_dependence({.answers = draw(plan, seed)}, {}, RunContext()).groups) {
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
TEST(Dependence, TheJointNullHolds) {
  double n = 0, sum = 0, squares = 0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const auto sample = trust::sample_of(draw({.tasks = 2000, .per_task = 5}, seed), {});
    const RunContext context;
    const auto pairs = trust::pairs_of(sample, context);
    std::vector<std::uint32_t> alone(sample.workers);
    std::iota(alone.begin(), alone.end(), 0U);
    const auto model = trust::GroupModel::fit(sample, trust::Grouping(alone), {}, context);
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

TEST(Dependence, AFitThatCannotGetThereEndsEarly) {
  const RunContext context;
  const auto answers = draw({.tasks = 400, .workers = 20, .per_task = 8, .hard_tasks = true}, 3);
  const auto sample = trust::sample_of(answers, {});
  std::vector<std::uint32_t> in_fours(answers.worker_count());
  for (std::uint32_t w = 0; w < in_fours.size(); ++w) in_fours[w] = w / 4;
  const auto fitted = [&](double least_score) {
    return trust::GroupModel::fit(sample, trust::Grouping(in_fours), {.least_score = least_score}, context);
  };
  const auto whole = trust::GroupModel::fit(sample, trust::Grouping(in_fours), {}, context);
  EXPECT_EQ(fitted(whole.score() - 1).trace(), whole.trace());
  const auto given_up = fitted(whole.score() + 100);
  EXPECT_LT(given_up.trace().size(), whole.trace().size());
  EXPECT_FALSE(given_up.converged());
}

TEST(Dependence, TheWarningNamesGroupsAndWhatFollows) {
  const CategoryData data{.answers = draw({.cliques = 1, .clique_size = 15}, 1)};
  const Dependence found = find_dependence(data, {}, RunContext());
  ASSERT_EQ(found.groups.size(), 1U);
  EXPECT_EQ(found.groups[0].common_tasks, 300U);
  EXPECT_EQ(found.groups[0].agreement, 1);
  EXPECT_LT(found.groups[0].expected, 0.9);
  EXPECT_EQ(found.groups[0].answers, 4500U);
  EXPECT_TRUE(dependence_casts_doubt(data.answers, found));
  const auto warnings = dependence_warnings(data, found);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].code, "copied_workers");
  EXPECT_EQ(warnings[0].message.find("15 workers answer as one: w0, w1, "), 0U) << warnings[0].message;
  EXPECT_NE(warnings[0].message.find("cannot be trusted"), std::string::npos);
  EXPECT_TRUE(dependence_warnings(data, {}).empty());
  EXPECT_FALSE(dependence_casts_doubt(data.answers, {}));

  const CategoryData few{.answers = draw({.workers = 60, .per_task = 60, .cliques = 2, .clique_size = 2}, 1)};
  const Dependence pairs = find_dependence(few, {}, RunContext());
  ASSERT_EQ(pairs.groups.size(), 2U);
  EXPECT_FALSE(dependence_casts_doubt(few.answers, pairs));
  EXPECT_NE(dependence_warnings(few, pairs)[0].message.find(" So do 2: w2, w3."), std::string::npos);
}

TEST(Dependence, TheSameForAnyNumberOfThreads) {
  const CategoryAnswers answers = draw({.tasks = 2000, .classes = 3, .per_task = 5, .cliques = 1, .clique_size = 8}, 3);
  const auto one = groups_of(answers, RunContext({.threads = 1}));
  const auto three = groups_of(answers, RunContext({.threads = 3}));
  ASSERT_EQ(one.size(), three.size());
  ASSERT_FALSE(one.empty());
  EXPECT_EQ(one[0].workers, three[0].workers);
  EXPECT_EQ(one[0].expected, three[0].expected);
}

// More classes than tables have room for, and more answers to a task than are looked at.
TEST(Dependence, ManyClassesAndManyAnswers) {
  const CategoryAnswers answers = draw({.tasks = 200, .classes = 150, .cliques = 1, .clique_size = 3}, 1);
  const auto groups = groups_of(answers, RunContext());
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

TEST(Dependence, NothingToCompare) {
  CategoryAnswersBuilder builder({"a", "b"});
  builder.add("t", "v", "a").add("t", "w", "a");
  EXPECT_TRUE(groups_of(builder.build(), RunContext()).empty());
  EXPECT_TRUE(groups_of(CategoryAnswers(), RunContext()).empty());
}

/// 60 workers, the first of whom collude: on a share of the tasks they agree on one wrong class, and then answer
/// something at random at the rate of noise.
struct Attack {
  int tasks = 600, classes = 3, per_task = 15;
  double share = 0.35, attacked = 0.9, noise = 0;
  int colluders() const { return static_cast<int>(std::lround(60 * share)); }
};

CategoryData attacked_crowd(const Attack& attack, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::string> classes;
  for (int k = 0; k < attack.classes; ++k) classes.push_back(std::to_string(k));
  CategoryAnswersBuilder builder(classes);
  std::vector<double> accuracy(60);
  for (int w = 0; w < 60; ++w) {
    accuracy[static_cast<std::size_t>(w)] = rng.uniform(0.55, 0.9);
    builder.add_worker("w" + std::to_string(w));
  }
  const auto classes_below = static_cast<std::uint64_t>(attack.classes);
  std::vector<int> order(60), truth;
  std::iota(order.begin(), order.end(), 0);
  for (int t = 0; t < attack.tasks; ++t) {
    truth.push_back(static_cast<int>(rng.below(classes_below)));
    const auto wrong = [&] {
      return (truth.back() + 1 + static_cast<int>(rng.below(classes_below - 1))) % attack.classes;
    };
    const int plot = rng.bernoulli(attack.attacked) ? wrong() : truth.back();
    rng.shuffle(std::span(order));
    for (int i = 0; i < attack.per_task; ++i) {
      const int w = order[static_cast<std::size_t>(i)];
      int said = plot;
      if (w >= attack.colluders()) {
        said = rng.bernoulli(accuracy[static_cast<std::size_t>(w)]) ? truth.back() : wrong();
      } else if (rng.bernoulli(attack.noise)) {
        said = static_cast<int>(rng.below(classes_below));
      }
      builder.add("t" + std::to_string(t), "w" + std::to_string(w), std::to_string(said));
    }
  }
  CategoryData data{.answers = builder.build()};
  data.gold.assign(data.answers.task_count(), kNoClass);
  for (std::size_t t = 0; t < data.answers.task_count(); ++t) {
    const auto name = std::string(data.answers.task_names()[t]);
    data.gold[t] = ClassId(static_cast<std::uint16_t>(truth[std::stoul(name.substr(1))]));
  }
  return data;
}

CategoryData without_gold(const CategoryData& data) { return {.answers = data.answers}; }

double share_right(const CategoryData& data, const std::vector<double>& posterior) {
  const std::size_t classes = data.answers.class_count();
  std::size_t right = 0;
  for (std::size_t t = 0; t < data.gold.size(); ++t) {
    const auto row = posterior.begin() + static_cast<std::ptrdiff_t>(t * classes);
    right += static_cast<std::size_t>(std::max_element(row, row + static_cast<std::ptrdiff_t>(classes)) - row) ==
             index(data.gold[t]);
  }
  return static_cast<double>(right) / static_cast<double>(data.gold.size());
}

bool names_the_colluders(const Dependence& found, const Attack& attack) {
  if (found.groups.empty() || !found.groups[0].acted_on) return false;
  const auto ids = members(found.groups[0]);
  return ids.size() == static_cast<std::size_t>(attack.colluders()) && *ids.rbegin() + 1 == ids.size();
}

TEST(Dependence, ColludersAreFoundAndCountOnce) {
  const RunContext context({.threads = 2});
  for (const Attack attack : {Attack{}, Attack{.classes = 2, .share = 0.4, .attacked = 0.7},
                              Attack{.classes = 5, .share = 0.2, .attacked = 1}}) {
    const CategoryData data = attacked_crowd(attack, 5);
    const Dependence found = find_dependence(without_gold(data), {.list_attacked_tasks = true}, context);
    ASSERT_TRUE(names_the_colluders(found, attack)) << attack.classes;
    ASSERT_TRUE(found.acts());
    EXPECT_NEAR(found.groups[0].contradicts, attack.attacked, 0.08);
    EXPECT_GT(share_right(data, fit_voices(without_gold(data), found.voices, {}, context).posterior), 0.93);
    ASSERT_FALSE(found.attacked.empty());
    EXPECT_NE(found.attacked[0].said, found.attacked[0].others_say);
    std::size_t caught = 0;
    for (const AttackedTask& task : found.attacked) caught += task.others_say == data.gold[index(task.task)] ? 1 : 0;
    EXPECT_GT(static_cast<double>(caught), 0.95 * static_cast<double>(found.attacked.size()));
  }
}

TEST(Dependence, NoisyColludersOfTwoClassesDoNotTurnTheCrowdAround) {
  const RunContext context({.threads = 2});
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Attack attack{.tasks = 1000, .classes = 2, .per_task = 20, .attacked = 0.8, .noise = 0.25};
    EXPECT_TRUE(names_the_colluders(find_dependence(without_gold(attacked_crowd(attack, seed)), {}, context), attack))
        << seed;
  }
}

TEST(Dependence, ATrustedWorkerOrGoldTurnsItAround) {
  const RunContext context({.threads = 2});
  const Attack attack{.share = 0.4};
  const CategoryData data = attacked_crowd(attack, 2);
  CategoryData trusting = without_gold(data);
  trusting.trusted = {WorkerId{3}};
  Dependence found = find_dependence(trusting, {}, context);
  ASSERT_TRUE(found.acts());
  EXPECT_LT(share_right(data, fit_voices(trusting, found.voices, {}, context).posterior), 0.3);
  EXPECT_NE(found.voices[3], found.voices[4]) << "those who are trusted speak for themselves";
  found.counted_once = true;
  for (const Warning& warning : dependence_warnings(trusting, found)) {
    EXPECT_EQ(warning.remedy.find("trusted"), std::string::npos) << warning.remedy;
  }
  // The same by the truth of some tasks, if that were what the colluders say.
  CategoryData told = without_gold(data);
  told.gold.assign(told.answers.task_count(), kNoClass);
  const Dependence by_answers = find_dependence(without_gold(data), {.list_attacked_tasks = true}, context);
  for (std::size_t n = 0; n < 30; ++n) {
    told.gold[index(by_answers.attacked[n].task)] = by_answers.attacked[n].said;
  }
  found = find_dependence(told, {}, context);
  ASSERT_TRUE(found.acts());
  EXPECT_LT(share_right(data, fit_voices(told, found.voices, {}, context).posterior), 0.4);
}

TEST(Dependence, ALookAtPairsFindsWhatStandsOut) {
  const DependenceOptions pairs_only{.only_where_pairs_stand_out = true};
  const CategoryAnswers copied = draw({.cliques = 2, .clique_size = 4}, 5);
  const Dependence all = find_dependence({.answers = copied}, {}, RunContext());
  const Dependence some = find_dependence({.answers = copied}, pairs_only, RunContext());
  ASSERT_EQ(all.groups.size(), 2U);
  ASSERT_EQ(some.groups.size(), 2U);
  for (std::size_t g = 0; g < 2; ++g) EXPECT_EQ(members(some.groups[g]), members(all.groups[g]));
  EXPECT_TRUE(find_dependence({.answers = draw({}, 5)}, pairs_only, RunContext()).groups.empty());
  // Colluders whose pairs share few tasks: the search finds them, a look at pairs does not.
  const Simulation hidden = simulate("colluders", {500, 30, 2, 5}, Parameters(simulation_kind("colluders").parameters),
                                     RunContext({.seed = 1}));
  EXPECT_EQ(groups_of(hidden.data.answers, RunContext()).size(), 1U);
  EXPECT_TRUE(find_dependence({.answers = hidden.data.answers}, pairs_only, RunContext()).groups.empty());
}

TEST(Dependence, WhatCannotBeKnownIsSaid) {
  const Attack attack{.share = 0.35};
  const CategoryData data = without_gold(attacked_crowd(attack, 4));
  Dependence found = find_dependence(data, {}, RunContext({.threads = 2}));
  found.counted_once = true;
  const auto warnings = dependence_warnings(data, found);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].code, "dependent_workers");
  EXPECT_EQ(warnings[0].message.find("21 workers answer as one and contradict the rest on "), 0U);
  EXPECT_NE(warnings[0].remedy.find("name one as trusted"), std::string::npos);
  EXPECT_FALSE(dependence_casts_doubt(data.answers, found));
}

/// Parts that share neither workers nor tasks, each with colluders of its own.
CategoryData crowd_of_parts(const Attack& attack, int parts) {
  std::vector<CategoryAnswer> all;
  CategoryData data;
  std::vector<std::string> tasks, workers, classes;
  for (int k = 0; k < attack.classes; ++k) classes.push_back(std::to_string(k));
  for (int p = 0; p < parts; ++p) {
    const CategoryData one = attacked_crowd(attack, 40 + static_cast<std::uint64_t>(p));
    for (std::uint32_t t = 0; t < one.answers.task_count(); ++t) {
      for (std::size_t a = 0; a < one.answers.workers_of(TaskId{t}).size(); ++a) {
        all.push_back({TaskId{static_cast<std::uint32_t>(tasks.size())},
                       WorkerId{static_cast<std::uint32_t>(60 * p + index(one.answers.workers_of(TaskId{t})[a]))},
                       one.answers.labels_of(TaskId{t})[a]});
      }
      tasks.push_back(std::to_string(p) + "_" + std::string(one.answers.task_names()[t]));
      data.gold.push_back(one.gold[t]);
    }
    for (int w = 0; w < 60; ++w) workers.push_back(std::to_string(p) + "_" + std::to_string(w));
  }
  data.answers = make_category_answers(all, {NameTable(tasks), NameTable(workers), NameTable(classes)});
  return data;
}

// Three groups hold a third of the workers; looked at together, the honest of each part may be taken for groups, too.
TEST(Dependence, PartsThatShareNobodyAreJudgedApart) {
  const Attack attack{.tasks = 400};
  CategoryData data = crowd_of_parts(attack, 3);
  const Dependence found = find_dependence(without_gold(data), {.list_attacked_tasks = true}, RunContext());
  ASSERT_EQ(found.groups.size(), 3U);
  EXPECT_FALSE(found.everybody_grouped);
  for (const DependentGroup& group : found.groups) {
    EXPECT_TRUE(group.acted_on);
    ASSERT_EQ(group.workers.size(), static_cast<std::size_t>(attack.colluders()));
    const std::size_t first = index(group.workers.front());
    EXPECT_EQ(first % 60, 0U);
    EXPECT_EQ(index(group.workers.back()), first + group.workers.size() - 1);
    for (const WorkerId worker : group.workers) EXPECT_EQ(found.voices[index(worker)], first);
  }
  EXPECT_GT(share_right(data, fit_voices(without_gold(data), found.voices, {}, RunContext()).posterior), 0.93);
  for (const AttackedTask& task : found.attacked) {
    EXPECT_EQ(index(task.task) / 400, index(found.groups[task.group].workers[0]) / 60);
  }
  // A trusted worker decides for its own part only.
  CategoryData trusting = without_gold(data);
  trusting.trusted = {WorkerId{63}};
  const Dependence told = find_dependence(trusting, {}, RunContext());
  for (const std::size_t part : {0U, 1U, 2U}) {
    const bool colluders_are_one = told.voices[60 * part] == told.voices[60 * part + 1];
    const bool others_are_one = told.voices[60 * part + 58] == told.voices[60 * part + 59];
    EXPECT_EQ(colluders_are_one, part != 1) << part;
    EXPECT_EQ(others_are_one, part == 1) << part;
  }
}

TEST(Dependence, RealSets) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  const RunContext context({.threads = 2});
  const auto look = [&](const std::string& set) {
    const CategoryData data = read_dataset(*root + "/" + set + "/labels.csv", std::nullopt, {}, context, nullptr);
    return std::pair(data.answers, groups_of(data.answers, context));
  };
  for (const std::string set : {"bluebird", "rte", "dog", "faces", "possent"}) {
    EXPECT_TRUE(look("aggregate/" + set).second.empty()) << set;
  }
  // Judges are language models under several prompts: those of one model are no independent voices.
  const auto [answers, groups] = look("aggregate_more/llmbar_natural");
  ASSERT_FALSE(groups.empty());
  EXPECT_GE(groups[0].workers.size(), 10U);
  for (const WorkerId worker : groups[0].workers) {
    EXPECT_EQ(answers.worker_names()[index(worker)].substr(0, 5), "GPT-4");
  }
}

}  // namespace
}  // namespace wisecrowd
