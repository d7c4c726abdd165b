#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

#include "state/schema.hpp"
#include "state/state_file.hpp"
#include "support/crowds.hpp"
#include "wisecrowd/wisecrowd.hpp"

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;
using testing::small_crowd;

class State : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("wisecrowd_state_" + std::to_string(::getpid()) + "_" +
                                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    path_ = (folder_ / "crowd.state").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  CrowdState create(const CategoryData& data, const std::vector<std::pair<std::string, std::string>>& set = {}) const {
    StateSettings settings;
    for (const auto& [name, value] : set) settings.parameters.set(name, value);
    return CrowdState::create(path_, data, settings, context_);
  }
  static std::string error_of(const std::function<void()>& work) {
    try {
      work();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  RunContext context_{RunOptions{.threads = 1}};
  fs::path folder_;
  std::string path_;
};

/// A part of the answers, by the remainder of their position.
CategoryAnswers part_of(const CategoryAnswers& answers, std::size_t part, std::size_t parts) {
  CategoryAnswersBuilder builder;
  std::size_t position = 0;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId(t));
    const auto labels = answers.labels_of(TaskId(t));
    for (std::size_t a = 0; a < workers.size(); ++a) {
      if (position++ % parts != part) continue;
      builder.add(answers.task_names()[t], answers.worker_names()[index(workers[a])],
                  answers.class_names()[index(labels[a])]);
    }
  }
  return builder.build();
}

TEST_F(State, RefitEqualsTheBatchFit) {
  const auto world = small_crowd(5, 200, 20, 3, 6);
  CrowdState state = create({.answers = part_of(world.data.answers, 0, 3)});
  state.add(part_of(world.data.answers, 1, 3), context_);
  state.add(part_of(world.data.answers, 2, 3), context_);
  EXPECT_EQ(state.summary().answers, world.data.answers.answer_count());
  EXPECT_EQ(state.check(context_), std::vector<std::string>());
  state.refit(context_);
  EXPECT_EQ(state.check(context_), std::vector<std::string>());
  const auto whole = state.whole(context_);
  const CategoryFit batch = aggregate(whole.data, "dawid_skene", batch_parameters(state.parameters(), 3), context_);
  for (std::size_t i = 0; i < batch.posterior.size(); ++i) {
    ASSERT_DOUBLE_EQ(whole.aggregation.posterior[i], batch.posterior[i]);
  }
  // The same answers as those that went in, though the order of tasks and workers is another.
  EXPECT_EQ(whole.data.answers.answer_count(), world.data.answers.answer_count());
  for (std::size_t t = 0; t < whole.data.answers.task_count(); ++t) {
    const auto view = state.task(whole.data.answers.task_names()[t]);
    ASSERT_TRUE(view);
    EXPECT_EQ(view->answers.size(), whole.data.answers.labels_of(TaskId(t)).size());
  }
}

/// Absorbing with sweeps to convergence and nothing left out is the exact incremental EM of the model in memory.
TEST_F(State, AbsorbingEverythingAtOnceReachesTheBatchFit) {
  const auto world = small_crowd(6, 150, 12, 3, 8);
  CrowdState state = create({}, {{"sweeps", "1000"}, {"least_change", "0"}, {"tolerance", "0"}});
  state.add(world.data.answers, context_);
  const auto absorbed = state.whole(context_).aggregation.posterior;
  state.refit(context_);
  const auto batch = state.whole(context_).aggregation.posterior;
  for (std::size_t i = 0; i < batch.size(); ++i) ASSERT_NEAR(absorbed[i], batch[i], 1e-5);
}

