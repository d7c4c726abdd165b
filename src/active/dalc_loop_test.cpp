#include "wisecrowd/dalc_loop.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "active/pool.hpp"
#include "active/summary.hpp"
#include "support/task_dependent_crowd.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/experiment_files.hpp"

namespace wisecrowd::dalc_loop {
namespace {

using testing::task_dependent_crowd;
using testing::TaskDependentCrowd;

CategoryAnswers small_crowd() {
  CategoryAnswersBuilder builder({"a", "b"});
  builder.add("t1", "w1", "a").add("t1", "w2", "b").add("t1", "w3", "a");
  builder.add("t2", "w1", "b").add("t3", "w1", "a").add("t3", "w2", "a");
  return builder.build();
}

TEST(DalcPool, GivesEachAnswerOnce) {
  const CategoryAnswers answers = small_crowd();
  const std::vector<TaskId> tasks{TaskId(0), TaskId(1), TaskId(2)};
  const std::vector<std::uint32_t> rows{2, 1, 0};
  Pool pool(answers, tasks, rows);
  EXPECT_EQ(pool.answers_left(), 6U);
  EXPECT_EQ(pool.open_tasks(true), (std::vector<TaskId>{TaskId(2), TaskId(1), TaskId(0)}));  // by rows
  std::vector<WorkerId> workers;
  pool.askable(TaskId(0), workers);
  EXPECT_EQ(workers, (std::vector<WorkerId>{WorkerId(0), WorkerId(1), WorkerId(2)}));
  EXPECT_EQ(index(pool.take(TaskId(0), WorkerId(1), true).label), 1U);
  pool.askable(TaskId(0), workers);
  EXPECT_EQ(workers, (std::vector<WorkerId>{WorkerId(0), WorkerId(2)}));
  EXPECT_EQ(pool.open_tasks(false), (std::vector<TaskId>{TaskId(2), TaskId(1)}));
  // Who does not answer is not asked again, and the task stays open.
  static_cast<void>(pool.take(TaskId(2), WorkerId(0), false));
  EXPECT_EQ(pool.open_tasks(false), (std::vector<TaskId>{TaskId(2), TaskId(1)}));
  // Workers and tasks that have not appeared yet.
  pool.hide({true, false, false}, {false, false, true});
  EXPECT_EQ(pool.open_tasks(true), (std::vector<TaskId>{TaskId(1), TaskId(0)}));
  pool.askable(TaskId(0), workers);
  EXPECT_EQ(workers, (std::vector<WorkerId>{WorkerId(2)}));
  pool.show_all();
  EXPECT_EQ(pool.rest().size(), 4U);
  EXPECT_EQ(pool.answers_left(), 4U);
}

TEST(DalcPool, SpreadOutTakesOneOfEachHeap) {
  // Three heaps far apart; within a heap all points are the same.
  std::vector<float> points;
  for (int i = 0; i < 30; ++i) {
    points.push_back(static_cast<float>(100 * (i % 3)));
    points.push_back(static_cast<float>(i % 3));
  }
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::set<std::size_t> heaps;
    for (const std::size_t i : spread_out(points, 30, 3, Rng(seed))) heaps.insert(i % 3);
    EXPECT_EQ(heaps.size(), 3U);
  }
  const std::vector<std::size_t> all = spread_out(points, 30, 50, Rng(1));
  EXPECT_EQ(std::set<std::size_t>(all.begin(), all.end()).size(), 30U);
  EXPECT_TRUE(spread_out({}, 0, 5, Rng(1)).empty());
}

TEST(DalcLoop, AucIsTheShareOfPairsInOrder) {
  Rng rng(3);
  std::vector<double> probabilities;
  std::vector<ClassId> truth;
  for (int i = 0; i < 60; ++i) {
    std::vector<double> row{std::round(10 * rng.uniform()) + 1, std::round(10 * rng.uniform()), 1};
    const double sum = row[0] + row[1] + row[2];
    for (const double v : row) probabilities.push_back(v / sum);
    truth.push_back(ClassId(rng.below(2)));  // class 2 does not occur
  }
  double mean = 0;
  for (std::size_t k = 0; k < 2; ++k) {
    double pairs = 0, in_order = 0;
    for (std::size_t i = 0; i < 60; ++i) {
      for (std::size_t j = 0; j < 60; ++j) {
        if (index(truth[i]) != k || index(truth[j]) == k) continue;
        const double a = probabilities[3 * i + k], b = probabilities[3 * j + k];
        pairs += 1;
        in_order += a > b ? 1 : (a == b ? 0.5 : 0);
      }
    }
    mean += in_order / pairs / 2;
  }
  EXPECT_NEAR(score(probabilities, truth, 3).auc, mean, 1e-12);
}

TEST(DalcLoop, SummaryByHand) {
  const std::vector<std::size_t> answers{100, 200, 400};
  EXPECT_DOUBLE_EQ(mean_height(answers, std::vector<double>{0.5, 0.7, 0.9}), (0.6 * 100 + 0.8 * 200) / 300);
  EXPECT_DOUBLE_EQ(first_reach(answers, std::vector<double>{0.5, 0.7, 0.9}, 0.8), 300);
  EXPECT_DOUBLE_EQ(first_reach(answers, std::vector<double>{0.5, 0.7, 0.9}, 0.4), 100);
  EXPECT_TRUE(std::isnan(first_reach(answers, std::vector<double>{0.5, 0.7, 0.9}, 0.95)));
  EXPECT_NEAR(student(4), 2.776, 1e-3);
  EXPECT_NEAR(student(19), 2.093, 1e-3);
  DalcLoop loop;
  loop.answers = answers;
  loop.seeds = 2;
  loop.reference_accuracy = {0.75, 0.85};
  loop.reference_auc = {0, 0};
  loop.all_answers = 1000;
  loop.curves.push_back(
      {.policy = "rd", .accuracy = {{0.5, 0.6, 0.8, 1}, {0.5, 0.8, 1.0, 1}}, .auc = {{0, 0, 0, 0}, {0, 0, 0, 0}}});
  summarise(loop, Rng(1));
  const DalcCurve& curve = loop.curves[0];
  EXPECT_DOUBLE_EQ(curve.mean_accuracy[1], 0.7);
  EXPECT_TRUE(curve.reaches);
  EXPECT_NEAR(curve.answers_to_reach, 300, 1e-9);
  EXPECT_NEAR(curve.saved.value, 0.7, 1e-12);
  EXPECT_LE(curve.saved.low, curve.saved.value);
  EXPECT_GE(curve.saved.high, curve.saved.value);
}

/// The first two thirds of the tasks have answers, the last third is for testing.
LearningData with_test_rows(const TaskDependentCrowd& made) {
  LearningData data = made.crowd.data;
  for (std::size_t row = 2 * data.features.rows / 3; row < data.features.rows; ++row) data.split[row] = Split::test;
  return data;
}

Parameters loop_with(const std::vector<std::pair<std::string, std::string>>& settings) {
  Parameters parameters(dalc_loop_parameters());
  for (const auto& [name, value] : settings) parameters.set(name, value);
  return parameters;
}

Parameters quick_model() {
  Parameters parameters(learning_method("dalc").parameters);
  parameters.set("epochs", "20");
  parameters.set("samples", "3");
  parameters.set("learning_rate", "0.01");
  parameters.set("input_dropout", "0");
  return parameters;
}

NetworkSpec small_network() {
  NetworkSpec network;
  network.hidden = 24;
  return network;
}

/// Small: about a thousand answers in the pool. Choosing both beats choosing nothing, and no more than the answers
/// themselves can make a difference: with everything bought all policies have the same answers.
TEST(DalcLoop, ChoosingTaskAndWorkerBeatsChance) {
  const TaskDependentCrowd made = task_dependent_crowd(7, {.tasks = 1500, .workers = 200, .words = 60});
  const LearningData data = with_test_rows(made);
  const Parameters loop = loop_with({{"round_answers", "150"}, {"first_answers", "100"}, {"budget", "0.7"}});
  const std::vector<std::string> policies{"rd", "dalc"};
  const RunContext context({.seed = 1, .threads = 2});
  const DalcLoop result =
      play_dalc_loop(data, made.crowd.truth, loop, quick_model(), small_network(), policies, 2, context);
  ASSERT_EQ(result.seeds, 2U);
  EXPECT_EQ(result.test_rows, 500U);
  EXPECT_EQ(result.answers.front(), 100U);
  EXPECT_EQ(result.curves[0].accuracy[1][0], result.curves[1].accuracy[1][0]);  // the same start
  EXPECT_GT(result.curves[1].area.value, result.curves[0].area.value + 0.005);
  EXPECT_TRUE(result.curves[1].reaches);
  EXPECT_GT(result.curves[1].mean_auc.back(), 0.85);

  const std::string folder = ::testing::TempDir() + "dalc_loop_test";
  const WrittenReplay written = write_dalc_loop(result, "one crowd", "{}", folder);
  std::vector<std::string> files{"seeds.csv", "curves.csv", "savings.csv", "curves.svg", "curves.png", "summary.json"};
  if (!written.no_png.empty()) std::erase(files, "curves.png");  // built without cairo
  EXPECT_EQ(written.files, files);
  std::ifstream drawing(folder + "/curves.svg");
  const std::string svg((std::istreambuf_iterator<char>(drawing)), {});
  EXPECT_NE(svg.find("one crowd"), std::string::npos);
  EXPECT_NE(svg.find(">dalc<"), std::string::npos);
  std::ifstream seeds(folder + "/seeds.csv");
  std::string line;
  std::getline(seeds, line);
  EXPECT_EQ(line, "policy,seed,answers,accuracy,auc");
  std::size_t lines = 0;
  while (std::getline(seeds, line)) ++lines;
  EXPECT_EQ(lines, 2 * 2 * result.answers.size() + 2);
  std::filesystem::remove_all(folder);
}

TEST(DalcLoop, SameSeedSameCurveForAnyNumberOfThreads) {
  const TaskDependentCrowd made = task_dependent_crowd(8, {.tasks = 360, .workers = 40, .words = 20});
  const LearningData data = with_test_rows(made);
  const std::vector<std::string> policies{"dalc"};
  // All that can be switched on: BALD, diversity, capacity, one answer per task.
  const Parameters loop = loop_with({{"round_answers", "30"},
                                     {"first_answers", "30"},
                                     {"first_epochs", "10"},
                                     {"round_epochs", "5"},
                                     {"uncertainty", "bald"},
                                     {"diversity", "3"},
                                     {"capacity", "1"},
                                     {"repeats", "false"},
                                     {"refresh", "1"}});
  const auto run = [&](unsigned threads, std::uint64_t seed) {
    const RunContext context({.seed = seed, .threads = threads});
    return play_dalc_loop(data, made.crowd.truth, loop, quick_model(), small_network(), policies, 1, context);
  };
  const DalcLoop one = run(1, 1), two = run(2, 1), other = run(1, 2);
  EXPECT_EQ(one.curves[0].accuracy, two.curves[0].accuracy);
  EXPECT_EQ(one.curves[0].auc, two.curves[0].auc);
  EXPECT_NE(one.curves[0].auc, other.curves[0].auc);
  EXPECT_LE(one.answers.back(), one.pool_tasks);  // once each
}

/// Three of ten questions are not answered, and a tenth of the workers and tasks appear when half is bought.
TEST(DalcLoop, PeopleWhoDoNotAnswerAndLatecomers) {
  const TaskDependentCrowd made = task_dependent_crowd(8, {.tasks = 360, .workers = 40, .words = 20});
  const LearningData data = with_test_rows(made);
  const std::vector<std::string> policies{"rd", "dalc"};
  const Parameters loop = loop_with({{"round_answers", "40"},
                                     {"first_answers", "40"},
                                     {"budget", "0.4"},
                                     {"response", "0.7"},
                                     {"late", "0.3"},
                                     {"round_epochs", "5"}});
  const RunContext context({.seed = 3, .threads = 2});
  const DalcLoop result =
      play_dalc_loop(data, made.crowd.truth, loop, quick_model(), small_network(), policies, 1, context);
  for (const DalcCurve& curve : result.curves) {
    // Points are filled up by asking others, and no answer is bought twice.
    const auto& bought = curve.bought[0];
    EXPECT_EQ(bought.size() + 40, result.answers.back());
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    for (const CategoryAnswer& a : bought) EXPECT_TRUE(pairs.emplace(index(a.task), index(a.worker)).second);
    // Some workers and tasks occur in the second half only.
    std::set<std::size_t> early, later;
    for (std::size_t i = 0; i < bought.size(); ++i)
      (2 * i < bought.size() ? early : later).insert(index(bought[i].worker));
    std::size_t fresh = 0;
    for (const std::size_t worker : later) fresh += early.contains(worker) ? 0 : 1;
    EXPECT_GE(fresh, 5U) << curve.policy;
  }
}

TEST(DalcLoop, RefusesWhatCannotBePlayed) {
  const TaskDependentCrowd made = task_dependent_crowd(9, {.tasks = 90, .workers = 10, .words = 10});
  const std::vector<std::string> policies{"dalc"};
  const RunContext context;
  const auto refused = [&](const LearningData& data, const Parameters& loop, const std::string& policy) {
    try {
      static_cast<void>(play_dalc_loop(data, made.crowd.truth, loop, quick_model(), small_network(),
                                       std::vector<std::string>{policy}, 1, context));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refused(made.crowd.data, loop_with({}), "dalc").find("split test"), std::string::npos);
  EXPECT_NE(refused(with_test_rows(made), loop_with({}), "dalc").find("too few"), std::string::npos);
  EXPECT_NE(refused(with_test_rows(made), loop_with({{"first_answers", "5"}}), "best").find("choose rd"),
            std::string::npos);
}

}  // namespace
}  // namespace wisecrowd::dalc_loop
