#include "learn/crowd_regression/crowd_regression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rng.hpp"
#include "support/learning.hpp"

namespace wisecrowd {
namespace {

using crowd_regression::CrowdRegression;
using crowd_regression::Layer;
using crowd_regression::LayerModel;
using crowd_regression::Line;
using crowd_regression::number_training_set;
using crowd_regression::Options;
using crowd_regression::standard_answers;
using crowd_regression::StandardAnswers;

constexpr Layer kLayers[] = {Layer::none, Layer::scale, Layer::bias, Layer::scale_bias, Layer::bias_scale};

/// What workers do to the truth, counted from 10.
struct PlannedLine {
  double slope, bias, noise;
};

struct RegressionCrowd {
  NumberLearningData data;
  std::vector<double> truth;  // per row
  std::size_t tasks = 0;

  [[nodiscard]] double test_error(const std::vector<double>& estimate) const {
    double sum = 0;
    for (std::size_t r = tasks; r < truth.size(); ++r) sum += std::pow(estimate[r] - truth[r], 2);
    return std::sqrt(sum / static_cast<double>(truth.size() - tasks));
  }
};

const std::vector<PlannedLine> kBiased{{1, 3, .5}, {1, -3, 1}, {1, 2, .5}, {1, -2, 3}, {1, 1, .5}, {1, -1, 1}};
const std::vector<PlannedLine> kPerfect(4, PlannedLine{1, 0, 0});

/// Truth is 10 + linear in three features + N(0, `unknown`²); each task is answered by `each` workers.
RegressionCrowd regression_crowd(std::uint64_t seed, std::size_t tasks, const std::vector<PlannedLine>& workers,
                                 double unknown = 1, std::size_t each = 3, std::size_t test_rows = 200) {
  Rng rng(seed);
  RegressionCrowd crowd;
  crowd.tasks = tasks;
  NumberAnswersBuilder builder;
  std::vector<std::string> names;
  crowd.data.features = {.rows = tasks + test_rows, .shape = {3}, .dense = {}};
  for (std::size_t r = 0; r < tasks + test_rows; ++r) {
    names.push_back("t" + std::to_string(100000 + r));
    double truth = 10 + unknown * rng.normal();
    for (std::size_t c = 0; c < 3; ++c) {
      const double x = rng.normal();
      crowd.data.features.dense.push_back(static_cast<float>(x));
      truth += (1 + static_cast<double>(c)) * x;
    }
    crowd.truth.push_back(truth);
    crowd.data.split.push_back(r < tasks ? Split::train : Split::test);
    if (r >= tasks) continue;
    crowd.data.row_of_task.push_back(static_cast<std::uint32_t>(r));
    std::vector<std::uint32_t> order(workers.size());
    for (std::size_t w = 0; w < order.size(); ++w) order[w] = static_cast<std::uint32_t>(w);
    rng.shuffle(std::span(order));
    for (std::size_t i = 0; i < each; ++i) {
      const PlannedLine& line = workers[order[i]];
      builder.add(names.back(), "w" + std::to_string(order[i]),
                  10 + line.slope * (truth - 10) + line.bias + line.noise * rng.normal());
    }
  }
  crowd.data.crowd.answers = builder.build();
  crowd.data.row_names = NameTable(names);
  return crowd;
}

/// Everything a model needs, in one place.
struct Prepared {
  explicit Prepared(std::size_t tasks = 60) : crowd(regression_crowd(1, tasks, kBiased)) {}
  RegressionCrowd crowd;
  TrainingSet set = number_training_set(crowd.data);
  StandardAnswers answers = standard_answers(crowd.data.crowd.answers, set);

