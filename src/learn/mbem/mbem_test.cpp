#include "learn/mbem/mbem.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "support/learning.hpp"

namespace wisecrowd::mbem {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

TEST(Mbem, GradientsThroughATwoLayerNetwork) {
  const TrainingSet set = training_set(gaussian_crowd(3, 20, 0, 2, 1, max_mig_workers('H', 1), 0.5).data);
  EXPECT_LT(testing::gradient_error(JudgedLabels(set, {}), set, 2), 1e-5);
}

/// A network that is always right makes the tables the workers' real ones, and labels by Bayes' rule with them.
TEST(Mbem, PerfectPredictionsGiveExactTables) {
  const auto crowd = gaussian_crowd(4, 200, 0, 2, 1, max_mig_workers('H', 1), 0.6);
  const TrainingSet set = training_set(crowd.data);
  std::vector<ClassId> truth;
  double ones = 0;
  for (const TaskId t : set.task) {
    truth.push_back(ClassId(crowd.truth[index(t)]));
    ones += static_cast<double>(index(truth.back()));
  }
  const Options exact{.pseudo_count = 1e-6, .pooled_answers = 0, .even_classes = false};
  JudgedLabels model(set, exact);
  ASSERT_TRUE(model.judge(truth, exact));
  std::vector<double> counts(5 * 4, 0.0);
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    for (std::size_t a = 0; a < set.workers_of(i).size(); ++a) {
      counts[index(set.workers_of(i)[a]) * 4 + index(truth[i]) * 2 + index(set.labels_of(i)[a])] += 1;
    }
  }
  const std::vector<double> tables = model.worker_tables();
  for (std::size_t row = 0; row < 10; ++row) {
    EXPECT_NEAR(tables[2 * row], counts[2 * row] / (counts[2 * row] + counts[2 * row + 1]), 1e-6);
  }
  const double rate = ones / static_cast<double>(set.task_count());
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    double like0 = 1 - rate, like1 = rate;
    for (std::size_t a = 0; a < set.workers_of(i).size(); ++a) {
      like0 *= tables[index(set.workers_of(i)[a]) * 4 + index(set.labels_of(i)[a])];
      like1 *= tables[index(set.workers_of(i)[a]) * 4 + 2 + index(set.labels_of(i)[a])];
    }
    EXPECT_NEAR(model.soft_labels()[2 * i + 1], like1 / (like0 + like1), 1e-9);
  }
}

TEST(Mbem, AJudgeWhoGuessesIsNotHeard) {
  const auto crowd = gaussian_crowd(4, 200, 0, 2, 1, max_mig_workers('H', 1), 0.6);
  const TrainingSet set = training_set(crowd.data);
  JudgedLabels model(set, {});
  const std::vector<double> votes = model.soft_labels();
  Rng rng(1);
  std::vector<ClassId> guesses(set.task_count()), inverted;
  for (ClassId& guess : guesses) guess = ClassId(rng.below(2));
  for (const TaskId t : set.task) inverted.push_back(ClassId(1 - index(crowd.truth[index(t)])));
  EXPECT_FALSE(model.judge(guesses, {}));
  EXPECT_FALSE(model.judge(inverted, {}));
  EXPECT_EQ(model.soft_labels(), votes);
}

