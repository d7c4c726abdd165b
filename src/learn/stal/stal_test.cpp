#include "learn/stal/stal.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/parallel.hpp"
#include "learn/stal/mixture.hpp"
#include "support/learning.hpp"

namespace wisecrowd::stal {
namespace {

/// Three clouds far from each other.
Features clouds(std::size_t rows, std::size_t columns) {
  Features features;
  features.rows = rows;
  features.shape = {columns};
  Rng rng(4);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t c = 0; c < columns; ++c) {
      features.dense.push_back(static_cast<float>((c % 3 == row % 3 ? 8 : 0) + rng.normal()));
    }
  }
  return features;
}

TEST(Mixture, FindsCloudsAlsoThroughAProjection) {
  for (const std::size_t columns : {3, 90}) {
    const Features features = clouds(300, columns);
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < 200; ++row) rows.push_back(row);  // the others are only assigned
    ThreadPool one(1), two(2);
    const Features found = memberships_of(find_regions(features, rows, 3, 50, 1e-3, Rng(1), one), features, one);
    ASSERT_EQ(found.columns(), 3U);
    std::vector<std::ptrdiff_t> component;
    for (std::size_t row = 0; row < 300; ++row) {
      const auto share = found.row(row);
      const auto best = std::max_element(share.begin(), share.end());
      EXPECT_GT(*best, 0.99F);
      component.push_back(best - share.begin());
      EXPECT_EQ(component[row], component[row % 3]) << columns;
    }
    EXPECT_NE(component[0], component[1]);
    EXPECT_NE(component[0], component[2]);
    EXPECT_NE(component[1], component[2]);
    EXPECT_EQ(found.dense, memberships_of(find_regions(features, rows, 3, 50, 1e-3, Rng(1), two), features, two).dense);
  }
}

/// Each of three workers knows one cloud and guesses in the others.
TEST(Stal, FindsWhichWorkerKnowsWhichRegion) {
  const std::size_t tasks = 900;
  testing::FeatureCrowd crowd = testing::gaussian_crowd(
      2, tasks, 0, 2, 2, {{{1, 0, 0, 1}, -1}, {{1, 0, 0, 1}, -1}, {{1, 0, 0, 1}, -1}, {{.8, .2, .2, .8}, -1}});
  Features& features = crowd.data.features;
  Rng rng(5);
  std::vector<CategoryAnswer> answers;
  const CategoryAnswers& old = crowd.data.crowd.answers;
  for (std::size_t t = 0; t < tasks; ++t) {
    features.dense[t * 2 + 1] += static_cast<float>(12.0 * static_cast<double>(t % 3));
    for (std::size_t j = 0; j < 4; ++j) {
      const ClassId label = j < 3 && j != t % 3 ? ClassId(rng.below(2)) : old.labels_of(TaskId(t))[j];
      answers.push_back({TaskId(t), WorkerId(j), label});
    }
  }
  CategoryAnswers changed = make_category_answers(answers, {old.task_names(), old.worker_names(), old.class_names()});
  crowd.data.crowd.answers = std::move(changed);
  const Learned learned = testing::run_learner(crowd.data, "stal",
                                               {{"components", "6"},
                                                {"learning_rate", "0.01"},
                                                {"epochs", "20"},
                                                {"held_out", "0"},
                                                {"decoupled_decay", "0"},
                                                {"average_epochs", "0"}},
                                               {.kind = "linear"}, 1);
  double known = 0, guessed = 0;
  for (std::size_t t = 0; t < tasks; ++t) {
    for (std::size_t j = 0; j < 3; ++j) (j == t % 3 ? known : guessed) += learned.answer_reliability[t * 4 + j];
  }
  EXPECT_GT(known / static_cast<double>(tasks), 0.9);
  EXPECT_LT(guessed / static_cast<double>(2 * tasks), 0.6);
  EXPECT_GT(testing::task_accuracy(crowd, learned.crowd.posterior), 0.97);
}

}  // namespace
}  // namespace wisecrowd::stal
