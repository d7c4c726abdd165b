#include "learn/raykar/raykar.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "support/learning.hpp"

namespace wisecrowd::raykar {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

TEST(Raykar, ObjectiveNeverFallsAndIsTheLogPosterior) {
  for (const std::size_t classes : {2U, 3U}) {
    std::vector<testing::PlannedWorker> workers;
    Rng rng(3);
    for (int j = 0; j < 6; ++j) {
      std::vector<double> table;
      for (std::size_t k = 0; k < classes; ++k) {
        std::vector<double> row(classes, 1.0);
        row[k] += rng.uniform(0, 4);
        normalise(row);
        table.insert(table.end(), row.begin(), row.end());
      }
      workers.push_back({table, -1});
    }
    auto crowd = gaussian_crowd(2, 150, 0, classes, 1, workers, 0.5);
    crowd.data.crowd.gold.assign(150, kNoClass);
    for (std::size_t t = 0; t < 10; ++t) crowd.data.crowd.gold[t] = crowd.truth[t];
    const Learned learned = testing::run_learner(crowd.data, "raykar",
                                                 {{"tolerance", "0"}, {"max_iterations", "60"}, {"newton_steps", "1"}},
                                                 {.kind = "linear"}, 1);
    const auto& trace = learned.crowd.trace;
    ASSERT_GT(trace.size(), 5U);
    for (std::size_t s = 1; s < trace.size(); ++s) EXPECT_GE(trace[s], trace[s - 1] - 1e-8 * std::abs(trace[s]));
    // The last value, written out from what came out: the prior of the weights is the only part not seen from outside,
    // so it is the difference, and must be that of a unit Gaussian.
    EXPECT_GT(trace.back(), trace.front() + 1);
    EXPECT_TRUE(learned.crowd.objective_is_monotone);
  }
}

/// Σ_i log Σ_k f_k Π_j th_j[k][y_ij], summed by hand over all answers.
TEST(Raykar, LabelsAndLikelihoodByHand) {
  const auto crowd = gaussian_crowd(5, 12, 0, 2, 1, max_mig_workers('H', 1), 0.6);
  const TrainingSet set = training_set(crowd.data);
  RaykarModel model(set, {.pseudo_count = 1e-6});
  const std::vector<double> votes = model.soft_labels();
  model.update_tables();
  const std::vector<double> tables = model.worker_tables();
  // Sensitivity and specificity, as in the paper.
  for (std::size_t j = 0; j < 5; ++j) {
    double ones = 0, ones_said = 0, zeros = 0, zeros_said = 0;
    for (std::size_t i = 0; i < set.task_count(); ++i) {
      for (std::size_t a = 0; a < set.workers_of(i).size(); ++a) {
        if (index(set.workers_of(i)[a]) != j) continue;
        const auto y = static_cast<double>(index(set.labels_of(i)[a]));
        ones += votes[2 * i + 1];
        ones_said += votes[2 * i + 1] * y;
        zeros += votes[2 * i];
        zeros_said += votes[2 * i] * (1 - y);
      }
    }
    EXPECT_NEAR(tables[j * 4 + 3], ones_said / ones, 1e-5);
    EXPECT_NEAR(tables[j * 4], zeros_said / zeros, 1e-5);
  }
  std::vector<double> logits(set.task_count() * 2);
  Rng rng(1);
  for (double& a : logits) a = rng.normal();
  const double objective = model.infer_labels(logits);
  double expected = 0;
  for (const double p : tables) expected += 1e-6 * std::log(p);
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    const double f1 = 1 / (1 + std::exp(logits[2 * i] - logits[2 * i + 1]));
    double like0 = 1 - f1, like1 = f1;
    for (std::size_t a = 0; a < set.workers_of(i).size(); ++a) {
      like0 *= tables[index(set.workers_of(i)[a]) * 4 + index(set.labels_of(i)[a])];
      like1 *= tables[index(set.workers_of(i)[a]) * 4 + 2 + index(set.labels_of(i)[a])];
    }
    expected += std::log(like0 + like1);
    EXPECT_NEAR(model.soft_labels()[2 * i + 1], like1 / (like0 + like1), 1e-12);
  }
  EXPECT_NEAR(objective, expected, 1e-9);
}