/// One answer per task by twenty workers of whom half guess: nothing but a network tells them apart.
TEST(Mbem, OneAnswerPerTask) {
  std::vector<testing::PlannedWorker> workers;
  for (int j = 0; j < 20; ++j) {
    workers.push_back(j % 2 == 0 ? testing::PlannedWorker{{.95, .05, .05, .95}, -1}
                                 : testing::PlannedWorker{{.5, .5, .5, .5}, -1});
  }
  auto crowd = gaussian_crowd(1, 3000, 3000, 2, 1.3, workers);
  Rng rng(2);
  std::vector<CategoryAnswer> kept;
  for (std::size_t t = 0; t < crowd.tasks; ++t) {
    const auto pick = rng.below(20);
    kept.push_back({TaskId(t), crowd.data.crowd.answers.workers_of(TaskId(t))[pick],
                    crowd.data.crowd.answers.labels_of(TaskId(t))[pick]});
  }
  const CategoryAnswers& all = crowd.data.crowd.answers;
  crowd.data.crowd.answers = make_category_answers(kept, {all.task_names(), all.worker_names(), all.class_names()});
  const Learned learned = testing::run_learner(
      crowd.data, "mbem", {{"learning_rate", "0.01"}, {"epochs", "10"}, {"held_out", "0"}}, {.kind = "linear"}, 1);
  EXPECT_GT(testing::test_accuracy(crowd, learned.row_probabilities), 0.885);
  for (std::size_t j = 0; j < 20; ++j) {
    const double skill = (learned.crowd.confusion[4 * j] + learned.crowd.confusion[4 * j + 3]) / 2;
    if (j % 2 == 0) {
      EXPECT_GT(skill, 0.7) << j;
    }
    if (j % 2 == 1) {
      EXPECT_LT(skill, 0.65) << j;
    }
  }
}

/// A network large enough to learn its labels by heart takes every worker at their word, unless halves judge each
/// other.
TEST(Mbem, CrossFittingSeesThroughWhatIsLearnedByHeart) {
  std::vector<testing::PlannedWorker> workers(1, {{.7, .3, .3, .7}, -1});
  const auto crowd = gaussian_crowd(3, 60, 0, 2, 2.5, workers);
  const auto skill = [&](const char* cross_fit) {
    const Learned learned = testing::run_learner(crowd.data, "mbem",
                                                 {{"cross_fit", cross_fit},
                                                  {"epochs", "150"},
                                                  {"batch", "16"},
                                                  {"rounds", "1"},
                                                  {"held_out", "0"},
                                                  {"decoupled_decay", "0"},
                                                  {"average_epochs", "0"},
                                                  {"learning_rate", "0.02"}},
                                                 {.kind = "mlp", .hidden = 128, .dropout = 0}, 1);
    return (learned.crowd.confusion[0] + learned.crowd.confusion[3]) / 2;
  };
  EXPECT_LT(skill("true") + 0.08, skill("false"));
}

/// Eight classes, thirty workers, a dozen answers of each: a table has more cells than answers. Rows of few answers
/// that were taken at their word made labels far worse than the votes.
TEST(Mbem, FewAnswersPerWorkerAndManyClasses) {
  constexpr std::size_t kClasses = 8;
  std::vector<double> table(kClasses * kClasses, 0.4 / (kClasses - 1));
  for (std::size_t k = 0; k < kClasses; ++k) table[k * (kClasses + 1)] = 0.6;
  const auto crowd =
      gaussian_crowd(5, 120, 1000, kClasses, 2, std::vector<testing::PlannedWorker>(30, {table, -1}), 0.1);
  const std::vector<std::pair<std::string, std::string>> short_run{{"learning_rate", "0.01"}, {"epochs", "20"}};
  auto votes = short_run;
  votes.emplace_back("aggregator", "majority_vote");
  const Learned mbem = testing::run_learner(crowd.data, "mbem", short_run, {.kind = "linear"}, 1);
  const Learned plain = testing::run_learner(crowd.data, "two_stage", votes, {.kind = "linear"}, 1);
  EXPECT_GE(testing::test_accuracy(crowd, mbem.row_probabilities) + 0.02,
            testing::test_accuracy(crowd, plain.row_probabilities));
}

TEST(Mbem, IndependentAndNaiveWorkers) {
  const auto crowd = gaussian_crowd(1, 3000, 5000, 2, 1.3, max_mig_workers('H', 1));
  const Learned learned = testing::run_learner(
      crowd.data, "mbem", {{"learning_rate", "0.01"}, {"epochs", "10"}, {"held_out", "0"}}, {.kind = "linear"}, 1);
  EXPECT_GT(testing::test_accuracy(crowd, learned.row_probabilities), 0.892);
}

}  // namespace
}  // namespace wisecrowd::mbem