  [[nodiscard]] LayerModel model(const Options& options) const {
    LayerModel made(set, answers, options, RunContext());
    const bool slope = options.layer != Layer::none && options.layer != Layer::bias;
    const bool bias = options.layer != Layer::none && options.layer != Layer::scale;
    for (std::size_t w = 0; w < kBiased.size(); ++w) {
      const auto shift = [&](std::size_t i) { return 0.2 * std::sin(static_cast<double>(3 * w + i + 1)); };
      if (slope) made.line(w, 0).slope += shift(0);
      if (bias) made.line(w, 0).bias += shift(1) + 0.3;
      if (options.own_noise) made.line(w, 0).variance *= std::exp(shift(2));
    }
    return made;
  }
  /// The truth, but for a part of it.
  [[nodiscard]] std::vector<double> outputs() const {
    std::vector<double> outputs;
    for (std::size_t i = 0; i < set.task_count(); ++i) {
      const double truth = crowd.truth[set.row[i]] - answers.centre[0];
      outputs.push_back(truth / answers.unit[0] + 0.2 * std::cos(static_cast<double>(i)));
    }
    return outputs;
  }
  [[nodiscard]] double log_density(const LayerModel& model) const {
    double sum = 0;
    for (const double task : model.likelihoods(set, outputs(), {model.error_variance(), {1}})) sum += task;
    return sum;
  }
};

TEST(CrowdRegression, GradientsAtTheNetworkAreRight) {
  const Prepared at;
  for (const Layer layer : kLayers) {
    for (const bool task_error : {false, true}) {
      Options options;
      options.layer = layer;
      options.task_error = task_error;
      LayerModel model = at.model(options);
      EXPECT_LT(testing::gradient_error(model, at.set, 1), 1e-5) << static_cast<int>(layer) << task_error;
      model.fix_gauge();  // and with another scale of the outputs
      EXPECT_LT(testing::gradient_error(model, at.set, 2), 1e-5) << static_cast<int>(layer) << task_error;
    }
  }
}

/// The density of the answers to a task is that of the joint normal: the truth integrated out numerically.
TEST(CrowdRegression, TheUnknownPartOfATaskIsIntegratedOut) {
  const Prepared at;
  Options options;
  options.layer = Layer::scale_bias;
  const LayerModel model = at.model(options);
  const std::vector<WorkerId> workers{WorkerId{0}, WorkerId{3}, WorkerId{4}};
  const std::vector<double> values{.4, -1, .9};
  const double o = .3, variance = .7;
  const auto found = model.posterior(o, variance, workers, values, 0);
  double total = 0, mean = 0, square = 0;
  constexpr double kStep = 1e-3;
  for (double error = -8; error < 8; error += kStep) {
    double density = std::exp(-error * error / 2 / variance) / std::sqrt(2 * std::numbers::pi * variance) * kStep;
    for (std::size_t a = 0; a < workers.size(); ++a) {
      const Line& own = model.line(index(workers[a]), 0);
      const double off = values[a] - own.slope * (o + error) - own.bias;
      density *= std::exp(-off * off / 2 / own.variance) / std::sqrt(2 * std::numbers::pi * own.variance);
    }
    total += density;
    mean += density * error;
    square += density * error * error;
  }
  mean /= total;
  EXPECT_NEAR(found.log_density, std::log(total), 1e-6);
  EXPECT_NEAR(found.shift, mean, 1e-6);
  EXPECT_NEAR(found.variance, square / total - mean * mean, 1e-6);
}

/// Where EM of the workers comes to rest, the derivatives of the likelihood by their parameters vanish; on the way it
/// never falls.
TEST(CrowdRegression, WorkersComeToRestWhereTheLikelihoodIsLevel) {
  const Prepared at(400);
  for (const Layer layer : kLayers) {
    for (const bool task_error : {false, true}) {
      Options options;
      options.layer = layer;
      options.task_error = task_error;
      options.prior_answers = 0;
      LayerModel model = at.model(options);
      double before = at.log_density(model);
      for (int step = 0; step < 600; ++step) {
        model.step_of_em(at.outputs());
        const double now = at.log_density(model);
        ASSERT_GE(now, before - 1e-9 * std::abs(before)) << static_cast<int>(layer) << " step " << step;
        before = now;
      }
      constexpr double kStep = 1e-5;
      const auto slope_of = [&](double& parameter) {
        const double kept = parameter;
        parameter = kept + kStep;
        const double above = at.log_density(model);
        parameter = kept - kStep;
        const double below = at.log_density(model);
        parameter = kept;
        return (above - below) / (2 * kStep);
      };
      const bool slope = layer != Layer::none && layer != Layer::bias;
      const bool bias = layer != Layer::none && layer != Layer::scale;
      for (std::size_t w = 0; w < kBiased.size(); ++w) {
        Line& own = model.line(w, 0);
        if (slope) {
          EXPECT_NEAR(slope_of(own.slope), 0, 0.02) << static_cast<int>(layer) << task_error;
        }
        if (bias) {
          EXPECT_NEAR(slope_of(own.bias), 0, 0.02) << static_cast<int>(layer) << task_error;
        }
        EXPECT_NEAR(slope_of(own.variance) * own.variance, 0, 0.02) << static_cast<int>(layer) << task_error;
      }
      if (task_error) {  // a small τ² comes to rest slowly
        const double per_task = slope_of(model.error_variance()[0]) * model.error_variance()[0] / 400;
        EXPECT_NEAR(per_task, 0, 1e-3) << static_cast<int>(layer);
      }
    }
  }
}

/// Workers and network can be rescaled together without a change of any expected answer; the gauge picks one.
TEST(CrowdRegression, TheGaugeChangesNoAnswerAndPicksOne) {
  const Prepared at;
  for (const Layer layer : kLayers) {
    Options options;
    options.layer = layer;
    LayerModel model = at.model(options);
    const double before = at.log_density(model);
    model.fix_gauge();
    EXPECT_NEAR(at.log_density(model), before, 1e-8) << static_cast<int>(layer);
    double slopes = 0, biases = 0;
    const auto count = static_cast<double>(at.set.worker.size());
    for (const WorkerId w : at.set.worker) {
      const Line& own = model.line(index(w), 0);
      slopes += own.slope / count;
      biases += (layer == Layer::bias_scale ? own.bias / own.slope : own.bias) / count;
    }
    EXPECT_NEAR(slopes, 1, 1e-12) << static_cast<int>(layer);
    EXPECT_NEAR(biases, 0, 1e-12) << static_cast<int>(layer);
    const Line kept = model.line(2, 0);
    model.fix_gauge();  // nothing is left to do
    EXPECT_NEAR(model.line(2, 0).slope, kept.slope, 1e-12);
    EXPECT_NEAR(model.line(2, 0).bias, kept.bias, 1e-12);
  }
}

/// Without layers, with equal noise and without errors of tasks, it is least squares on all answers.
TEST(CrowdRegression, WithoutLayersItIsLeastSquares) {
  const Prepared at;
  Options options;
  options.layer = Layer::none;
  options.own_noise = options.task_error = false;
  LayerModel model(at.set, at.answers, options, RunContext());
  for (std::size_t w = 0; w < kBiased.size(); ++w) model.line(w, 0).variance = 1;
  const std::vector<std::uint32_t> tasks{3, 4};
  const std::vector<double> outputs{0.2, -1};
  std::vector<double> gradients(2);
  const double loss = model.loss(tasks, {outputs.data(), 2, 1}, {gradients.data(), 2, 1});
  double squares = 0, count = 0;
  std::vector<double> pull(2, 0);
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::uint32_t a = at.set.offset[tasks[i]]; a < at.set.offset[tasks[i] + 1]; ++a) {
      const double off = at.answers.value[at.set.answer[a]] - outputs[i];
      squares += off * off / 2;
      pull[i] -= off;
      count += 1;
    }
  }
  EXPECT_NEAR(loss, squares / count, 1e-12);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(gradients[i], pull[i] / count, 1e-12);
}

