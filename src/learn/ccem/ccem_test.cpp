#include "learn/ccem/ccem.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/numeric.hpp"
#include "support/learning.hpp"

namespace wisecrowd::ccem {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

TrainingSet small_set() {
  return training_set(gaussian_crowd(3, 12, 0, 3, 1,
                                     {{{.7, .2, .1, .1, .8, .1, .2, .2, .6}, -1},
                                      {{.5, .3, .2, .3, .4, .3, .1, .1, .8}, -1},
                                      {{.9, .05, .05, .1, .8, .1, .0, .1, .9}, -1}},
                                     0.7)
                          .data);
}

TEST(Ccem, GradientsThroughATwoLayerNetwork) {
  const TrainingSet set = small_set();
  for (const auto start : {CoupledTables::Options::Start::votes, CoupledTables::Options::Start::identity}) {
    CoupledTables model(set, {.start = start});
    EXPECT_LT(testing::gradient_error(model, set, 1), 1e-5);
    const double own = testing::own_gradient_error(
        model, set, 1, set.worker_count * 9,
        [](AnswerModel& m, std::size_t p, double change) {
          auto& tables = dynamic_cast<CoupledTables&>(m);
          tables.logits().of(p / 9)[p % 9] += change;
          tables.refresh(static_cast<std::uint32_t>(p / 9));
        },
        [](AnswerModel& m, std::size_t p) { return dynamic_cast<CoupledTables&>(m).logits().gradient(p / 9)[p % 9]; });
    EXPECT_LT(own, 1e-5);
  }
}

/// With tables fixed to the identity and one answer per task the loss is the plain cross-entropy.
TEST(Ccem, ExpertTablesAndOneAnswerArePlainCrossEntropy) {
  const auto crowd = gaussian_crowd(3, 30, 0, 3, 1, {{{1, 0, 0, 0, 1, 0, 0, 0, 1}, -1}});
  const TrainingSet set = training_set(crowd.data);
  CoupledTables model(set, {.start = CoupledTables::Options::Start::expert});
  Rng rng(4);
  std::vector<double> outputs, gradients(90);
  std::vector<std::uint32_t> tasks;
  double expected = 0;
  for (std::uint32_t i = 0; i < 30; ++i) {
    tasks.push_back(i);
    std::vector<double> f{rng.normal(), rng.normal(), rng.normal()};
    outputs.insert(outputs.end(), f.begin(), f.end());
    softmax(f);
    expected -= std::log(f[set.labels_of(i)[0]]) / 30;
  }
  EXPECT_NEAR(model.loss(tasks, {outputs.data(), 30, 3}, {gradients.data(), 30, 3}), expected, 2e-3);
}

TEST(Ccem, NaiveMajorityAndCopiesDoNotMislead) {
  for (const char skill : {'H', 'L'}) {
    for (const int which : {1, 2, 3}) {
      const auto crowd = gaussian_crowd(1, 3000, 5000, 2, 1.3, max_mig_workers(skill, which));
      const Learned learned = testing::run_learner(crowd.data, "ccem", {{"learning_rate", "0.01"}, {"epochs", "20"}},
                                                   {.kind = "linear"}, 1);
      EXPECT_GT(testing::test_accuracy(crowd, learned.row_probabilities), 0.88) << skill << which;
    }
  }
}

}  // namespace
}  // namespace wisecrowd::ccem