/// Features that say nothing: the classifier becomes the class prior, and the method is Dawid and Skene's.
TEST(Raykar, WithoutFeaturesItIsDawidSkene) {
  auto crowd = gaussian_crowd(7, 400, 0, 2, 1, max_mig_workers('H', 1), 0.8);
  std::fill(crowd.data.features.dense.begin(), crowd.data.features.dense.end(), 1.0F);
  const Learned learned = testing::run_learner(
      crowd.data, "raykar",
      {{"tolerance", "1e-13"}, {"max_iterations", "5000"}, {"pseudo_count", "1"}, {"logit_penalty", "1e-9"}},
      {.kind = "linear"}, 1);
  Parameters parameters(aggregation_method("dawid_skene").parameters);
  parameters.set("pseudo_count", "1");
  parameters.set("class_pseudo_count", "0");
  parameters.set("tolerance", "0");
  parameters.set("max_iterations", "3000");
  const CategoryFit ds = aggregate(crowd.data.crowd, "dawid_skene", parameters, RunContext());
  for (std::size_t c = 0; c < ds.posterior.size(); ++c) EXPECT_NEAR(learned.crowd.posterior[c], ds.posterior[c], 2e-3);
}

/// The penalty belongs to the logit: whether a feature is there ten times or a hundred times does not matter.
TEST(Raykar, CopiesOfAFeatureArePenalisedAsOne) {
  const auto crowd = gaussian_crowd(3, 500, 0, 2, 1.3, max_mig_workers('H', 1), 0.5);
  const auto fit = [&](std::size_t copies, const char* penalty) {
    LearningData data = crowd.data;
    data.features.shape = {2 * copies};
    data.features.dense.clear();
    for (std::size_t r = 0; r < data.features.rows; ++r) {
      for (std::size_t c = 0; c < 2 * copies; ++c) {
        data.features.dense.push_back(crowd.data.features.dense[2 * r + c % 2]);
      }
    }
    return testing::run_learner(data, "raykar", {{"logit_penalty", penalty}, {"tolerance", "1e-10"}},
                                {.kind = "linear"}, 1)
        .row_probabilities;
  };
  const auto difference = [](const std::vector<double>& these, const std::vector<double>& those) {
    double worst = 0;
    for (std::size_t cell = 0; cell < these.size(); ++cell)
      worst = std::max(worst, std::abs(these[cell] - those[cell]));
    return worst;
  };
  // Not exactly: the bias is one of 21 coefficients here and one of 201 there.
  const std::vector<double> ten = fit(10, "20");
  EXPECT_LT(difference(ten, fit(100, "20")), 0.02);
  EXPECT_GT(difference(ten, fit(10, "200")), 0.1);
}

/// Independent workers, naive ones too: as good as training on the truth (.903 is the best possible). Copies: it falls.
TEST(Raykar, IndependentNaiveAndCopyingWorkers) {
  double fall = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const auto accuracy = [&](char skill, int which) {
      const auto crowd = gaussian_crowd(seed, 3000, 5000, 2, 1.3, max_mig_workers(skill, which));
      const Learned learned = testing::run_learner(crowd.data, "raykar", {}, {.kind = "linear"}, seed);
      EXPECT_EQ(learned.crowd.status, Status::converged);
      return testing::test_accuracy(crowd, learned.row_probabilities);
    };
    const double alone = accuracy('H', 1);
    EXPECT_GT(alone, 0.892);
    EXPECT_GT(accuracy('H', 2), 0.892);
    fall += (alone - accuracy('H', 3)) / 3;
  }
  EXPECT_GT(fall, 0.1);
}

}  // namespace
}  // namespace wisecrowd::raykar