Options quick(Layer layer = Layer::bias) {
  Options options;
  options.layer = layer;
  options.training.epochs = 40;
  options.training.optimiser.learning_rate = 0.02;
  return options;
}

LearnedNumbers fit(const RegressionCrowd& crowd, const Options& options, unsigned threads = 1) {
  return CrowdRegression(options).fit(crowd.data, {.kind = "linear"}, RunContext({.seed = 1, .threads = threads}));
}

/// Perfect workers: the same as an ordinary network on the means of their answers.
TEST(CrowdRegression, PerfectWorkersGiveRegressionOnTheMeans) {
  const RegressionCrowd crowd = regression_crowd(4, 300, kPerfect, 0);
  RegressionCrowd means = crowd;
  NumberAnswersBuilder builder;
  for (std::size_t r = 0; r < crowd.tasks; ++r) builder.add(crowd.data.row_names[r], "mean", crowd.truth[r]);
  means.data.crowd.answers = builder.build();
  Options plain = quick(Layer::none);
  plain.own_noise = plain.task_error = false;
  const auto these = fit(crowd, quick(Layer::scale_bias)), those = fit(means, plain);
  EXPECT_LT(crowd.test_error(these.row_estimate), 0.05);
  for (std::size_t r = 0; r < crowd.truth.size(); ++r) {
    EXPECT_NEAR(these.row_estimate[r], those.row_estimate[r], 0.1) << r;
  }
  for (std::size_t t = 0; t < crowd.tasks; ++t) EXPECT_NEAR(these.crowd.estimate[t], crowd.truth[t], 0.1);
}

