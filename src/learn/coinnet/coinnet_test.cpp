#include "learn/coinnet/coinnet.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/learning_sets.hpp"

namespace wisecrowd::coinnet {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

OutlierModel shaken(const TrainingSet& set, const Options& options) {
  OutlierModel model(set, options);
  Rng rng(5);
  for (std::size_t a = 0; a < set.answer_count(); ++a) {
    for (double& e : model.corrections().of(a)) e += 0.03 * rng.normal();
  }
  return model;
}

TEST(CoinNet, GradientsThroughATwoLayerNetwork) {
  const TrainingSet set = testing::three_class_set(true);
  Options options;
  options.outlier_strength = 0.5;
  options.volume_strength = 0.3;
  const OutlierModel model = shaken(set, options);
  EXPECT_LT(testing::gradient_error(model, set, 1), 1e-5);
  EXPECT_LT(testing::table_gradient_error(model, set, 1), 1e-5);
  const double own = testing::own_gradient_error(
      model, set, 1, set.answer_count() * 3,
      [](AnswerModel& m, std::size_t p, double change) {
        dynamic_cast<OutlierModel&>(m).corrections().of(p / 3)[p % 3] += change;
      },
      [](AnswerModel& m, std::size_t p) {
        return dynamic_cast<OutlierModel&>(m).corrections().gradient(p / 3)[p % 3];
      });
  EXPECT_LT(own, 1e-5);
}

/// Corrections are only counted apart from their mean, so that answers keep a total probability of 1.
TEST(CoinNet, ACorrectionOfAllClassesIsNone) {
  const TrainingSet set = testing::three_class_set();
  OutlierModel model(set, {}), shifted(set, {});
  for (std::size_t a = 0; a < set.answer_count(); ++a) {
    for (double& e : shifted.corrections().of(a)) e += 0.2;
  }
  EXPECT_NEAR(testing::evaluate(model, set, 1).loss, testing::evaluate(shifted, set, 1).loss, 1e-12);
  EXPECT_NEAR(shifted.outlier_score(0), 0, 1e-20);
}

Learned run(const LearningData& data, std::uint64_t seed, std::vector<std::pair<std::string, std::string>> settings,
            const char* method = "coinnet") {
  settings.insert(settings.begin(), {{"learning_rate", "0.01"}, {"epochs", "20"}, {"held_out", "0"}});
  return testing::run_learner(data, method, settings, {.kind = "linear"}, seed);
}

TEST(CoinNet, OutliersThatCostTooMuchLeaveGeoCrowdNet) {
  const auto crowd = gaussian_crowd(1, 500, 500, 2, 1.3, max_mig_workers('H', 1));
  const Learned expensive = run(crowd.data, 1, {{"outlier_strength", "1e6"}});
  const Learned plain = run(crowd.data, 1, {}, "geocrowdnet_f");
  for (const double score : expensive.crowd.task_score) EXPECT_LT(score, 1e-2);
  double worst = 0;
  for (std::size_t v = 0; v < plain.row_probabilities.size(); ++v) {
    worst = std::max(worst, std::abs(plain.row_probabilities[v] - expensive.row_probabilities[v]));
  }
  EXPECT_LT(worst, 0.05);
  // Corrections that never move leave exactly that.
  const Learned still = run(crowd.data, 1, {{"outlier_learning_rate", "0"}});
  for (std::size_t v = 0; v < plain.row_probabilities.size(); ++v) {
    EXPECT_NEAR(still.row_probabilities[v], plain.row_probabilities[v], 1e-4);
  }
}

/// Tasks whose answers all point to another class are found by their score.
TEST(CoinNet, PlantedOutliersAreFound) {
  std::vector<testing::PlannedWorker> workers;
  for (int j = 0; j < 5; ++j) workers.push_back({{.9, .05, .05, .05, .9, .05, .05, .05, .9}, -1});
  auto crowd = gaussian_crowd(4, 600, 200, 3, 4, workers);
  const CategoryAnswers& clean = crowd.data.crowd.answers;
  std::vector<CategoryAnswer> answers;
  for (std::size_t t = 0; t < 600; ++t) {
    for (auto a = clean.task_offsets()[t]; a < clean.task_offsets()[t + 1]; ++a) {
      const std::size_t label = index(clean.labels()[a]);
      answers.push_back({TaskId(t), clean.workers()[a], ClassId(t < 30 ? (label + 1) % 3 : label)});
    }
  }
  crowd.data.crowd.answers =
      make_category_answers(answers, {clean.task_names(), clean.worker_names(), clean.class_names()});
  const Learned learned = run(crowd.data, 1, {{"epochs", "60"}});
  EXPECT_EQ(learned.crowd.task_score_name, "outlier");
  std::vector<std::size_t> order(600);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return learned.crowd.task_score[a] > learned.crowd.task_score[b];
  });
  const auto found = std::count_if(order.begin(), order.begin() + 30, [](std::size_t t) { return t < 30; });
  EXPECT_GT(found, 24);
  EXPECT_GT(testing::test_accuracy(crowd, learned.row_probabilities), 0.97);
}

TEST(CoinNet, GaussianSuite) {
  for (const char skill : {'H', 'L'}) {
    for (const int which : {1, 2, 3}) {
      double mean = 0;
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const auto crowd = gaussian_crowd(seed, 3000, 5000, 2, 1.3, max_mig_workers(skill, which));
        mean += testing::test_accuracy(crowd, run(crowd.data, seed, {}).row_probabilities) / 3;
      }
      EXPECT_GT(mean, 0.88) << skill << which;
    }
  }
}

}  // namespace
}  // namespace wisecrowd::coinnet