TEST_F(State, CountsWhatIsNew) {
  CategoryAnswersBuilder first, second;
  first.add("t1", "ann", "cat").add("t1", "bob", "dog").add("t2", "ann", "dog");
  second.add("t1", "bob", "cat").add("t2", "ann", "dog").add("t3", "eve", "eel").add("t1", "eve", "cat");
  CrowdState state = create({.answers = first.build()});
  const Absorbed absorbed = state.add(second.build(), context_);
  EXPECT_EQ(absorbed.answers, 2U);
  EXPECT_EQ(absorbed.replaced, 2U);
  EXPECT_EQ(absorbed.contradicting, 1U);
  EXPECT_EQ(absorbed.new_tasks, 1U);
  EXPECT_EQ(absorbed.new_workers, 1U);
  EXPECT_EQ(absorbed.new_classes, std::vector<std::string>{"eel"});
  EXPECT_EQ(absorbed.tasks_touched, 3U);
  const StateSummary summary = state.summary();
  EXPECT_EQ(summary.answers, 5U);
  EXPECT_EQ(summary.tasks, 3U);
  EXPECT_EQ(summary.workers, 3U);
  EXPECT_EQ(summary.classes, (std::vector<std::string>{"cat", "dog", "eel"}));
  EXPECT_EQ(summary.staleness.classes_since, 1U);
  EXPECT_NE(summary.staleness.advice(), "");
  EXPECT_EQ(state.task("t3")->label, ClassId{2});
  EXPECT_EQ(state.task("t1")->answers.size(), 3U);
  EXPECT_EQ(state.task("t1")->label, ClassId{0});
  EXPECT_EQ(state.worker("bob")->answers, 1U);
  EXPECT_EQ(state.worker("bob")->counts.size(), 9U);
  EXPECT_FALSE(state.task("t9"));
  EXPECT_FALSE(state.worker("nobody"));
  EXPECT_EQ(state.check(context_), std::vector<std::string>());
  state.refit(context_);
  EXPECT_EQ(state.summary().staleness.advice(), "");
}

TEST_F(State, DuplicatePoliciesAndFixedClasses) {
  CategoryAnswersBuilder builder({"a", "b"});
  builder.add("t", "w", "a").add("u", "w", "b");
  const CategoryData data{.answers = builder.build()};
  StateSettings settings;
  settings.duplicates = DuplicatePolicy::reject;
  settings.fixed_classes = true;
  CrowdState strict = CrowdState::create(path_, data, settings, context_);
  EXPECT_NE(error_of([&] { strict.add(data.answers, context_); }).find("worker 'w' has answered task 't' before"),
            std::string::npos);
  CategoryAnswersBuilder other;
  other.add("t", "v", "c");
  EXPECT_NE(error_of([&] { strict.add(other.build(), context_); }).find("'c' is none of the classes"),
            std::string::npos);
  EXPECT_EQ(strict.summary().answers, 2U) << "a refused batch leaves nothing behind";
  EXPECT_EQ(strict.summary().classes.size(), 2U);

  settings.duplicates = DuplicatePolicy::repeat;
  CrowdState generous = CrowdState::create(path_ + "2", data, settings, context_);
  EXPECT_EQ(generous.add(data.answers, context_).answers, 2U);
  EXPECT_EQ(generous.add(data.answers, context_).answers, 2U);
  EXPECT_EQ(generous.summary().answers, 6U);
  EXPECT_EQ(generous.task("t")->answers.size(), 3U);
  EXPECT_EQ(generous.check(context_), std::vector<std::string>());
  generous.refit(context_);
  EXPECT_EQ(generous.check(context_), std::vector<std::string>());
}

TEST_F(State, StartsFromNothingAndKeepsTasksWithoutAnswers) {
  CrowdState state = create({});
  EXPECT_EQ(state.summary().tasks, 0U);
  EXPECT_EQ(state.candidates(5).size(), 0U);
  CategoryAnswersBuilder builder;
  builder.add_task("open").add("t", "w", "yes").add("t", "v", "yes").add("u", "w", "no");
  state.add(builder.build(), context_);
  EXPECT_EQ(state.summary().tasks, 3U);
  EXPECT_EQ(state.summary().answered_tasks, 2U);
  const Candidates candidates = state.candidates(10);
  ASSERT_EQ(candidates.size(), 3U);
  EXPECT_EQ(candidates.names[0], "open");
  EXPECT_EQ(candidates.task_answers[0], 0U);
  CategoryAnswersBuilder answer;
  answer.add("open", "v", "no");
  EXPECT_EQ(state.add(answer.build(), context_).new_tasks, 0U);
  EXPECT_EQ(state.summary().answered_tasks, 3U);
  EXPECT_EQ(state.check(context_), std::vector<std::string>());
  CrowdState empty = CrowdState::create(path_ + "2", {}, {}, context_);
  CategoryAnswersBuilder early;
  early.add_task("early");
  empty.add(early.build(), context_);
  EXPECT_EQ(empty.check(context_), std::vector<std::string>());
  CategoryAnswersBuilder late;
  late.add("late", "w", "yes").add("late", "v", "no");
  empty.add(late.build(), context_);
  EXPECT_EQ(empty.check(context_), std::vector<std::string>());
  EXPECT_EQ(empty.task("early")->posterior, (std::vector<double>{0.5, 0.5}));
  empty.refit(context_);
  EXPECT_EQ(empty.check(context_), std::vector<std::string>());
  empty = CrowdState::create(path_ + "3", {}, {}, context_);
  empty.refit(context_);
  empty.add(CategoryAnswers(), context_);
  EXPECT_EQ(empty.whole(context_).data.answers.task_count(), 0U);
}

