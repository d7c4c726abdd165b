#include "aggregate/categories/dawid_skene/dawid_skene.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "support/slow_reference.hpp"

namespace wisecrowd {
namespace {

using dawid_skene::DawidSkene;
using dawid_skene::Options;

testing::TableUpdate smoothed(double everywhere, double diagonal) {
  return [=](const testing::Counts& n) {
    testing::Counts tables = n;
    for (auto& table : tables) {
      for (std::size_t k = 0; k < table.size(); ++k) {
        double total = 0;
        for (std::size_t l = 0; l < table.size(); ++l) {
          table[k][l] += everywhere + (k == l ? diagonal : 0);
          total += table[k][l];
        }
        for (double& p : table[k]) p /= total;
      }
    }
    return tables;
  };
}

void expect_equal(const CategoryFit& fast, const testing::SlowFit& slow, double tolerance = 1e-9) {
  const std::size_t classes = fast.class_count;
  EXPECT_NEAR(fast.log_likelihood, slow.log_likelihood.back(), tolerance * 10);
  for (std::size_t e = 0; e < fast.posterior.size(); ++e) {
    ASSERT_NEAR(fast.posterior[e], slow.posterior[e / classes][e % classes], tolerance);
  }
  for (std::size_t e = 0; e < fast.confusion.size(); ++e) {
    ASSERT_NEAR(fast.confusion[e], slow.tables[e / classes / classes][e / classes % classes][e % classes], tolerance);
  }
  for (std::size_t k = 0; k < classes; ++k) EXPECT_NEAR(fast.class_prior[k], slow.class_prior[k], tolerance);
}

TEST(DawidSkene, GoldenVector) {
  Options options;
  options.pseudo_count = 1;
  options.em.tolerance = 0;
  const double posterior[] = {.31860911, .55876044, .51004332, .41511748};
  const double objective[] = {-14.5666389979, -14.3936963528, -14.3642644324};
  const double likelihood[] = {-5.8323440252, -5.8472461463, -5.8680401373};
  for (std::size_t iterations = 1; iterations <= 3; ++iterations) {
    options.em.max_iterations = iterations;
    const auto result = DawidSkene(options).fit(testing::golden_tiny(), RunContext());
    EXPECT_NEAR(result.trace.back(), objective[iterations - 1], 1e-9);
    EXPECT_NEAR(result.log_likelihood, likelihood[iterations - 1], 1e-9);
    if (iterations < 3) continue;
    for (std::size_t t = 0; t < 4; ++t) EXPECT_NEAR(result.posterior[t * 2 + 1], posterior[t], 1e-8);
  }
}

// All row widths of the kernel, and both class priors.
TEST(DawidSkene, AgreesWithTheSlowReference) {
  for (std::size_t classes = 2; classes <= 20; ++classes) {
    const auto crowd = testing::small_crowd(classes, 90, 9, classes, 4);
    for (const bool learn : {false, true}) {
      Options options{.pseudo_count = 0.3, .diagonal_pseudo_count = 1.5};
      options.em.class_prior = learn ? EmOptions::ClassPrior::learned : EmOptions::ClassPrior::uniform;
      options.em.class_pseudo_count = 0.7;
      options.em.max_iterations = 8;
      options.em.tolerance = 0;
      expect_equal(DawidSkene(options).fit(crowd.data, RunContext({.threads = 2})),
                   testing::slow_em(crowd.data, learn, 0.7, 8, smoothed(0.3, 1.5)));
    }
  }
}

TEST(DawidSkene, GoldAndTaskPriorsAgreeWithTheSlowReference) {
  auto crowd = testing::small_crowd(31, 120, 8, 3, 3);
  crowd.data.gold.assign(120, kNoClass);
  for (std::size_t t = 0; t < 120; t += 4) crowd.data.gold[t] = crowd.truth[t];
  Options options{.pseudo_count = 0.2};
  options.em.max_iterations = 9;
  options.em.tolerance = 0;
  expect_equal(DawidSkene(options).fit(crowd.data, RunContext()),
               testing::slow_em(crowd.data, true, 0, 9, smoothed(0.2, 0)));

  Rng rng(1);
  crowd.data.task_priors.resize(120 * 3);
  const std::vector<double> flat(3, 1.0);
  for (std::size_t t = 0; t < 120; ++t) rng.dirichlet(flat, std::span(crowd.data.task_priors).subspan(t * 3, 3));
  expect_equal(DawidSkene(options).fit(crowd.data, RunContext()),
               testing::slow_em(crowd.data, true, 0, 9, smoothed(0.2, 0)));
}

// A gold task of weight 3 is three copies of it.
TEST(DawidSkene, GoldWeightCountsCopies) {
  const auto crowd = testing::small_crowd(41, 40, 6, 3, 4);
  const auto build = [&](std::size_t copies) {
    CategoryAnswersBuilder builder({"c0", "c1", "c2"});
    std::vector<ClassId> gold;
    for (std::uint32_t t = 0; t < 40; ++t) {
      for (std::size_t c = 0; c < (t < 10 ? copies : 1); ++c) {
        const std::string name = std::to_string(t) + "/" + std::to_string(c);
        const auto workers = crowd.data.answers.workers_of(TaskId{t});
        for (std::size_t a = 0; a < workers.size(); ++a) {
          builder.add(name, crowd.data.answers.worker_names()[index(workers[a])],
                      crowd.data.answers.class_names()[index(crowd.data.answers.labels_of(TaskId{t})[a])]);
        }
        gold.push_back(t < 10 ? crowd.truth[t] : kNoClass);
      }
    }
    return CategoryData{builder.build(), gold, {}};
  };
  Options weighted, copied;
  weighted.em.gold_weight = 3;
  const auto one = DawidSkene(weighted).fit(build(1), RunContext());
  const auto three = DawidSkene(copied).fit(build(3), RunContext());
  EXPECT_NEAR(one.trace.back(), three.trace.back(), 1e-5);
  for (std::size_t t = 10; t < 40; ++t) {
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(one.posterior[t * 3 + k], three.posterior[(t + 20) * 3 + k], 1e-5);
  }
}

TEST(DawidSkene, LikelihoodIsThatOfEnumeration) {
  for (const std::size_t classes : {2U, 3U}) {
    const auto crowd = testing::small_crowd(17, 6, 4, classes, 3);
    Options options{.pseudo_count = 0.5};
    options.em.max_iterations = 4;
    const auto result = DawidSkene(options).fit(crowd.data, RunContext());
    EXPECT_NEAR(result.log_likelihood,
                testing::enumerated_log_likelihood(crowd.data.answers, result.class_prior, result.confusion), 1e-9);
  }
}

TEST(DawidSkene, AllGoldGivesSmoothedEmpiricalTables) {
  auto crowd = testing::small_crowd(19, 80, 5, 3, 4);
  crowd.data.gold = crowd.truth;
  const auto result = DawidSkene({.pseudo_count = 0.25}).fit(crowd.data, RunContext());
  for (std::uint32_t w = 0; w < 5; ++w) {
    std::vector<double> counts(9, 0.25);
    const auto tasks = crowd.data.answers.tasks_of(WorkerId{w});
    const auto answers = crowd.data.answers.answers_of(WorkerId{w});
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      counts[index(crowd.truth[index(tasks[i])]) * 3 + index(crowd.data.answers.labels()[answers[i]])] += 1;
    }
    for (std::size_t k = 0; k < 3; ++k) {
      const double total = counts[k * 3] + counts[k * 3 + 1] + counts[k * 3 + 2];
      for (std::size_t l = 0; l < 3; ++l) {
        EXPECT_NEAR(result.confusion[(w * 3 + k) * 3 + l], counts[k * 3 + l] / total, 1e-12);
      }
    }
  }
}

// The likelihood may fall while the log-posterior rises: the monitored quantity is the latter.
TEST(DawidSkene, LogPosteriorNeverFalls) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto crowd = testing::small_crowd(seed, 200, 30, 4, 3);
    Options options{.pseudo_count = 1};
    options.em.tolerance = 0;
    options.em.max_iterations = 100;
    const auto result = DawidSkene(options).fit(crowd.data, RunContext());
    for (std::size_t i = 1; i < result.trace.size(); ++i) {
      ASSERT_GE(result.trace[i], result.trace[i - 1] - 1e-10 * std::abs(result.trace[i])) << "seed " << seed;
    }
  }
}

