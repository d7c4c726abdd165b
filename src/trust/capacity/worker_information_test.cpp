#include "wisecrowd/worker_information.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "wisecrowd/trust.hpp"

namespace wisecrowd {
namespace {

/// Known truth; the first half of the workers guess, the others are right.
struct Known {
  CategoryAnswers answers;
  std::vector<double> posterior;
};

Known known_crowd(std::size_t classes, std::size_t tasks, std::size_t workers) {
  Rng rng(classes);
  std::vector<std::string> names;
  for (std::size_t k = 0; k < classes; ++k) names.push_back(std::to_string(k));
  CategoryAnswersBuilder builder(names);
  for (std::size_t t = 0; t < tasks; ++t) {
    for (std::size_t w = 0; w < workers; ++w) {
      const std::size_t said = 2 * w < workers ? rng.below(classes) : t % classes;
      builder.add(std::to_string(t), std::to_string(w), std::to_string(said));
    }
  }
  Known known{builder.build(), std::vector<double>(tasks * classes, 0.0)};
  for (std::size_t t = 0; t < tasks; ++t) known.posterior[t * classes + t % classes] = 1;
  return known;
}

TEST(WorkerInformation, ChanceIsTakenOff) {
  for (const std::size_t classes : {2U, 4U}) {
    const std::size_t tasks = 400, workers = 60;
    const Known known = known_crowd(classes, tasks, workers);
    const std::vector<double> shares(classes, 1 / static_cast<double>(classes));
    const auto told = worker_information(known.answers, known.posterior, {}, shares, {}, RunContext());
    const double bias = std::pow(classes - 1.0, 2) / (2.0 * tasks);
    double by_chance = 0, above = 0, tails = 0;
    for (std::size_t w = 0; w < workers / 2; ++w) {
      by_chance += told[w].information_by_chance / (workers / 2.0);
      above += told[w].capacity_above_chance() / (workers / 2.0);
      tails += told[w].tail / (workers / 2.0);
    }
    EXPECT_NEAR(by_chance / bias, 1, .1) << classes;
    EXPECT_LT(above, .7 * bias);
    EXPECT_NEAR(tails, .5, .15);
    for (std::size_t w = workers / 2; w < workers; ++w) {
      EXPECT_NEAR(told[w].capacity, std::log(static_cast<double>(classes)), 1e-5);
      EXPECT_NEAR(told[w].information, std::log(static_cast<double>(classes)), 1e-5);
      EXPECT_NEAR(told[w].tail, 1.0 / 21, 1e-12);
    }
  }
}

TEST(WorkerInformation, SameForAnyNumberOfThreads) {
  const Known known = known_crowd(3, 60, 40);
  const std::vector<double> shares(3, 1.0 / 3);
  const auto one = worker_information(known.answers, known.posterior, {}, shares, {}, RunContext({.threads = 1}));
  const auto three = worker_information(known.answers, known.posterior, {}, shares, {}, RunContext({.threads = 3}));
  for (std::size_t w = 0; w < 40; ++w) EXPECT_EQ(one[w].capacity_by_chance, three[w].capacity_by_chance);
}

TEST(WorkerInformation, AWorkersOwnAnswerDoesNotConfirmItself) {
  // Alone on its tasks: without its own answer nothing is known.
  CategoryAnswersBuilder builder;
  for (int t = 0; t < 40; ++t) builder.add(std::to_string(t), "alone", std::to_string(t % 2));
  const auto answers = builder.build();
  const std::vector<double> table{.9, .1, .1, .9}, shares{.5, .5};
  std::vector<double> posterior;
  for (const ClassId label : answers.labels()) {
    posterior.push_back(index(label) == 0 ? .9 : .1);
    posterior.push_back(index(label) == 0 ? .1 : .9);
  }
  const auto told = worker_information(answers, posterior, table, shares, {}, RunContext());
  EXPECT_NEAR(told[0].capacity, 0, 1e-9);
  EXPECT_NEAR(told[0].capacity_above_chance(), 0, 1e-9);
}

TEST(WeightedSpammerScore, IsThePlainOneForEvenClasses) {
  const std::vector<double> table{.7, .2, .1, .1, .8, .1, .3, .3, .4}, even(3, 1.0 / 3);
  EXPECT_NEAR(weighted_spammer_score(table, even), spammer_score(table, 3), 1e-12);
  const std::vector<double> perfect{1, 0, 0, 0, 1, 0, 0, 0, 1}, uneven{.8, .15, .05};
  EXPECT_NEAR(weighted_spammer_score(perfect, uneven), 1, 1e-12);
  // Only the rare class is told from the others: worth little where it is rare.
  const std::vector<double> rare{.5, .5, 0, .5, .5, 0, 0, 0, 1};
  EXPECT_LT(weighted_spammer_score(rare, uneven), spammer_score(rare, 3));
}

}  // namespace
}  // namespace wisecrowd
