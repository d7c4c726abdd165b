#include "wisecrowd/live_loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/rng.hpp"
#include "support/task_dependent_crowd.hpp"
#include "wisecrowd/dalc_loop.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/live_files.hpp"

namespace wisecrowd {
namespace {

using testing::task_dependent_crowd;
using testing::TaskDependentCrowd;

using Named = std::array<std::string, 3>;  // task, worker, label

Parameters quick_model() {
  Parameters parameters(learning_method("dalc").parameters);
  parameters.set("epochs", "10");
  parameters.set("samples", "3");
  parameters.set("learning_rate", "0.01");
  return parameters;
}

LiveMemory begin(const std::vector<std::pair<std::string, std::string>>& settings, const std::string& policy = "dalc") {
  LiveMemory memory;
  memory.settings.policy = policy;
  memory.settings.model = quick_model();
  memory.settings.network.hidden = 16;
  for (const auto& [name, value] : settings) memory.settings.loop.set(name, value);
  return memory;
}

/// A recorded crowd as a living one would see it: the answers known so far, tasks and workers in the order in which
/// they became known, a task for every row.
class Living {
 public:
  Living(const LearningData& recorded, std::uint64_t seed) : recorded_(recorded) {
    const CategoryAnswers& answers = recorded.crowd.answers;
    for (std::size_t t = 0; t < answers.task_count(); ++t) {
      row_[std::string(answers.task_names()[t])] = recorded.row_of_task[t];
      tasks_.emplace_back(answers.task_names()[t]);
      const auto workers = answers.workers_of(TaskId(t));
      for (std::size_t a = 0; a < workers.size(); ++a) {
        said_[{tasks_.back(), std::string(answers.worker_names()[index(workers[a])])}] =
            std::string(answers.class_names()[index(answers.labels_of(TaskId(t))[a])]);
      }
    }
    for (std::size_t j = 0; j < answers.worker_count(); ++j) workers_.emplace_back(answers.worker_names()[j]);
    Rng rng(seed);
    rng.shuffle(std::span(tasks_));
    rng.shuffle(std::span(workers_));
  }

  void answer(const std::string& task, const std::string& worker) {
    known_.push_back({task, worker, said_.at({task, worker})});
  }
  void answer(const LearningData& data, const std::vector<LiveQuestion>& questions) {
    for (const LiveQuestion& q : questions) answer(task(data, q), worker(data, q));
  }
  static std::string task(const LearningData& data, const LiveQuestion& q) {
    return std::string(data.crowd.answers.task_names()[index(q.task)]);
  }
  static std::string worker(const LearningData& data, const LiveQuestion& q) {
    return std::string(data.crowd.answers.worker_names()[index(q.worker)]);
  }
  [[nodiscard]] bool has(const std::string& task, const std::string& worker) const {
    return said_.contains({task, worker});
  }

  [[nodiscard]] LearningData data(const std::vector<std::string>& more_workers = {}) const {
    LearningData data;
    data.features = recorded_.features;
    data.row_names = recorded_.row_names;
    data.split = recorded_.split;
    data.recipe = recorded_.recipe;
    std::vector<std::string> workers = workers_;
    workers.insert(workers.end(), more_workers.begin(), more_workers.end());
    std::map<std::string, std::size_t> task, worker;
    for (std::size_t t = 0; t < tasks_.size(); ++t) task[tasks_[t]] = t;
    for (std::size_t j = 0; j < workers.size(); ++j) worker[workers[j]] = j;
    std::vector<CategoryAnswer> answers;
    const NameTable& classes = recorded_.crowd.answers.class_names();
    for (const Named& a : known_) {
      for (std::size_t k = 0; k < classes.size(); ++k) {
        if (classes[k] == a[2]) answers.push_back({TaskId(task.at(a[0])), WorkerId(worker.at(a[1])), ClassId(k)});
      }
    }
    data.crowd.answers =
        make_category_answers(answers, {NameTable(tasks_), NameTable(workers), classes}, DuplicatePolicy::repeat);
    for (const std::string& name : tasks_) data.row_of_task.push_back(row_.at(name));
    return data;
  }