TEST(DawidSkene, RestartsNeverLoseAgainstOneStart) {
  const auto crowd = testing::small_crowd(23, 150, 25, 4, 2);
  Options options{.pseudo_count = 0.05};
  const auto one = DawidSkene(options).fit(crowd.data, RunContext());
  options.em.restarts = 10;
  const auto best = DawidSkene(options).fit(crowd.data, RunContext());
  EXPECT_GE(best.trace.back(), one.trace.back());
  EXPECT_NE(
      std::find_if(best.learned.begin(), best.learned.end(), [](const auto& l) { return l.first == "best_start"; }),
      best.learned.end());
}

// The estimation error of the tables falls like one over the square root of the number of tasks.
TEST(DawidSkene, RecoversTablesAsDataGrow) {
  constexpr std::size_t kWorkers = 25, kClasses = 3;
  std::vector<double> errors;
  for (const std::size_t tasks : {1000U, 10000U, 100000U}) {
    Rng rng(77);
    std::vector<double> tables(kWorkers * kClasses * kClasses);
    for (std::size_t row = 0; row < kWorkers * kClasses; ++row) {
      double* p = tables.data() + row * kClasses;
      double total = 0;
      for (std::size_t l = 0; l < kClasses; ++l) total += p[l] = rng.uniform() + (l == row % kClasses ? 1.0 : 0.0);
      for (std::size_t l = 0; l < kClasses; ++l) p[l] /= total;
    }
    std::vector<CategoryAnswer> answers;
    for (std::uint32_t t = 0; t < tasks; ++t) {
      const std::size_t z = rng.below(kClasses);
      for (std::uint32_t w = 0; w < kWorkers; ++w) {
        if (!rng.bernoulli(0.3)) continue;
        const auto label = rng.categorical({tables.data() + (w * kClasses + z) * kClasses, kClasses});
        answers.push_back({TaskId{t}, WorkerId{w}, ClassId{static_cast<std::uint16_t>(label)}});
      }
    }
    const std::vector<std::string> task_names(tasks), worker_names(kWorkers), class_names{"0", "1", "2"};
    const CategoryData data{
        make_category_answers(answers, {NameTable(task_names), NameTable(worker_names), NameTable(class_names)}),
        {},
        {}};
    const auto result = DawidSkene().fit(data, RunContext());
    double error = 0;
    for (std::size_t e = 0; e < tables.size(); ++e) error += std::abs(result.confusion[e] - tables[e]);
    errors.push_back(error / static_cast<double>(tables.size()));
  }
  EXPECT_LT(errors[1], errors[0] / 2);
  EXPECT_LT(errors[2], errors[1] / 2.2);
  EXPECT_LT(errors[2], 0.01);
}

TEST(DawidSkene, WarnsOfAFlippedSolution) {
  // Two adversaries who agree outvote an honest worker on most tasks, gold tells the truth on a few.
  CategoryAnswersBuilder builder({"no", "yes"});
  std::vector<ClassId> gold;
  for (int t = 0; t < 60; ++t) {
    const bool truth = t % 2 == 0;
    const std::string task = std::to_string(t);
    builder.add(task, "liar1", truth ? "no" : "yes").add(task, "liar2", truth ? "no" : "yes");
    builder.add(task, "honest", truth ? "yes" : "no");
    gold.push_back(t < 20 ? ClassId{static_cast<std::uint16_t>(truth ? 1 : 0)} : kNoClass);
  }
  const CategoryData data{builder.build(), gold, {}};
  const auto result = DawidSkene().fit(data, RunContext());
  EXPECT_EQ(result.labels[40], ClassId{1});
  EXPECT_TRUE(std::any_of(result.warnings.begin(), result.warnings.end(),
                          [](const Warning& w) { return w.code == "flipped_solution"; }));
}

}  // namespace
}  // namespace wisecrowd
