#include "learn/doctor_net/doctor_net.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "base/numeric.hpp"
#include "support/learning_sets.hpp"

namespace wisecrowd::doctor_net {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

Options narrow() {
  Options options;
  options.width = 4;
  return options;
}

TEST(DoctorNet, GradientsThroughATwoLayerNetwork) {
  const TrainingSet set = testing::three_class_set();
  HeadsModel model(set, narrow());
  EXPECT_LT(testing::gradient_error(model, set, 1), 1e-5);  // one head for all, still 0
  (void)testing::evaluate(model, set, 5);
  model.step(30);
  EXPECT_LT(testing::gradient_error(model, set, 1), 1e-5);
  model.part();
  Rng rng(3);
  for (std::size_t j = 0; j < 3; ++j) {
    for (double& v : model.heads().of(j)) v += rng.normal();
  }
  EXPECT_LT(testing::gradient_error(model, set, 1), 1e-5);
  const double own = testing::own_gradient_error(
      model, set, 1, 3 * 15,
      [](AnswerModel& m, std::size_t p, double change) {
        dynamic_cast<HeadsModel&>(m).heads().of(p / 15)[p % 15] += change;
      },
      [](AnswerModel& m, std::size_t p) { return dynamic_cast<HeadsModel&>(m).heads().gradient(p / 15)[p % 15]; });
  EXPECT_LT(own, 1e-5);
}

/// One worker: plain cross-entropy on what that worker said, and its head is the prediction.
TEST(DoctorNet, OneWorkerIsPlainTraining) {
  const auto crowd = gaussian_crowd(3, 30, 0, 2, 1, {{{.8, .2, .3, .7}, -1}});
  const TrainingSet set = training_set(crowd.data);
  HeadsModel model(set, narrow());
  model.part();
  Rng rng(7);
  for (double& v : model.heads().of(0)) v = rng.normal();
  const auto found = testing::evaluate(model, set, 2);
  const auto head = std::as_const(model.heads()).of(0);
  double expected = 0;
  for (std::size_t i = 0; i < 30; ++i) {
    const auto t = std::span(found.outputs).subspan(i * 4, 4);
    std::vector<double> p{head[8], head[9]}, predicted(2);
    for (std::size_t h = 0; h < 4; ++h) {
      p[0] += head[h] * t[h];
      p[1] += head[4 + h] * t[h];
    }
    softmax(p);
    expected -= std::log(p[index(set.labels_of(i)[0])]) / 30;
    model.classify(t, predicted);
    EXPECT_NEAR(predicted[0], p[0], 1e-12);
  }
  EXPECT_NEAR(found.loss, expected, 1e-12);
}

TEST(DoctorNet, IdenticalWorkersHaveIdenticalHeads) {
  const auto crowd = gaussian_crowd(3, 40, 0, 2, 1, {{{.8, .2, .3, .7}, -1}, {{}, 0}, {{.6, .4, .4, .6}, -1}});
  const TrainingSet set = training_set(crowd.data);
  HeadsModel model(set, narrow());
  model.part();
  for (std::uint64_t step = 0; step < 20; ++step) {
    (void)testing::evaluate(model, set, step);
    model.step(1);
  }
  const auto a = model.heads().of(0), b = model.heads().of(1), c = model.heads().of(2);
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin()));
  EXPECT_FALSE(std::equal(a.begin(), a.end(), c.begin()));
}

TEST(DoctorNet, GradientOfTheLearnedWeights) {
  const TrainingSet set = testing::three_class_set();
  const HeadsModel model(set, narrow());
  Rng rng(4);
  std::vector<float> said(set.answer_count() * 3);
  for (float& p : said) p = static_cast<float>(rng.uniform(0.05, 0.95));
  std::vector<double> logits{.3, -.5, .8}, gradient(3), unused(3);
  (void)model.weight_loss(logits, said, gradient);
  for (std::size_t m = 0; m < 3; ++m) {
    std::vector<double> up = logits, down = logits;
    up[m] += 1e-5;
    down[m] -= 1e-5;
    EXPECT_NEAR(gradient[m], (model.weight_loss(up, said, unused) - model.weight_loss(down, said, unused)) / 2e-5,
                1e-8);
  }
}

double accuracy(char skill, int which) {
  double mean = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto crowd = gaussian_crowd(seed, 3000, 5000, 2, 1.3, max_mig_workers(skill, which));
    const Learned learned = testing::run_learner(
        crowd.data, "doctor_net",
        {{"learning_rate", "0.01"}, {"worker_learning_rate", "0.01"}, {"epochs", "20"}, {"held_out", "0"}},
        {.kind = "linear"}, seed);
    mean += testing::test_accuracy(crowd, learned.row_probabilities) / 3;
  }
  return mean;
}

/// It models workers, not the truth: where naive workers are half or more, their word is the average.
TEST(DoctorNet, GaussianSuite) {
  EXPECT_GT(accuracy('H', 1), 0.87);
  EXPECT_GT(accuracy('L', 1), 0.85);
  EXPECT_LT(accuracy('L', 2), 0.6);
}

TEST(DoctorNet, LearnedWeightsSumToOneAndDoNotTrustNoise) {
  const auto crowd = gaussian_crowd(
      1, 800, 500, 2, 1.5,
      {{{.9, .1, .1, .9}, -1}, {{.85, .15, .1, .9}, -1}, {{.9, .1, .15, .85}, -1}, {{.3, .7, .7, .3}, -1}});
  const Learned learned = testing::run_learner(crowd.data, "doctor_net",
                                               {{"learning_rate", "0.01"},
                                                {"worker_learning_rate", "0.01"},
                                                {"epochs", "20"},
                                                {"held_out", "0"},
                                                {"weights", "learned"}},
                                               {.kind = "linear"}, 1);
  const std::vector<double>& w = learned.crowd.skill;
  EXPECT_NEAR(w[0] + w[1] + w[2] + w[3], 1, 1e-9);
  EXPECT_LT(w[3], 0.5 * std::min({w[0], w[1], w[2]}));
  EXPECT_GT(testing::test_accuracy(crowd, learned.row_probabilities), 0.9);
}

}  // namespace
}  // namespace wisecrowd::doctor_net