 private:
  const LearningData& recorded_;
  std::vector<std::string> tasks_, workers_;
  std::map<std::string, std::uint32_t> row_;
  std::map<std::pair<std::string, std::string>, std::string> said_;
  std::vector<Named> known_;
};

LearningData with_test_rows(const TaskDependentCrowd& made) {
  LearningData data = made.crowd.data;
  for (std::size_t row = 2 * data.features.rows / 3; row < data.features.rows; ++row) data.split[row] = Split::test;
  return data;
}

std::filesystem::path loop_file(const char* name) { return std::filesystem::path(::testing::TempDir()) / name; }

/// Driven by recorded answers, and put away into a file after every round, it asks what the replay asks, choice for
/// choice, though tasks and workers became known in another order.
TEST(LiveLoop, AsksWhatTheReplayAsks) {
  const TaskDependentCrowd made = task_dependent_crowd(8, {.tasks = 300, .workers = 30, .words = 20});
  const LearningData recorded = with_test_rows(made);
  const RunContext context({.seed = 5, .threads = 2});
  Parameters replay(dalc_loop_parameters());
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"first_answers", "30"},
                                                                                    {"round_answers", "25"},
                                                                                    {"first_epochs", "10"},
                                                                                    {"round_epochs", "5"},
                                                                                    {"refresh", "2"},
                                                                                    {"draws", "5"},
                                                                                    {"budget", "0.5"}}) {
    replay.set(name, value);
  }
  NetworkSpec network;
  network.hidden = 16;
  const std::vector<std::string> policies{"dalc"};
  const DalcLoop played =
      play_dalc_loop(recorded, made.crowd.truth, replay, quick_model(), network, policies, 1, context);
  const std::vector<CategoryAnswer>& bought = played.curves[0].bought[0];
  ASSERT_GT(bought.size(), 100U);

  // The same past.
  const CategoryAnswers& all = recorded.crowd.answers;
  std::vector<TaskId> order;
  for (std::size_t t = 0; t < all.task_count(); ++t) {
    if (recorded.split[recorded.row_of_task[t]] == Split::train && !all.workers_of(TaskId(t)).empty()) {
      order.push_back(TaskId(t));
    }
  }
  context.rng("dalc loop 0").fork("past").shuffle(std::span(order));
  Living crowd(recorded, 99);
  for (std::size_t i = 0; i < played.past_tasks; ++i) {
    for (const WorkerId worker : all.workers_of(order[i])) {
      crowd.answer(std::string(all.task_names()[index(order[i])]), std::string(all.worker_names()[index(worker)]));
    }
  }
  LiveMemory memory = begin({{"first_answers", "1"},
                             {"first_epochs", "10"},
                             {"round_epochs", "5"},
                             {"refresh", "2"},
                             {"draws", "5"},
                             {"train_on_past", "false"}});
  const std::filesystem::path file = loop_file("live_loop_replay.loop");
  std::size_t at = 0;
  for (std::size_t round = 0; at < bought.size(); ++round) {
    const LearningData data = crowd.data();
    LiveRequest request;
    request.questions = round == 0 ? 30 : std::min<std::size_t>(25, bought.size() - at);
    request.can_ask = [&](TaskId task, WorkerId worker) {
      return crowd.has(std::string(data.crowd.answers.task_names()[index(task)]),
                       std::string(data.crowd.answers.worker_names()[index(worker)]));
    };
    const LiveRound asked = next_live_round(data, memory, request, context);
    ASSERT_EQ(asked.questions.size(), request.questions);
    EXPECT_EQ(asked.by_chance, round == 0);
    for (const LiveQuestion& q : asked.questions) {
      if (round == 0) continue;  // the first answers are not among those bought by a policy
      EXPECT_EQ(Living::task(data, q), all.task_names()[index(bought[at].task)]) << "round " << round;
      EXPECT_EQ(Living::worker(data, q), all.worker_names()[index(bought[at].worker)]) << "round " << round;
      ++at;
    }
    if (::testing::Test::HasFailure()) return;
    crowd.answer(data, asked.questions);
    write_live_memory(memory, file);
    memory = read_live_memory(file);
  }
  std::filesystem::remove(file);
}

