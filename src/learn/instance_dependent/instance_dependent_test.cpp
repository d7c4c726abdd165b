#include "learn/instance_dependent/instance_dependent.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/learning_sets.hpp"

namespace wisecrowd::instance_dependent {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

Options small_options() {
  Options options;
  options.row_width = 3;
  options.embedding = 2;
  options.trace_strength = 0.4;
  return options;
}

InstanceModel shaken(const TrainingSet& set) {
  InstanceModel model(set, small_options(), Rng(1));
  Rng rng(2);
  for (double& value : model.row_head().of(0)) value = 0.5 * rng.normal();
  for (std::size_t j = 0; j < set.worker_count; ++j) {
    for (double& value : model.embeddings().of(j)) value = rng.normal();
  }
  model.release_rows();
  return model;
}

template <class Block>
double error_of(const InstanceModel& model, const TrainingSet& set, std::size_t owners, std::size_t block,
                Block place) {
  return testing::own_gradient_error(
      model, set, 1, owners * block,
      [=](AnswerModel& m, std::size_t p, double change) {
        place(dynamic_cast<InstanceModel&>(m)).of(p / block)[p % block] += change;
      },
      [=](AnswerModel& m, std::size_t p) {
        return place(dynamic_cast<InstanceModel&>(m)).gradient(p / block)[p % block];
      });
}

void expect_right_gradients(const InstanceModel& model, const TrainingSet& set) {
  EXPECT_LT(testing::gradient_error(model, set, 1), 1e-5);
  EXPECT_LT(testing::table_gradient_error(model, set, 1), 1e-5);
  EXPECT_LT(error_of(model, set, 1, 27, [](InstanceModel& m) -> BlockAdam& { return m.row_head(); }), 1e-5);
  EXPECT_LT(error_of(model, set, 1, 6, [](InstanceModel& m) -> BlockAdam& { return m.mixing(); }), 1e-5);
  EXPECT_LT(error_of(model, set, 3, 2, [](InstanceModel& m) -> BlockAdam& { return m.embeddings(); }), 1e-5);
}

TEST(InstanceDependent, GradientsThroughATwoLayerNetwork) {
  const TrainingSet set = testing::three_class_set(true);
  expect_right_gradients(shaken(set), set);
}

/// The stages of the anchor variant: only tables, then only the network.
TEST(InstanceDependent, GradientsOfTheAnchorStages) {
  const TrainingSet set = testing::three_class_set();
  InstanceModel model = shaken(set);
  Rng rng(9);
  std::vector<double> outputs(set.task_count() * model.outputs());
  for (double& value : outputs) value = rng.normal();
  outputs[0] = 30;
  model.enter(InstanceModel::Stage::anchors, outputs);
  EXPECT_GE(model.anchor_count(), 2U);
  expect_right_gradients(model, set);
  model.enter(InstanceModel::Stage::network, outputs);
  EXPECT_LT(testing::gradient_error(model, set, 1), 1e-5);
  const auto before = model.worker_tables();
  (void)testing::evaluate(model, set, 1);
  model.step(1);
  EXPECT_EQ(model.worker_tables(), before);
}

/// Without dependence on the row it is coupled cross-entropy with the mean trace (trace_reg at strength/K).
TEST(InstanceDependent, WithoutRowsItIsTraceRegularisation) {
  const TrainingSet set = testing::three_class_set();
  InstanceModel model(set, small_options(), Rng(1));
  CoupledTables plain(set, small_options().tables);
  std::vector<std::uint32_t> tasks(set.task_count());
  std::iota(tasks.begin(), tasks.end(), 0U);
  Rng rng(4);
  std::vector<double> wide(tasks.size() * model.outputs()), narrow, at_wide(wide.size()), at_narrow(tasks.size() * 3);
  for (double& value : wide) value = rng.normal();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) narrow.push_back(wide[i * model.outputs() + k]);
  }
  double trace = 0;
  const auto tables = plain.worker_tables();
  for (const WorkerId worker : set.worker) {
    for (std::size_t k = 0; k < 3; ++k) trace += tables[index(worker) * 9 + k * 4];
  }
  const double found =
      model.loss(tasks, {wide.data(), tasks.size(), model.outputs()}, {at_wide.data(), tasks.size(), model.outputs()});
  const double expected = plain.loss(tasks, {narrow.data(), tasks.size(), 3}, {at_narrow.data(), tasks.size(), 3});
  EXPECT_NEAR(found, expected + 0.4 / 3 * trace / static_cast<double>(set.answer_count()), 1e-12);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(at_wide[i * model.outputs() + k], at_narrow[i * 3 + k], 1e-12);
  }
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (std::size_t r = 0; r < order.size(); ++r) rank[order[r]] = static_cast<double>(r);
  return rank;
}

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto x = ranks(a), y = ranks(b);
  const double mean = static_cast<double>(x.size() - 1) / 2;
  double xy = 0, xx = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
  }
  return xy / xx;
}

/// Workers err the more the larger one coordinate is, which says nothing of the class: difficulty finds it.
TEST(InstanceDependent, NoiseThatDependsOnTheRowIsRecovered) {
  std::vector<testing::PlannedWorker> perfect(5, {{1, 0, 0, 1}, -1});
  auto crowd = gaussian_crowd(6, 2000, 500, 2, 2, perfect);
  const CategoryAnswers& clean = crowd.data.crowd.answers;
  Rng rng(7);
  std::vector<CategoryAnswer> answers;
  std::vector<double> flips;
  for (std::size_t t = 0; t < 2000; ++t) {
    flips.push_back(0.45 / (1 + std::exp(-3 * static_cast<double>(crowd.data.features.dense[2 * t + 1]))));
    for (auto a = clean.task_offsets()[t]; a < clean.task_offsets()[t + 1]; ++a) {
      const std::size_t label = index(clean.labels()[a]);
      answers.push_back({TaskId(t), clean.workers()[a], ClassId(rng.bernoulli(flips[t]) ? 1 - label : label)});
    }
  }
  crowd.data.crowd.answers =
      make_category_answers(answers, {clean.task_names(), clean.worker_names(), clean.class_names()});
  for (const char* variant : {"schedule", "anchors"}) {
    const Learned learned = testing::run_learner(
        crowd.data, "instance_dependent",
        {{"variant", variant}, {"learning_rate", "0.01"}, {"epochs", "30"}, {"held_out", "0"}, {"row_width", "8"}},
        {.kind = "linear"}, 1);
    EXPECT_EQ(learned.crowd.task_score_name, "difficulty");
    EXPECT_GT(rank_correlation(learned.crowd.task_score, flips), 0.7) << variant;
    EXPECT_GT(testing::test_accuracy(crowd, learned.row_probabilities), 0.95) << variant;
  }
}

TEST(InstanceDependent, GaussianSuite) {
  for (const char skill : {'H', 'L'}) {
    for (const int which : {1, 2, 3}) {
      double mean = 0;
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const auto crowd = gaussian_crowd(seed, 3000, 5000, 2, 1.3, max_mig_workers(skill, which));
        const Learned learned = testing::run_learner(crowd.data, "instance_dependent",
                                                     {{"learning_rate", "0.01"}, {"epochs", "20"}, {"held_out", "0"}},
                                                     {.kind = "linear"}, seed);
        mean += testing::test_accuracy(crowd, learned.row_probabilities) / 3;
      }
      EXPECT_GT(mean, 0.88) << skill << which;
    }
  }
}

}  // namespace
}  // namespace wisecrowd::instance_dependent