TEST_F(State, CandidatesAreTheMostUncertain) {
  const auto world = small_crowd(9, 400, 25, 4, 9);
  CrowdState state = create(world.data);
  const auto whole = state.whole(context_);
  for (const auto kind : {Uncertainty::entropy, Uncertainty::margin, Uncertainty::least_confidence}) {
    std::vector<double> scores;
    for (std::size_t t = 0; t < 400; ++t) {
      scores.push_back(uncertainty_of(whole.aggregation.posterior_of(TaskId(t)), kind));
    }
    std::sort(scores.rbegin(), scores.rend());
    ASSERT_LT(scores[399], 0.001) << "some must be settled, or the test shows nothing";
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{40}, std::size_t{390}, std::size_t{1000}}) {
      const Candidates found = state.candidates(n, kind);
      ASSERT_EQ(found.size(), std::min<std::size_t>(n, 400));
      for (std::size_t c = 0; c < found.size(); ++c) {
        EXPECT_DOUBLE_EQ(uncertainty_of(std::span(found.posterior).subspan(c * 4, 4), kind), scores[c]);
      }
    }
  }
  const Candidates found = state.candidates(20);
  const KnownWorkers workers = state.workers();
  ASSERT_EQ(workers.names.size(), 25U);
  for (std::size_t c = 0; c < found.size(); ++c) {
    const auto view = state.task(found.names[c]);
    EXPECT_EQ(view->answers.size(), found.task_answers[c]);
    std::size_t asked = 0;
    for (std::uint32_t w = 0; w < 25; ++w) {
      const bool was = std::any_of(view->answers.begin(), view->answers.end(),
                                   [&](const auto& given) { return given.worker == workers.names[w]; });
      EXPECT_EQ(found.asked(c, WorkerId{w}), was);
      asked += was ? 1 : 0;
    }
    for (std::size_t a = found.answer_offsets[c]; a < found.answer_offsets[c + 1]; ++a) {
      const std::string& name = workers.names[index(found.answer_workers[a])];
      const auto given = std::find_if(view->answers.begin(), view->answers.end(),
                                      [&](const auto& answer) { return answer.worker == name; });
      ASSERT_NE(given, view->answers.end());
      EXPECT_EQ(given->label, found.answer_labels[a]);
    }
    EXPECT_EQ(asked, 9U);
  }
  const auto ann = state.worker(workers.names[7]);
  double sum = 0;
  for (std::size_t c = 0; c < 16; ++c) sum += workers.tables.cells()[7 * 16 + c];
  EXPECT_NEAR(sum, static_cast<double>(ann->answers) + 4 * 4, 1e-9) << "the prior is worth 4 answers per truth";
  for (std::size_t l = 0; l < 4; ++l) {
    double row = 0;
    for (std::size_t m = 0; m < 4; ++m) row += workers.tables.cells()[7 * 16 + 4 + m];
    EXPECT_NEAR(ann->confusion[4 + l], workers.tables.cells()[7 * 16 + 4 + l] / row, 1e-12);
  }
}

TEST_F(State, StochasticUpdatesLiveInTheFile) {
  const auto world = small_crowd(10, 500, 15, 3, 6);
  CrowdState state =
      create({.answers = part_of(world.data.answers, 0, 5)}, {{"update", "stochastic"}, {"memory", "200"}});
  for (std::size_t part = 1; part < 5; ++part) state.add(part_of(world.data.answers, part, 5), context_);
  EXPECT_EQ(state.check(context_), std::vector<std::string>());
  const auto whole = state.whole(context_);
  std::size_t right = 0;
  for (std::size_t t = 0; t < 500; ++t) {
    const auto name = std::string(whole.data.answers.task_names()[t]);
    right += whole.aggregation.labels[t] == world.truth[std::stoul(name.substr(1))] ? 1 : 0;
  }
  EXPECT_GT(right, 400U);
  EXPECT_EQ(CrowdState::open(path_, CrowdState::Access::read).parameters().choice("update"), "stochastic");
}

