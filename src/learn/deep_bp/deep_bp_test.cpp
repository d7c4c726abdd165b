#include "learn/deep_bp/deep_bp.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "support/learning_sets.hpp"

namespace wisecrowd::deep_bp {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

CategoryFit by_bp(const TrainingSet& set, const Options& options, const std::vector<double>& priors) {
  Parameters parameters(aggregation_method("bp").parameters);
  parameters.set_value("right", options.right);
  parameters.set_value("wrong", options.wrong);
  parameters.set_value("tolerance", 1e-12);
  parameters.set_value("max_iterations", std::int64_t{1000});
  CategoryData data = as_dataset(set);
  data.task_priors = priors;
  return aggregate(data, "bp", parameters, RunContext());
}

std::vector<double> some_priors(std::size_t tasks, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> priors;
  for (std::size_t i = 0; i < tasks; ++i) {
    const double p = rng.uniform(0.1, 0.9);
    priors.insert(priors.end(), {p, 1 - p});
  }
  return priors;
}

TEST(DeepBp, GradientsThroughATwoLayerNetwork) {
  const TrainingSet set = training_set(gaussian_crowd(3, 20, 0, 2, 1, max_mig_workers('H', 1), 0.5).data);
  const RunContext context;
  EXPECT_LT(testing::gradient_error(DeepBpModel(set, {}, context), set, 2), 1e-5);
}

/// `wrong` means the same for tables as in deep_mf: all kinds of wrong answers together.
TEST(DeepBp, WrongAnswersBelievedBeforehandAreCountedTogether) {
  const TrainingSet set = testing::three_class_set();
  const RunContext context;
  Options options;
  options.model = "tables";
  options.particles = 50;
  DeepBpModel model(set, options, context);
  const std::vector<double> even(set.task_count() * 3, 1.0 / 3);
  model.infer(even);
  const auto by_tables = [&](double off_diagonal) {
    Parameters parameters(aggregation_method("bp").parameters);
    parameters.set("model", "tables");
    parameters.set_value("diagonal", options.right);
    parameters.set_value("off_diagonal", off_diagonal);
    parameters.set_value("particles", std::int64_t{50});
    CategoryData data = as_dataset(set);
    data.task_priors = even;
    return aggregate(data, "bp", parameters, context).posterior;
  };
  EXPECT_EQ(model.soft_labels(), by_tables(options.wrong / 2));
  EXPECT_NE(model.soft_labels(), by_tables(options.wrong));
}

/// Beliefs are those of belief propagation, wherever the messages began, and a small change costs few iterations.
TEST(DeepBp, GoesOnFromTheLastMessages) {
  const TrainingSet set = training_set(gaussian_crowd(3, 60, 0, 2, 1, max_mig_workers('H', 1), 0.4).data);
  const RunContext context;
  Options options;
  options.tolerance = 1e-12;
  options.max_iterations = 1000;
  DeepBpModel model(set, options, context);
  model.infer(some_priors(set.task_count(), 1));
  std::vector<double> priors = some_priors(set.task_count(), 2);
  model.infer(priors);
  const std::size_t far = model.iterations();
  const CategoryFit cold = by_bp(set, options, priors);
  for (std::size_t c = 0; c < cold.posterior.size(); ++c) {
    EXPECT_NEAR(model.soft_labels()[c], cold.posterior[c], 1e-9);
  }
  for (std::size_t c = 0; c < cold.confusion.size(); ++c) {
    EXPECT_NEAR(model.worker_tables()[c], cold.confusion[c], 1e-9);
  }
  EXPECT_NEAR(model.bethe(), cold.trace.back(), 1e-8);
  for (std::size_t c = 0; c < priors.size(); c += 2) {
    priors[c] = std::min(priors[c] + 1e-9, 0.95);
    priors[c + 1] = 1 - priors[c];
  }
  const auto copy = model.clone();
  model.infer(priors);
  EXPECT_LT(model.iterations(), far);
  auto& other = dynamic_cast<DeepBpModel&>(*copy);
  other.infer(priors);  // a copy goes on from the same place
  EXPECT_EQ(other.iterations(), model.iterations());
  EXPECT_EQ(other.soft_labels(), model.soft_labels());
}

/// Tables too: the messages of a second call are those of the first.
TEST(DeepBp, TablesGoOnFromTheLastMessages) {
  const TrainingSet set = training_set(gaussian_crowd(3, 40, 0, 2, 1, max_mig_workers('H', 1), 0.4).data);
  const RunContext context({.seed = 1});
  Options options;
  options.model = "two_coin";
  options.tolerance = 1e-10;
  options.max_iterations = 1000;
  DeepBpModel model(set, options, context);
  const std::vector<double> priors = some_priors(set.task_count(), 1);
  model.infer(priors);
  const std::vector<double> first = model.soft_labels();
  const std::size_t cold = model.iterations();
  model.infer(priors);
  EXPECT_LT(model.iterations(), 3U);
  EXPECT_GT(cold, 5U);
  for (std::size_t c = 0; c < first.size(); ++c) EXPECT_NEAR(model.soft_labels()[c], first[c], 1e-8);
}

/// A ceiling of 1/K leaves the network out, whatever it says.
TEST(DeepBp, LowestCeilingIgnoresTheFeatures) {
  const auto crowd = gaussian_crowd(3, 80, 0, 2, 2, max_mig_workers('H', 1), 0.5);
  const Learned learned = testing::run_learner(crowd.data, "deep_bp",
                                               {{"ceiling", "0.5"},
                                                {"epochs", "40"},
                                                {"propagation_tolerance", "1e-10"},
                                                {"propagation_iterations", "1000"},
                                                {"learning_rate", "0.05"},
                                                {"held_out", "0"}},
                                               {.kind = "linear"}, 1);
  const TrainingSet set = training_set(crowd.data);
  const CategoryFit bp = by_bp(set, {}, std::vector<double>(set.task_count() * 2, 0.5));
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    EXPECT_NEAR(learned.crowd.posterior[index(set.task[i]) * 2], bp.posterior[i * 2], 1e-7);
  }
  EXPECT_GT(testing::task_accuracy(crowd, learned.row_probabilities), 0.9);
}

