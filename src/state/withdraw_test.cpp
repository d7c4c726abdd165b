// Answers that are taken back, and the mark that a change leaves.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "support/crowds.hpp"
#include "wisecrowd/wisecrowd.hpp"

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;

class Withdrawal : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("wisecrowd_withdrawal_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// A state whose estimates are swept to convergence after every change.
  CrowdState state_of(const std::string& name, const CategoryAnswers& answers) const {
    StateSettings settings;
    settings.parameters.set("least_change", "0");
    settings.parameters.set("sweeps", "50");
    return CrowdState::create((folder_ / name).string(), {.answers = answers}, settings, context_);
  }

  RunContext context_{RunOptions{.threads = 1}};
  fs::path folder_;
};

/// Every answer but those of one worker.
CategoryAnswers without(const CategoryAnswers& answers, std::string_view worker, std::vector<AnswerKey>& left_out) {
  CategoryAnswersBuilder builder;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId(t));
    const auto labels = answers.labels_of(TaskId(t));
    for (std::size_t a = 0; a < workers.size(); ++a) {
      const std::string_view name = answers.worker_names()[index(workers[a])];
      const std::string_view task = answers.task_names()[t];
      if (name == worker) {
        left_out.push_back({std::string(task), std::string(name)});
      } else {
        builder.add(task, name, answers.class_names()[index(labels[a])]);
      }
    }
  }
  return builder.build();
}

TEST_F(Withdrawal, LeavesNoTraceAfterARefit) {
  const auto world = testing::small_crowd(3, 120, 12, 3, 5);
  std::vector<AnswerKey> withdrawn;
  const std::string gone(world.data.answers.worker_names()[4]);
  const CategoryAnswers rest = without(world.data.answers, gone, withdrawn);
  ASSERT_GT(withdrawn.size(), 10U);
  CrowdState state = state_of("a", world.data.answers);
  CrowdState never = state_of("b", rest);
  const Absorbed change = state.apply({.withdrawn = withdrawn}, context_);
  EXPECT_EQ(change.withdrawn, withdrawn.size());
  EXPECT_EQ(state.summary().answers, rest.answer_count());
  EXPECT_EQ(state.worker(gone)->answers, 0U);
  EXPECT_EQ(state.check(context_), std::vector<std::string>());
  state.refit(context_);
  EXPECT_EQ(state.check(context_), std::vector<std::string>());
  for (std::size_t t = 0; t < rest.task_count(); ++t) {
    const auto one = state.task(rest.task_names()[t]), other = never.task(rest.task_names()[t]);
    ASSERT_TRUE(one && other);
    EXPECT_EQ(one->answers.size(), other->answers.size());
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(one->posterior[k], other->posterior[k], 1e-6);
  }
}

TEST_F(Withdrawal, OfTheOnlyAnswerLeavesATaskThatNobodyAnswered) {
  CategoryAnswersBuilder builder({"cat", "dog"});
  builder.add("t1", "w1", "cat").add("t2", "w1", "dog").add("t2", "w2", "dog");
  CrowdState state = state_of("c", builder.build());
  const std::vector<AnswerKey> gone{{"t1", "w1"}, {"t1", "w1"}, {"t1", "w2"}, {"nothing", "nobody"}};
  EXPECT_EQ(state.apply({.withdrawn = gone}, context_).withdrawn, 1U);
  const StateSummary summary = state.summary();
  EXPECT_EQ(summary.answered_tasks, 1U);
  EXPECT_EQ(summary.tasks, 2U);  // and none was made for what nobody knows
  EXPECT_EQ(summary.workers, 2U);
  EXPECT_TRUE(state.task("t1")->answers.empty());
  EXPECT_NEAR(state.task("t1")->posterior[0], summary.class_prior[0], 1e-6);
  EXPECT_EQ(state.check(context_), std::vector<std::string>());
}

TEST_F(Withdrawal, AMarkIsStoredWithItsChangeAlone) {
  CategoryAnswersBuilder builder({"a", "b"});
  builder.add("t", "w", "a");
  const CategoryAnswers answers = builder.build();
  StateSettings settings;
  settings.fixed_classes = true;
  CrowdState state = CrowdState::create((folder_ / "d").string(), {.answers = answers}, settings, context_);
  EXPECT_EQ(state.mark(), "");
  state.apply({.sources = std::span(&answers, 1), .mark = "7"}, context_);
  EXPECT_EQ(state.mark(), "7");
  const CategoryAnswers other = CategoryAnswersBuilder().add("t", "w", "c").build();
  EXPECT_THROW(state.apply({.sources = std::span(&other, 1), .mark = "8"}, context_), Error);
  EXPECT_EQ(CrowdState::open((folder_ / "d").string(), CrowdState::Access::read).mark(), "7");
}

TEST_F(Withdrawal, LabelsArePagedAndFiltered) {
  const auto world = testing::small_crowd(4, 50, 8, 3, 3);
  CrowdState state = state_of("e", world.data.answers);
  std::vector<TaskLabel> all = state.labels({});
  ASSERT_EQ(all.size(), 50U);
  const std::vector<TaskLabel> page = state.labels({.after = all[9].number, .limit = 5});
  ASSERT_EQ(page.size(), 5U);
  EXPECT_EQ(page[0].name, all[10].name);
  EXPECT_EQ(page[0].answers, 3U);
  const std::string wanted = state.class_names()[1];
  for (const TaskLabel& task : state.labels({.below = 0.9, .label = wanted})) {
    EXPECT_LT(task.probability, 0.9);
    EXPECT_EQ(task.label, ClassId(1));
  }
  std::size_t expected = 0;
  for (const TaskLabel& task : all) expected += task.probability < 0.9 && task.label == ClassId(1) ? 1 : 0;
  EXPECT_EQ(state.labels({.below = 0.9, .label = wanted}).size(), expected);
  EXPECT_TRUE(state.labels({.label = "no such class"}).empty());
}

}  // namespace
}  // namespace wisecrowd
