#include "wisecrowd/incremental.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/crowds.hpp"
#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/state.hpp"

namespace wisecrowd {
namespace {

using testing::small_crowd;

/// All answers of a data set in task order, one after the other.
IncrementalCrowd absorbed(const CategoryAnswers& answers, const IncrementalOptions& options) {
  IncrementalCrowd crowd(answers.class_count(), options);
  for (std::size_t w = 0; w < answers.worker_count(); ++w) crowd.add_worker();
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const TaskId task = crowd.add_task();
    for (std::size_t a = 0; a < answers.workers_of(task).size(); ++a) {
      crowd.add_answer(task, answers.workers_of(task)[a], answers.labels_of(task)[a]);
      crowd.estimate(task);
    }
  }
  return crowd;
}

CategoryFit batch(const CategoryData& data, const IncrementalOptions& options, double tolerance,
                  std::int64_t iterations, const CategoryStart& start = {}) {
  Parameters parameters(aggregation_method("dawid_skene").parameters);
  const auto classes = static_cast<double>(data.answers.class_count());
  const double wrong = options.prior.answers * (1 - options.prior.accuracy) / (classes - 1);
  parameters.set_value("pseudo_count", wrong);
  parameters.set_value("diagonal_pseudo_count", options.prior.answers * options.prior.accuracy - wrong);
  parameters.set_value("class_pseudo_count", options.class_pseudo_count);
  parameters.set_value("class_prior", std::string(options.learned_class_prior ? "learned" : "uniform"));
  parameters.set_value("tolerance", tolerance);
  parameters.set_value("max_iterations", iterations);
  return aggregate(data, "dawid_skene", parameters, RunContext(RunOptions{.threads = 1}), start);
}

/// The objective stands still to the last bit when posteriors still move by 1e-8, so the fit is started again from
/// where it ended until they do not move either.
CategoryFit converged_batch(const CategoryData& data, const IncrementalOptions& options) {
  CategoryFit fit = batch(data, options, 0, 4000);
  for (int again = 0; again < 2000; ++again) {
    CategoryFit next = batch(data, options, 0, 20, {.posterior = fit.posterior});
    double moved = 0;
    for (std::size_t i = 0; i < fit.posterior.size(); ++i) {
      moved = std::max(moved, std::abs(fit.posterior[i] - next.posterior[i]));
    }
    fit = std::move(next);
    if (moved < 1e-13) break;
  }
  return fit;
}

double accuracy(const IncrementalCrowd& crowd, const std::vector<ClassId>& truth) {
  std::size_t right = 0;
  for (std::size_t t = 0; t < truth.size(); ++t) {
    const auto q = crowd.posterior_of(TaskId(t));
    right += std::max_element(q.begin(), q.end()) - q.begin() == static_cast<std::ptrdiff_t>(index(truth[t])) ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(truth.size());
}

class IncrementalEqualsBatch : public ::testing::TestWithParam<bool> {};

TEST_P(IncrementalEqualsBatch, WhenRunToConvergence) {
  for (const std::size_t classes : {2, 3, 5}) {
    const auto world = small_crowd(7 + classes, 300, 20, classes, 7);
    IncrementalOptions options;
    options.learned_class_prior = GetParam();
    IncrementalCrowd crowd = absorbed(world.data.answers, options);
    EXPECT_EQ(crowd.converge(5000, 1e-14, RunContext()), Status::converged);
    const CategoryFit expected = converged_batch(world.data, options);
    double furthest = 0;
    for (std::size_t t = 0; t < crowd.task_count(); ++t) {
      for (std::size_t k = 0; k < classes; ++k) {
        furthest = std::max(furthest, std::abs(crowd.posterior_of(TaskId(t))[k] - expected.posterior_of(TaskId(t))[k]));
      }
    }
    for (std::size_t w = 0; w < crowd.worker_count(); ++w) {
      const auto table = crowd.confusion_of(WorkerId(w));
      for (std::size_t c = 0; c < table.size(); ++c) {
        furthest = std::max(furthest, std::abs(table[c] - expected.confusion_of(WorkerId(w))[c]));
      }
    }
    for (std::size_t k = 0; k < classes; ++k) {
      furthest = std::max(furthest, std::abs(crowd.class_prior()[k] - expected.class_prior[k]));
    }
    EXPECT_LT(furthest, 1e-9) << classes << " classes";
  }
}
INSTANTIATE_TEST_SUITE_P(ClassPrior, IncrementalEqualsBatch, ::testing::Bool());

TEST(Incremental, KnownTruthsEndWhereBatchEmWithGoldEnds) {
  auto world = small_crowd(11, 200, 15, 3, 5);
  IncrementalOptions options;
  IncrementalCrowd crowd = absorbed(world.data.answers, options);
  world.data.gold.assign(200, kNoClass);
  for (std::size_t t = 0; t < 200; t += 4) {
    world.data.gold[t] = world.truth[t];
    crowd.pin(TaskId(t), world.truth[t]);
  }
  EXPECT_EQ(crowd.converge(5000, 1e-14, RunContext()), Status::converged);
  const CategoryFit expected = converged_batch(world.data, options);
  for (std::size_t t = 0; t < 200; ++t) {
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(crowd.posterior_of(TaskId(t))[k], expected.posterior_of(TaskId(t))[k], 1e-9);
    }
  }
}

/// The counts are the sums of the posteriors at any moment, whatever came in between.
TEST(Incremental, CountsAreTheSumsOfPosteriors) {
  const auto world = small_crowd(3, 60, 9, 3, 4);
  for (const double least_change : {0.0, 0.05}) {
    IncrementalOptions options;
    options.least_change = least_change;
    IncrementalCrowd crowd = absorbed(world.data.answers, options);
    crowd.replace_answer(TaskId{5}, world.data.answers.workers_of(TaskId{5})[0], ClassId{2});
    crowd.sweep();
    std::vector<double> expected(9 * 9, 0.0);
    std::vector<double> mass(3, 0.0);
    for (std::size_t t = 0; t < 60; ++t) {
      const auto workers = world.data.answers.workers_of(TaskId(t));
      for (std::size_t k = 0; k < 3; ++k) mass[k] += crowd.posterior_of(TaskId(t))[k];
      for (std::size_t a = 0; a < workers.size(); ++a) {
        const ClassId label = t == 5 && a == 0 ? ClassId{2} : world.data.answers.labels_of(TaskId(t))[a];
        for (std::size_t k = 0; k < 3; ++k) {
          expected[index(workers[a]) * 9 + k * 3 + index(label)] += crowd.posterior_of(TaskId(t))[k];
        }
      }
    }
    for (std::size_t w = 0; w < 9; ++w) {
      for (std::size_t c = 0; c < 9; ++c) EXPECT_NEAR(crowd.counts_of(WorkerId(w))[c], expected[w * 9 + c], 1e-11);
    }
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(crowd.class_mass()[k], mass[k], 1e-11);
  }
}

TEST(Incremental, AReplacedAnswerLeavesNoTrace) {
  IncrementalOptions options;
  IncrementalCrowd once(2, options), twice(2, options);
  for (IncrementalCrowd* crowd : {&once, &twice}) {
    for (int w = 0; w < 3; ++w) crowd->add_worker();
    for (int t = 0; t < 4; ++t) {
      crowd->add_task();
      for (std::uint32_t w = 0; w < 3; ++w) {
        const bool slip = crowd == &twice && t == 2 && w == 1;
        crowd->add_answer(TaskId(t), WorkerId(w), ClassId(slip ? 1 : (t + (w == 2 ? 1 : 0)) % 2));
      }
      crowd->estimate(TaskId(t));
    }
  }
  twice.replace_answer(TaskId{2}, WorkerId{1}, ClassId{0});
  for (IncrementalCrowd* crowd : {&once, &twice}) {
    ASSERT_EQ(crowd->converge(20000, 1e-15, RunContext()), Status::converged);
  }
  for (std::size_t t = 0; t < 4; ++t) {
    EXPECT_NEAR(once.posterior_of(TaskId(t))[0], twice.posterior_of(TaskId(t))[0], 1e-9);
  }
}

/// A new worker is taken to be right with the prior's probability.
TEST(Incremental, TheFirstAnswerIsWorthThePrior) {
  IncrementalOptions options;
  options.learned_class_prior = false;
  IncrementalCrowd crowd(4, options);
  crowd.add_worker();
  crowd.add_task();
  EXPECT_DOUBLE_EQ(crowd.posterior_of(TaskId{0})[1], 0.25);
  crowd.add_answer(TaskId{0}, WorkerId{0}, ClassId{1});
  crowd.estimate(TaskId{0});
  EXPECT_NEAR(crowd.posterior_of(TaskId{0})[1], 0.7, 1e-12);
  EXPECT_NEAR(crowd.posterior_of(TaskId{0})[3], 0.1, 1e-12);
}

/// Classes that come late lead to the same fit as classes known from the start.
TEST(Incremental, AClassMayAppearLate) {
  const auto world = small_crowd(11, 200, 15, 3, 8);
  const CategoryAnswers& answers = world.data.answers;
  IncrementalOptions options;
  IncrementalCrowd late(2, options);
  IncrementalCrowd early(3, options);
  for (std::size_t w = 0; w < answers.worker_count(); ++w) late.add_worker(), early.add_worker();
  for (std::size_t t = 0; t < answers.task_count(); ++t) late.add_task(), early.add_task();
  for (const bool third : {false, true}) {
    if (third) {
      EXPECT_EQ(late.add_class(), ClassId{2});
    }
    for (std::size_t t = 0; t < answers.task_count(); ++t) {
      const auto task = TaskId(t);
      for (std::size_t a = 0; a < answers.workers_of(task).size(); ++a) {
        if ((answers.labels_of(task)[a] == ClassId{2}) != third) continue;
        for (IncrementalCrowd* crowd : {&late, &early}) {
          crowd->add_answer(task, answers.workers_of(task)[a], answers.labels_of(task)[a]);
          crowd->estimate(task);
        }
      }
    }
  }
  for (IncrementalCrowd* crowd : {&late, &early}) {
    ASSERT_EQ(crowd->converge(5000, 1e-14, RunContext()), Status::converged);
  }
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(late.posterior_of(TaskId(t))[k], early.posterior_of(TaskId(t))[k], 1e-9);
    }
  }
}