/// Planted workers are found up to the gauge, the better the more tasks there are.
TEST(CrowdRegression, FindsWorkersAndTruthAsDataGrow) {
  const std::vector<PlannedLine> planted{{1.4, 2, .5}, {.6, -2, 1}, {1.2, 1, .5}, {.8, -1, 2}};
  double last = std::numeric_limits<double>::infinity();
  for (const std::size_t tasks : {60UL, 600UL, 6000UL}) {
    const RegressionCrowd crowd = regression_crowd(7, tasks, planted, 1, 3);
    Options options = quick(Layer::scale_bias);
    options.training.epochs = tasks > 1000 ? 20 : 60;
    const LearnedNumbers learned = fit(crowd, options);
    double worst = 0;
    for (std::size_t w = 0; w < planted.size(); ++w) {
      worst = std::max({worst, std::abs(learned.crowd.slope[w] - planted[w].slope),
                        std::abs(learned.crowd.bias[w] - planted[w].bias) / 4,
                        std::abs(learned.crowd.scale[w] - planted[w].noise) / 4});
    }
    EXPECT_LT(worst, last) << tasks;
    last = worst;
    if (tasks < 6000) continue;
    EXPECT_LT(worst, 0.06);
    EXPECT_LT(crowd.test_error(learned.row_estimate), 1.1);  // the features leave a deviation of 1
    EXPECT_NEAR(learned.row_deviation[0], 1, 0.1);
    double covered = 0;
    for (std::size_t t = 0; t < tasks; ++t) {
      covered += crowd.truth[t] > learned.crowd.low[t] && crowd.truth[t] < learned.crowd.high[t] ? 1 : 0;
    }
    EXPECT_NEAR(covered / static_cast<double>(tasks), 0.95, 0.02);
  }
}

/// Workers with a bias of their own: the layer and the errors of tasks make better networks and better estimates.
TEST(CrowdRegression, BeatsLeastSquaresWhereWorkersDiffer) {
  const RegressionCrowd crowd = regression_crowd(3, 300, kBiased, 0.5);
  Options plain = quick(Layer::none);
  plain.own_noise = plain.task_error = false;
  const double with = crowd.test_error(fit(crowd, quick()).row_estimate);
  EXPECT_LT(with, 0.6);
  EXPECT_LT(with, crowd.test_error(fit(crowd, plain).row_estimate));
}