/// On a tree beliefs are exact posteriors, so this is EM: the exact evidence, which is Bethe's there, never falls while
/// the network is moved by gentle steps of all tasks at once.
TEST(DeepBp, EvidenceRisesOnATree) {
  // Task t is answered by workers t and t+1: a chain.
  auto crowd = gaussian_crowd(5, 30, 0, 2, 1, std::vector<testing::PlannedWorker>(31, {{.8, .2, .2, .8}, -1}));
  std::vector<CategoryAnswer> chain;
  const CategoryAnswers& all = crowd.data.crowd.answers;
  for (std::size_t t = 0; t < 30; ++t) {
    for (const std::size_t w : {t, t + 1}) {
      chain.push_back({TaskId(t), WorkerId(w), all.labels_of(TaskId(t))[w]});
    }
  }
  crowd.data.crowd.answers = make_category_answers(chain, {all.task_names(), all.worker_names(), all.class_names()});
  double before = -1e300;
  for (const int epochs : {1, 2, 4, 8, 16, 32, 64}) {
    const Learned learned = testing::run_learner(crowd.data, "deep_bp",
                                                 {{"epochs", std::to_string(epochs)},
                                                  {"batch", "0"},
                                                  {"ceiling", "1"},
                                                  {"optimizer", "sgd"},
                                                  {"weight_decay", "0"},
                                                  {"learning_rate", "0.02"},
                                                  {"propagation_tolerance", "1e-12"},
                                                  {"held_out", "0"}},
                                                 {.kind = "linear"}, 1);
    ASSERT_EQ(learned.crowd.learned.front().first, "bethe_log_evidence");
    EXPECT_GT(learned.crowd.learned.front().second, before);
    before = learned.crowd.learned.front().second;
  }
}

TEST(DeepBp, RepeatedAnswersAreRefused) {
  auto crowd = gaussian_crowd(5, 10, 0, 2, 1, max_mig_workers('H', 1));
  const CategoryAnswers& all = crowd.data.crowd.answers;
  std::vector<CategoryAnswer> twice{{TaskId(0), WorkerId(0), ClassId(0)}, {TaskId(0), WorkerId(0), ClassId(1)}};
  crowd.data.crowd.answers =
      make_category_answers(twice, {all.task_names(), all.worker_names(), all.class_names()}, DuplicatePolicy::repeat);
  EXPECT_THROW((void)testing::run_learner(crowd.data, "deep_bp", {}, {.kind = "linear"}, 1), Error);
}

}  // namespace
}  // namespace wisecrowd::deep_bp