TEST(Incremental, FromNothing) {
  IncrementalCrowd crowd(0, {});
  crowd.add_task();
  crowd.add_worker();
  EXPECT_EQ(crowd.sweep(), 0);
  crowd.add_class();
  crowd.add_class();
  crowd.add_answer(TaskId{0}, WorkerId{0}, ClassId{1});
  crowd.sweep();
  EXPECT_GT(crowd.posterior_of(TaskId{0})[1], 0.5);
  IncrementalCrowd one(1, {});
  one.add_worker();
  one.add_task();
  one.add_answer(TaskId{0}, WorkerId{0}, ClassId{0});
  one.sweep();
  EXPECT_DOUBLE_EQ(one.posterior_of(TaskId{0})[0], 1);
}

/// E4 (a): within 2 points of batch accuracy, tasks labelled by the tables at the end.
TEST(Stochastic, IsNearlyAsAccurateAsBatch) {
  double worst = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto world = small_crowd(seed, 2000, 30, 4, 6);
    IncrementalOptions options;
    options.update = IncrementalOptions::Update::stochastic;
    IncrementalCrowd crowd = absorbed(world.data.answers, options);
    crowd.sweep();  // posteriors by the final tables; the tables stay
    const CategoryFit expected = batch(world.data, options, 1e-8, 300);
    std::size_t right = 0;
    for (std::size_t t = 0; t < 2000; ++t) right += expected.labels[t] == world.truth[t] ? 1 : 0;
    worst = std::max(worst, static_cast<double>(right) / 2000 - accuracy(crowd, world.truth));
  }
  EXPECT_LT(worst, 0.02);
}

/// With a memory, a worker who turns from honest to contrary is found out; without, much later.
TEST(Stochastic, ForgetsWhenAskedTo) {
  const auto last_accuracy = [](double memory) {
    IncrementalOptions options;
    options.update = IncrementalOptions::Update::stochastic;
    options.memory = memory;
    IncrementalCrowd crowd(2, options);
    for (int w = 0; w < 4; ++w) crowd.add_worker();
    for (std::uint32_t t = 0; t < 2000; ++t) {
      crowd.add_task();
      for (std::uint32_t w = 0; w < 4; ++w) {
        const bool lies = w == 0 && t >= 1900;
        crowd.add_answer(TaskId(t), WorkerId(w), ClassId((t + (lies ? 1 : 0)) % 2));
      }
      crowd.estimate(TaskId(t));
    }
    return crowd.confusion_of(WorkerId{0})[0];
  };
  EXPECT_LT(last_accuracy(30), 0.2);
  EXPECT_GT(last_accuracy(0), 0.2);
}

}  // namespace
}  // namespace wisecrowd