TEST(CrowdRegression, SameBitsForAnyThreadCount) {
  const RegressionCrowd crowd = regression_crowd(5, 120, kBiased);
  Options options = quick(Layer::bias_scale);
  options.training.epochs = 5;
  const LearnedNumbers one = fit(crowd, options, 1), three = fit(crowd, options, 3);
  EXPECT_EQ(one.row_estimate, three.row_estimate);
  EXPECT_EQ(one.crowd.estimate, three.crowd.estimate);
  EXPECT_EQ(one.crowd.slope, three.crowd.slope);
  EXPECT_EQ(one.held_out_per_task, three.held_out_per_task);
}

/// Tasks without features, tasks that nobody answered, answers all alike, one answer in all, points.
TEST(CrowdRegression, OddCrowdsGiveWholeResults) {
  const Parameters parameters(number_learning_method("crowd_regression").parameters);
  const auto learn = [&](const NumberLearningData& data) {
    return learn_numbers(data, "crowd_regression", parameters, {.kind = "linear"}, RunContext({.seed = 1}));
  };
  RegressionCrowd crowd = regression_crowd(6, 20, kBiased);
  crowd.data.row_of_task[3] = kNoRow;
  LearnedNumbers learned = learn(crowd.data);
  EXPECT_TRUE(std::isfinite(learned.crowd.estimate[3]));
  EXPECT_GT(learned.crowd.deviation[3], learned.crowd.deviation[4]);

  NumberAnswersBuilder same({"x", "y"});
  for (const char* task : {"t100000", "t100001", "t100002"}) same.add(task, "w", std::vector<double>{5, -5});
  crowd.data.crowd.answers = same.build();
  crowd.data.row_of_task = {0, 1, 2};
  learned = learn(crowd.data);
  ASSERT_EQ(learned.row_estimate.size(), 2 * crowd.truth.size());
  EXPECT_NEAR(learned.crowd.estimate[0], 5, 0.5);
  EXPECT_NEAR(learned.crowd.estimate[1], -5, 0.5);

  NumberAnswersBuilder single;
  single.add("t100000", "w", 5);
  crowd.data.crowd.answers = single.build();
  crowd.data.row_of_task = {0};
  EXPECT_NEAR(learn(crowd.data).crowd.estimate[0], 5, 0.5);

  crowd.data.split[0] = Split::test;
  EXPECT_THROW((void)learn(crowd.data), Error);  // nothing to learn from
  crowd.data.split[0] = Split::train;
  crowd.data.crowd.gold = {5};
  EXPECT_THROW((void)learn(crowd.data), Error);  // gold is not learned from
  crowd.data.crowd.gold.clear();
  crowd.data.row_of_task = {0, 1};
  EXPECT_THROW((void)learn(crowd.data), Error);  // more rows than tasks
}

TEST(CrowdRegression, TellsWhereFeaturesSayNothing) {
  RegressionCrowd crowd = regression_crowd(8, 40, kBiased);
  Rng rng(9);
  Features& features = crowd.data.features;
  features.shape = {30};
  features.dense.clear();
  for (std::size_t i = 0; i < 30 * features.rows; ++i) features.dense.push_back(static_cast<float>(rng.normal()));
  Options options = quick();
  options.training.optimiser.learning_rate = 0.3;  // learns by heart at once
  const LearnedNumbers learned = fit(crowd, options);
  ASSERT_FALSE(learned.crowd.warnings.empty());
  EXPECT_EQ(learned.crowd.warnings[0].code, "no_better_than_guessing");
  EXPECT_TRUE(fit(regression_crowd(8, 200, kBiased), quick()).crowd.warnings.empty());
}

}  // namespace
}  // namespace wisecrowd