TEST_F(State, SaysHowStaleItIs) {
  const auto world = small_crowd(12, 300, 10, 2, 8);
  CrowdState state = create({.answers = part_of(world.data.answers, 0, 2)});
  EXPECT_EQ(state.summary().staleness.advice(), "");
  state.add(part_of(world.data.answers, 1, 2), context_);
  const Staleness stale = state.summary().staleness;
  EXPECT_EQ(stale.answers_at_refit, 1200U);
  EXPECT_EQ(stale.answers_since, 1200U);
  EXPECT_GT(stale.probed_tasks, 250U);
  EXPECT_LT(stale.mean_shift, 0.01) << "nothing has moved before the new answers came";
  EXPECT_NE(stale.advice().find("1200 answers were absorbed"), std::string::npos);
}

TEST_F(State, StoppingLeavesItAsItWas) {
  const auto world = small_crowd(2, 50, 8, 2, 3);
  CrowdState state = create({.answers = part_of(world.data.answers, 0, 2)});
  const std::atomic<bool> stop{true};
  const RunContext stopped(RunOptions{.threads = 1, .cancel = &stop});
  EXPECT_THROW(state.add(world.data.answers, stopped), Cancelled);
  EXPECT_THROW(state.refit(stopped), Cancelled);
  EXPECT_EQ(state.summary().answers, 75U);
  EXPECT_EQ(state.check(context_), std::vector<std::string>());
  EXPECT_THROW((void)CrowdState::create(path_ + "2", world.data, {}, stopped), Cancelled);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 3) << "the state and its log";
}

TEST_F(State, AnOlderLayoutIsBroughtUpToDate) {
  const auto world = small_crowd(2, 50, 8, 2, 3);
  create(world.data);
  {
    Database old(path_, Database::Mode::write);
    old.run("DROP VIEW labels; DROP VIEW workers; DROP VIEW answers; DROP TABLE gold");
    old.run("DROP VIEW alarms; DROP TABLE alarm; ALTER TABLE worker DROP COLUMN watch");
    old.run("DELETE FROM setting WHERE name LIKE 'probed%'; PRAGMA user_version = 1");
  }
  EXPECT_EQ(CrowdState::open(path_, CrowdState::Access::read).summary().answers, 150U) << "reading needs no change";
  CrowdState state = CrowdState::open(path_, CrowdState::Access::write);
  EXPECT_EQ(state.summary().schema_version, kSchemaVersion);
  state.add(world.data.answers, context_);
  EXPECT_EQ(state.check(context_), std::vector<std::string>());
  const Database now(path_, Database::Mode::read);
  sqlite3_db_config(now.handle(), SQLITE_DBCONFIG_ENABLE_VIEW, 1, nullptr);  // as other programs have it
  EXPECT_EQ(now.integer("SELECT count(*) FROM labels"), 50);
  EXPECT_EQ(now.integer("SELECT sum(answers) FROM workers"), 150);
  EXPECT_EQ(now.integer("SELECT count(*) FROM answers"), 150);
}

TEST_F(State, RefusesOtherFiles) {
  const auto open = [&] { (void)CrowdState::open(path_, CrowdState::Access::write); };
  EXPECT_NE(error_of(open).find("no such file; wisecrowd state init makes one"), std::string::npos);
  std::ofstream(path_) << std::string(5000, 'x');
  EXPECT_NE(error_of(open).find("is no state of wisecrowd"), std::string::npos);
  std::ofstream(path_).close();
  EXPECT_NE(error_of(open).find("an empty file"), std::string::npos);
  fs::remove(path_);
  {
    const Database other(path_, Database::Mode::create);
    other.run("CREATE TABLE mine(x)");
  }
  EXPECT_NE(error_of(open).find("a SQLite database, but no state of wisecrowd"), std::string::npos);
  EXPECT_NE(error_of([&] { create({}); }).find("is there already"), std::string::npos);
  fs::remove(path_);
  create({});
  {
    const Database newer(path_, Database::Mode::write);
    newer.run("PRAGMA user_version = 99");
  }
  EXPECT_NE(error_of(open).find("newer wisecrowd (its layout has version 99"), std::string::npos);
}

