#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <map>

#include "base/rng.hpp"
#include "state/drift_watch.hpp"
#include "state/state_file.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/state.hpp"

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;

constexpr int kCrowd = 30, kPerTask = 10, kRounds = 20;  // answers of each worker in a batch: kRounds

/// Workers who are right in 90 %, but for every sixth, which guesses from one answer to another.
class Alarms : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("wisecrowd_alarms_" + std::to_string(::getpid()) + "_" +
                                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    path_ = (folder_ / "crowd.state").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// The next batch: each worker gives kRounds answers. Task names do not go with time; times do.
  void next_batch(int guess_from, int guess_until) {
    CategoryAnswersBuilder builder({"a", "b", "c"});
    std::vector<std::pair<std::pair<std::string, std::string>, double>> when;
    for (int round = 0; round < kRounds; ++round) {
      for (int w = 0; w < kCrowd; ++w) {
        const int at = given_ + round;
        const int task = at * (kCrowd / kPerTask) + (w + round) % kCrowd / kPerTask;
        const bool guesses = w % 6 == 0 && at >= guess_from && at < guess_until;
        const int truth = task % 3;
        const int wrong = (truth + 1 + static_cast<int>(rng_.below(2))) % 3;
        const bool right = rng_.bernoulli(guesses ? 1.0 / 3 : 0.9);
        const std::string name = std::to_string((task * 7919) % 100003);
        builder.add(name, std::to_string(w), std::string(1, static_cast<char>('a' + (right ? truth : wrong))));
        when.push_back({{name, std::to_string(w)}, static_cast<double>(at)});
      }
    }
    given_ += kRounds;
    answers_ = builder.build();
    times_.assign(answers_.answer_count(), 0);
    std::map<std::pair<std::string, std::string>, double> times(when.begin(), when.end());
    for (std::size_t t = 0; t < answers_.task_count(); ++t) {
      const auto workers = answers_.workers_of(TaskId(t));
      for (std::size_t a = 0; a < workers.size(); ++a) {
        times_[answers_.task_offsets()[t] + a] =
            times.at({std::string(answers_.task_names()[t]), std::string(answers_.worker_names()[index(workers[a])])});
      }
    }
  }
  CrowdState create() {
    CategoryData data;
    data.answers = CategoryAnswersBuilder({"a", "b", "c"}).build();
    return CrowdState::create(path_, data, {}, context_);
  }
  Absorbed add(CrowdState& state) { return state.add(std::span(&answers_, 1), context_, {}, std::span(&times_, 1)); }

  RunContext context_{RunOptions{.threads = 1}};
  Rng rng_{5};
  int given_ = 0;
  CategoryAnswers answers_;
  std::vector<double> times_;
  fs::path folder_;
  std::string path_;
};

TEST_F(Alarms, AreRaisedOncePerEpisodeAndKept) {
  create();
  std::map<std::string, std::vector<WorkerAlarm>> raised;
  for (int batch = 0; batch < 12; ++batch) {
    next_batch(100, 1 << 20);
    CrowdState state = CrowdState::open(path_, CrowdState::Access::write);  // a new process each time
    for (const WorkerAlarm& alarm : add(state).alarms) raised[alarm.worker].push_back(alarm);
    if (batch == 7) state.refit(context_);
  }
  ASSERT_EQ(raised.size(), 5U) << "0, 6, 12, 18 and 24";
  for (const auto& [worker, alarms] : raised) {
    EXPECT_EQ(std::stoi(worker) % 6, 0);
    ASSERT_EQ(alarms.size(), 1U) << worker << ": one alarm, though it guesses for 140 answers";
    EXPECT_GT(alarms[0].raised, 100U);
    EXPECT_LE(alarms[0].raised, 140U);
    EXPECT_NEAR(static_cast<double>(alarms[0].began), 101, 10);
    EXPECT_NEAR(alarms[0].accuracy_before, 0.9, 0.1);
    EXPECT_LT(alarms[0].accuracy_since, 0.65);
    EXPECT_NE(alarms[0].text().find("seen at answer"), std::string::npos);
  }
  const CrowdState again = CrowdState::open(path_, CrowdState::Access::read);
  const auto kept = again.alarms();
  ASSERT_EQ(kept.size(), 5U);
  for (const WorkerAlarm& alarm : kept) {
    EXPECT_EQ(alarm.recovered, 0U);
    EXPECT_EQ(alarm.raised, raised.at(alarm.worker).front().raised);
    EXPECT_EQ(alarm.evidence, raised.at(alarm.worker).front().evidence);
  }
  EXPECT_EQ(again.check(context_), std::vector<std::string>());
}

TEST_F(Alarms, EndWhenTheWorkerIsAsBefore) {
  CrowdState state = create();
  for (int batch = 0; batch < 12; ++batch) {
    next_batch(100, 150);
    add(state);
  }
  int tired = 0;
  for (const WorkerAlarm& alarm : state.alarms()) {
    if (std::stoi(alarm.worker) % 6 != 0) continue;
    ++tired;
    EXPECT_GT(alarm.recovered, 150U) << alarm.worker;
    EXPECT_LE(alarm.recovered, 190U) << alarm.worker;
  }
  EXPECT_EQ(tired, 5) << "one alarm for each";
}

TEST_F(Alarms, ASteadyCrowdHasNone) {
  CrowdState state = create();
  for (int batch = 0; batch < 12; ++batch) {
    next_batch(1 << 20, 1 << 20);
    EXPECT_TRUE(add(state).alarms.empty());
  }
  EXPECT_TRUE(state.alarms().empty());
}

TEST_F(Alarms, ACancelledChangeLeavesNoTrace) {
  CrowdState state = create();
  for (int batch = 0; batch < 6; ++batch) {
    next_batch(100, 1 << 20);
    add(state);
  }
  const auto before = state.alarms();
  next_batch(100, 1 << 20);
  const std::atomic<bool> stop(true);
  const RunContext stopped(RunOptions{.threads = 1, .cancel = &stop});
  EXPECT_THROW(state.add(std::span(&answers_, 1), stopped, {}, std::span(&times_, 1)), Cancelled);
  EXPECT_EQ(state.alarms().size(), before.size());
  const std::vector<std::vector<double>> few{{1.0}};
  EXPECT_THROW(state.add(std::span(&answers_, 1), context_, {}, few), Error);
  add(state);
  EXPECT_EQ(state.alarms().size(), 5U);
}

TEST_F(Alarms, DamageIsNoticed) {
  DriftWatch watch;
  const std::vector<double> negative(DriftWatch::kFields, -1), few(3, 0), odd(DriftWatch::kFields, 0.5);
  EXPECT_FALSE(DriftWatch::from_fields(negative, watch));
  EXPECT_FALSE(DriftWatch::from_fields(few, watch));
  EXPECT_FALSE(DriftWatch::from_fields(odd, watch)) << "half degraded";
  create();
  next_batch(100, 1 << 20);
  {
    CrowdState state = CrowdState::open(path_, CrowdState::Access::write);
    add(state);
  }
  Database(path_, Database::Mode::write).run("UPDATE worker SET watch = zeroblob(7)");
  next_batch(100, 1 << 20);
  CrowdState state = CrowdState::open(path_, CrowdState::Access::write);
  EXPECT_THROW(add(state), Error);
}

}  // namespace
}  // namespace wisecrowd