/// Questions wait, are given up and refunded; who did not answer is not asked the same again; new workers and tasks can
/// be asked at once.
TEST(LiveLoop, WaitsGivesUpAndMeetsNewWorkers) {
  const TaskDependentCrowd made = task_dependent_crowd(8, {.tasks = 120, .workers = 12, .words = 10});
  const LearningData recorded = made.crowd.data;
  Living crowd(recorded, 4);
  const RunContext context({.seed = 5, .threads = 1});
  LiveMemory memory = begin({{"first_answers", "40"}, {"first_epochs", "5"}, {"round_epochs", "2"}, {"timeout", "2"}});
  LiveRequest request{.questions = 10, .now = 1'000'000};

  // Nothing is known: by chance, and nobody twice.
  LearningData data = crowd.data();
  LiveRound first = next_live_round(data, memory, request, context);
  EXPECT_TRUE(first.by_chance);
  ASSERT_EQ(first.questions.size(), 10U);
  EXPECT_TRUE(std::isnan(first.questions[0].doubt));
  std::set<std::pair<std::string, std::string>> asked;
  std::set<std::string> tasks;
  for (const LiveQuestion& q : first.questions) {
    asked.emplace(Living::task(data, q), Living::worker(data, q));
    tasks.insert(Living::task(data, q));
  }
  EXPECT_EQ(asked.size(), 10U);
  // While they wait, other tasks are asked about.
  LiveRound second = next_live_round(data, memory, request, context);
  EXPECT_EQ(second.waiting, 10U);
  for (const LiveQuestion& q : second.questions) EXPECT_FALSE(tasks.contains(Living::task(data, q)));
  EXPECT_DOUBLE_EQ(memory.spent, 20);
  // Two hours later nobody has answered.
  request.now += 7200;
  LiveRound third = next_live_round(data, memory, request, context);
  EXPECT_EQ(third.given_up, 20U);
  EXPECT_DOUBLE_EQ(third.refunded, 20);
  EXPECT_DOUBLE_EQ(memory.spent, 10);
  for (const LiveQuestion& q : third.questions) {
    EXPECT_FALSE(asked.contains({Living::task(data, q), Living::worker(data, q)}));
  }
  // Fifty answers arrive: the loop begins.
  std::size_t given = 0;
  const CategoryAnswers& all = recorded.crowd.answers;
  for (std::size_t t = 0; t < all.task_count() && given < 50; ++t) {
    for (const WorkerId worker : all.workers_of(TaskId(t))) {
      crowd.answer(std::string(all.task_names()[t]), std::string(all.worker_names()[index(worker)]));
      ++given;
    }
  }
  data = crowd.data();
  LiveRound fourth = next_live_round(data, memory, request, context);
  EXPECT_TRUE(fourth.trained);
  EXPECT_FALSE(fourth.by_chance);
  ASSERT_FALSE(fourth.questions.empty());
  EXPECT_GE(fourth.questions.front().doubt, fourth.questions.back().doubt);
  // Without new answers nothing is learned, and nothing is asked twice.
  LiveRound fifth = next_live_round(data, memory, request, context);
  EXPECT_FALSE(fifth.trained);
  // Only somebody new can be had.
  data = crowd.data({"somebody new"});
  std::vector<WorkerOffer> offers(data.crowd.answers.worker_count(), WorkerOffer{.available = false});
  offers.back() = {.cost = 2, .capacity = 3};
  request.offers = offers;
  request.budget = 100;
  LiveRound sixth = next_live_round(data, memory, request, context);
  ASSERT_EQ(sixth.questions.size(), 3U);
  for (const LiveQuestion& q : sixth.questions) {
    EXPECT_EQ(Living::worker(data, q), "somebody new");
    EXPECT_DOUBLE_EQ(q.cost, 2);
    EXPECT_GT(q.reliability, 0.4);
    EXPECT_LT(q.reliability, 0.95);
  }
  // Who hardly ever answers is passed over for one who is as good and does.
  data = crowd.data({"somebody new", "somebody else"});
  offers.assign(data.crowd.answers.worker_count(), WorkerOffer{.available = false});
  offers[offers.size() - 2] = {.response = 0.1};
  offers.back() = {.response = 0.9};
  request.offers = offers;
  for (const LiveQuestion& q : next_live_round(data, memory, request, context).questions) {
    EXPECT_EQ(Living::worker(data, q), "somebody else");
  }
}

TEST(LiveLoop, RefusesFilesThatAreNone) {
  const std::filesystem::path file = loop_file("live_loop_bad.loop");
  const auto refused = [&](const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
    try {
      static_cast<void>(read_live_memory(file));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refused("").find("cannot be understood"), std::string::npos);
  EXPECT_NE(refused("{}\n").find("not written by wisecrowd"), std::string::npos);
  EXPECT_NE(refused(std::string(100000, '[')).find("too deeply"), std::string::npos);

  // A real one, cut off anywhere or changed anywhere, is refused or read; it never does harm.
  const TaskDependentCrowd made = task_dependent_crowd(8, {.tasks = 40, .workers = 5, .words = 5});
  const RunContext context({.seed = 5, .threads = 1});
  LiveMemory memory = begin({{"first_answers", "5"}, {"first_epochs", "2"}});
  static_cast<void>(next_live_round(made.crowd.data, memory, {.questions = 3}, context));
  ASSERT_TRUE(memory.began);
  write_live_memory(memory, file);
  std::ifstream stream(file, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  EXPECT_EQ(read_live_memory(file).session.weights, memory.session.weights);
  EXPECT_NE(refused(whole.substr(0, whole.size() / 2)), "");
  EXPECT_NE(refused(whole.substr(0, whole.size() - 1)), "");
  Rng rng(1);
  for (int change = 0; change < 300; ++change) {
    std::string text = whole;
    text[rng.below(text.size())] = static_cast<char>(rng.below(256));
    const std::string problem = refused(text);
    if (!problem.empty()) EXPECT_NE(problem.find("live_loop_bad.loop"), std::string::npos) << problem;
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace wisecrowd
