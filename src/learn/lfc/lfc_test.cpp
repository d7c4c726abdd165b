#include "learn/lfc/lfc.hpp"

#include <gtest/gtest.h>

#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "support/learning.hpp"

namespace wisecrowd::lfc {
namespace {

/// Two classes along the first column; worker 0 knows the tasks whose second column is positive, worker 1 the others;
/// elsewhere they guess. Two more are right in 70 %.
testing::FeatureCrowd everybody_knows_something(std::uint64_t seed, std::size_t tasks) {
  testing::FeatureCrowd crowd =
      testing::gaussian_crowd(seed, tasks, 1000, 2, 1,
                              {{{1, 0, 0, 1}, -1}, {{1, 0, 0, 1}, -1}, {{.7, .3, .3, .7}, -1}, {{.7, .3, .3, .7}, -1}});
  Rng rng(seed + 1);
  const CategoryAnswers& old = crowd.data.crowd.answers;
  std::vector<CategoryAnswer> answers;
  for (std::size_t t = 0; t < tasks; ++t) {
    const bool upper = crowd.data.features.dense[t * 2 + 1] > 0;
    for (std::size_t j = 0; j < 4; ++j) {
      ClassId label = old.labels_of(TaskId(t))[j];
      if (j < 2 && (j == 0) != upper) label = ClassId(rng.below(2));
      answers.push_back({TaskId(t), WorkerId(j), label});
    }
  }
  CategoryAnswers changed = make_category_answers(answers, {old.task_names(), old.worker_names(), old.class_names()});
  crowd.data.crowd.answers = std::move(changed);
  return crowd;
}

TEST(Lfc, FindsWhoKnowsWhichTasks) {
  const auto crowd = everybody_knows_something(1, 1500);
  const std::vector<std::pair<std::string, std::string>> settings{
      {"learning_rate", "0.01"}, {"epochs", "20"}, {"held_out", "0"}};
  const Learned learned = testing::run_learner(crowd.data, "lfc", settings, {.kind = "linear"}, 1);
  double known = 0, guessed = 0, known_count = 0, guessed_count = 0;
  for (std::size_t t = 0; t < crowd.tasks; ++t) {
    const float second = crowd.data.features.dense[t * 2 + 1];
    if (std::abs(second) < 0.5F) continue;
    for (std::size_t j = 0; j < 2; ++j) {
      const double eta = learned.answer_reliability[t * 4 + j];
      ((j == 0) == (second > 0) ? known : guessed) += eta;
      ((j == 0) == (second > 0) ? known_count : guessed_count) += 1;
    }
  }
  EXPECT_GT(known / known_count, 0.85);
  EXPECT_LT(guessed / guessed_count, 0.65);
  const Learned coin = testing::run_learner(
      crowd.data, "dalc", {{"reliability", "one_coin"}, {"learning_rate", "0.01"}, {"epochs", "20"}, {"held_out", "0"}},
      {.kind = "linear"}, 1);
  EXPECT_GT(testing::task_accuracy(crowd, learned.crowd.posterior),
            testing::task_accuracy(crowd, coin.crowd.posterior) + 0.02);
}

/// The regression of a worker stands where its gradient with the ridge vanishes.
TEST(Lfc, RegressionIsExact) {
  const auto crowd = everybody_knows_something(2, 80);
  TrainingSet set = training_set(crowd.data);
  const Features& features = crowd.data.features;
  ThreadPool pool(1);
  std::vector<double> right;
  Rng rng(3);
  double mean = 0.7, count = 1;
  for (std::size_t a = 0; a < set.answer_count(); ++a) {
    right.push_back(rng.uniform());
    mean += right.back();
    count += 1;
  }
  const double ridge = 0.5;
  for (const bool pooled : {true, false}) {
    const double common = pooled ? std::log(mean / (count - mean)) : 0;
    PerWorkerLogistic model(features, 4, {.ridge = ridge, .pooled_level = pooled}, pool);
    for (int round = 0; round < 3; ++round) model.fit(set, right);
    for (std::uint32_t j = 0; j < 4; ++j) {
      // log odds are linear: solve for the weights from rows 0, 1 and the bias.
      const double bias = model.log_odds(WorkerId(j), kNoRow);
      const double a = features.dense[0], b = features.dense[1], c = features.dense[2], d = features.dense[3];
      const double p = model.log_odds(WorkerId(j), 0) - bias, q = model.log_odds(WorkerId(j), 1) - bias,
                   det = a * d - b * c;
      const double weights[3] = {(p * d - b * q) / det, (a * q - p * c) / det, bias};
      double gradient[3] = {-ridge * weights[0], -ridge * weights[1], -ridge * (weights[2] - common)};
      for (std::size_t i = 0; i < set.task_count(); ++i) {
        const double x = features.dense[i * 2], y = features.dense[i * 2 + 1];
        const double slope = right[i * 4 + j] - sigmoid(weights[0] * x + weights[1] * y + weights[2]);
        gradient[0] += slope * x;
        gradient[1] += slope * y;
        gradient[2] += slope;
      }
      for (const double g : gradient) EXPECT_NEAR(g, 0, 1e-6);
    }
  }
}

TEST(Lfc, WantsALinearClassifier) {
  const auto crowd = everybody_knows_something(1, 30);
  EXPECT_THROW((void)testing::run_learner(crowd.data, "lfc", {}, {.kind = "mlp"}, 1), Error);
}

}  // namespace
}  // namespace wisecrowd::lfc
