#include "learn/aggnet/aggnet.hpp"

#include <gtest/gtest.h>

#include "learn/shared/clip.hpp"
#include "support/learning.hpp"

namespace wisecrowd::aggnet {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

TEST(AggNet, GradientsThroughATwoLayerNetwork) {
  const TrainingSet set = training_set(gaussian_crowd(3, 20, 0, 2, 1, max_mig_workers('H', 1), 0.5).data);
  EXPECT_LT(testing::gradient_error(AggNetModel(set, {}), set, 2), 1e-5);
}

/// Independent workers, naive ones too: as good as training on the truth. Copies: it falls (G7).
TEST(AggNet, IndependentWorkersAndCopies) {
  const auto accuracy = [](int which) {
    const auto crowd = gaussian_crowd(1, 3000, 5000, 2, 1.3, max_mig_workers('H', which));
    const Learned learned = testing::run_learner(crowd.data, "aggnet", {{"learning_rate", "0.01"}, {"epochs", "40"}},
                                                 {.kind = "linear"}, 1);
    return testing::test_accuracy(crowd, learned.final_row_probabilities);
  };
  EXPECT_GT(accuracy(1), 0.895);
  EXPECT_GT(accuracy(2), 0.895);
  EXPECT_LT(accuracy(3), accuracy(1) - 0.05);
}

/// Tasks of the test split with answers, which are not learned from: the forecast from data and crowd beats the
/// network alone.
TEST(AggNet, ForecastsFromDataAndCrowd) {
  auto crowd = gaussian_crowd(1, 2000, 2000, 2, 1.3, max_mig_workers('H', 1));
  std::vector<CategoryAnswer> answers;
  const CategoryAnswers& all = crowd.data.crowd.answers;
  std::vector<std::string> tasks;
  for (std::size_t t = 0; t < crowd.truth.size(); ++t) {
    tasks.push_back("t" + std::to_string(t));
    crowd.data.row_of_task.resize(t + 1);
    crowd.data.row_of_task[t] = static_cast<std::uint32_t>(t);
    if (t < crowd.tasks) {
      for (std::size_t a = 0; a < 5; ++a) {
        answers.push_back({TaskId(t), all.workers_of(TaskId(t))[a], all.labels_of(TaskId(t))[a]});
      }
    } else {
      for (const auto& [worker, label] : crowd.test_answers[t - crowd.tasks]) {
        answers.push_back({TaskId(t), WorkerId(worker), ClassId(label)});
      }
    }
  }
  crowd.data.crowd.answers = make_category_answers(answers, {NameTable(tasks), all.worker_names(), all.class_names()});
  const Learned learned =
      testing::run_learner(crowd.data, "aggnet", {{"learning_rate", "0.01"}, {"epochs", "15"}}, {.kind = "linear"}, 1);
  const double alone = testing::test_accuracy(crowd, learned.final_row_probabilities);
  const double together = testing::test_accuracy(crowd, learned.final_posterior);
  EXPECT_GT(alone, 0.89);
  EXPECT_GT(together, alone + 0.015);
  EXPECT_LT(together, 0.97);  // the answers of the test split were not the truth
}

/// With a ceiling of 1/K the network has no say: Dawid and Skene's EM with even class prior, one iteration per epoch.
TEST(AggNet, LowestCeilingIsDawidSkene) {
  const auto crowd = gaussian_crowd(3, 100, 0, 2, 2, max_mig_workers('H', 1), 0.6);
  const Learned learned = testing::run_learner(
      crowd.data, "aggnet",
      {{"ceiling", "0"}, {"warm_up", "0"}, {"pseudo_count", "1"}, {"epochs", "300"}, {"held_out", "0"}},
      {.kind = "linear"}, 1);
  Parameters parameters(aggregation_method("dawid_skene").parameters);
  parameters.set("pseudo_count", "1");
  parameters.set("class_prior", "uniform");
  parameters.set("tolerance", "0");
  parameters.set("max_iterations", "1000");
  const CategoryFit ds = aggregate(crowd.data.crowd, "dawid_skene", parameters, RunContext());
  for (std::size_t t = 0; t < 100; ++t) {
    if (crowd.data.crowd.answers.workers_of(TaskId(t)).empty()) continue;
    EXPECT_NEAR(learned.crowd.posterior[2 * t], ds.posterior[2 * t], 1e-5);
  }
}

TEST(Clip, GoldenVectorAndLimits) {
  std::vector<double> p{.9, .05, .03, .02};
  clip(p, .6);
  EXPECT_NEAR(p[0], .6, 1e-12);
  EXPECT_NEAR(p[1], .15, 1e-12);
  EXPECT_NEAR(p[2], .13, 1e-12);
  EXPECT_NEAR(p[3], .12, 1e-12);
  std::vector<double> chained{.9, .1, 0};
  clip(chained, .4);
  EXPECT_NEAR(chained[0], .4, 1e-12);
  EXPECT_NEAR(chained[1], .35, 1e-12);
  EXPECT_NEAR(chained[2], .25, 1e-12);
  std::vector<double> none{.9, .1};
  clip(none, 0);
  EXPECT_NEAR(none[0], .5, 1e-12);
  std::vector<double> kept{.9, .1};
  clip(kept, 1);
  EXPECT_EQ(kept[0], .9);
}

}  // namespace
}  // namespace wisecrowd::aggnet