/// Whatever is damaged, every call returns or throws an Error with a remedy.
TEST_F(State, DamageIsRefusedAndNeverFatal) {
  const auto world = small_crowd(4, 120, 10, 3, 4);
  create(world.data);
  std::string good;
  {
    std::ifstream file(path_, std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::uint64_t random = 12345;
  const auto next = [&](std::uint64_t below) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    return (random >> 33) % below;
  };
  std::size_t noticed = 0;
  for (int trial = 0; trial < 150; ++trial) {
    std::string bad = good;
    if (trial % 3 == 0) {
      bad.resize(next(good.size()));
    } else if (trial % 3 == 1) {
      for (int flip = 0; flip < 40; ++flip) bad[next(bad.size())] ^= static_cast<char>(1U << next(8));
    } else {
      const std::size_t from = next(bad.size() - 600);
      for (std::size_t i = 0; i < 600; ++i) bad[from + i] = static_cast<char>(next(256));
    }
    fs::remove(path_ + "-wal");
    fs::remove(path_ + "-shm");
    std::ofstream(path_, std::ios::binary) << bad;
    try {
      CrowdState state = CrowdState::open(path_, CrowdState::Access::write);
      const auto problems = state.check(context_);
      noticed += problems.empty() ? 0 : 1;
      (void)state.candidates(50);
      (void)state.workers();
      state.add(world.data.answers, context_);
      state.refit(context_);
    } catch (const Error& error) {
      ++noticed;
      EXPECT_NE(error.code(), ErrorCode::internal) << error.what();
      EXPECT_NE(std::string(error.what()).find(path_), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(noticed, 130U);
}

/// Time depends on what is added, not on what is there. Generous: other programs may use the machine.
TEST_F(State, NamesThatNoReaderTakesAreRefused) {
  for (const std::string& bad : {std::string(), std::string("\xff"), std::string("a\0b", 3)}) {
    const auto one = [&](const std::string& task, const std::string& worker, const std::string& label) {
      const std::vector<std::string> tasks{task}, workers{worker}, classes{label};
      const std::vector<CategoryAnswer> answers{{TaskId{0}, WorkerId{0}, ClassId{0}}};
      return make_category_answers(answers, {NameTable(tasks), NameTable(workers), NameTable(classes)});
    };
    for (const CategoryAnswers& answers : {one(bad, "w", "k"), one("t", bad, "k"), one("t", "w", bad)}) {
      EXPECT_THROW(create({.answers = answers}), Error);
      EXPECT_FALSE(fs::exists(path_));
      auto state = create({});
      EXPECT_THROW(state.add(answers, context_), Error);
      EXPECT_EQ(state.summary().answers, 0U);
      fs::remove(path_);
    }
  }
}

TEST_F(State, GoldOfTheDataIsKept) {
  auto world = small_crowd(5, 60, 8, 3, 4);
  world.data.gold.assign(60, kNoClass);
  for (std::size_t t = 0; t < 20; ++t) world.data.gold[t] = world.truth[t];
  auto state = create(world.data);
  EXPECT_EQ(state.summary().gold_tasks, 20U);
  state.refit(context_);
  const auto whole = state.whole(context_);
  EXPECT_EQ(whole.data.gold, world.data.gold);
  for (std::size_t t = 0; t < 20; ++t) EXPECT_EQ(whole.aggregation.posterior_of(TaskId(t))[index(world.truth[t])], 1);
  EXPECT_TRUE(state.check(context_).empty());
}

TEST_F(State, AbsorbingIsQuick) {
  CategoryAnswersBuilder builder;
  const auto name = [](char letter, std::size_t i) { return letter + std::to_string(i); };
  for (std::size_t t = 0; t < 40000; ++t) {
    for (std::size_t a = 0; a < 5; ++a)
      builder.add(name('t', t), name('w', (t * 7 + a * 131) % 500), t % 3 == a % 3 ? "b" : "a");
  }
  CrowdState state = create({.answers = builder.build()});
  ASSERT_EQ(state.summary().answers, 200000U);
  double fastest = 1e9;
  for (std::size_t round = 0; round < 5; ++round) {
    CategoryAnswersBuilder more;
    for (std::size_t i = 0; i < 200; ++i) more.add(name('t', (i * 37 + round * 13) % 40000), name('w', 600 + i), "a");
    const CategoryAnswers answers = more.build();
    const auto begin = std::chrono::steady_clock::now();
    state.add(answers, context_);
    fastest = std::min(fastest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  EXPECT_LT(fastest, 0.25);
}

}  // namespace
}  // namespace wisecrowd
