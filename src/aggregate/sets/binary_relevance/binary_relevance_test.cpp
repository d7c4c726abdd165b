#include "aggregate/sets/binary_relevance/binary_relevance.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/sets.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd {
namespace {

using binary_relevance::Base;
using binary_relevance::BinaryRelevance;
using binary_relevance::Options;

TEST(BinaryRelevance, MajorityCountsNamesAndSilence) {
  SetAnswersBuilder builder;
  builder.add("t", "w1", {"a", "b"}).add("t", "w2", {"a"}).add("t", "w3", {}).add("u", "w1", {});
  const SetData data{builder.build(), {}};
  const SetFit fit = BinaryRelevance({.base = Base::majority}).fit(data, RunContext());
  EXPECT_DOUBLE_EQ(fit.probability_of(TaskId{0}, ClassId{0}), 2.0 / 3);
  EXPECT_DOUBLE_EQ(fit.probability_of(TaskId{0}, ClassId{1}), 1.0 / 3);
  EXPECT_EQ(fit.set_of(TaskId{0}), std::vector{ClassId{0}});
  EXPECT_TRUE(fit.is_known(TaskId{1}));
  EXPECT_TRUE(fit.set_of(TaskId{1}).empty());
}

// One class in or out is Dawid and Skene's model of two classes.
TEST(BinaryRelevance, OneClassIsDawidSkene) {
  const SetSimulation crowd = testing::set_crowd(5, {.tasks = 150, .workers = 12, .answers_per_task = 4, .classes = 1});
  CategoryAnswersBuilder builder({"out", "in"});
  const SetAnswers& answers = crowd.data.answers;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (AnswerIndex a = answers.task_offsets()[t]; a < answers.task_offsets()[t + 1]; ++a) {
      builder.add(answers.task_names()[t], answers.worker_names()[index(answers.workers()[a])],
                  answers.set(a).empty() ? "out" : "in");
    }
  }
  Options options;
  options.em.tolerance = 0;
  options.em.max_iterations = 12;  // later each stops when its last digit stands still
  const SetFit sets = BinaryRelevance(options).fit(testing::answers_alone(crowd.data), RunContext());
  Parameters parameters(aggregation_method("dawid_skene").parameters);
  parameters.set("tolerance", "0");
  parameters.set("max_iterations", "12");
  const CategoryFit classes = aggregate(CategoryData{builder.build(), {}, {}}, "dawid_skene", parameters, RunContext());
  EXPECT_NEAR(sets.log_likelihood, classes.log_likelihood, 1e-8 * std::abs(classes.log_likelihood));
  EXPECT_NEAR(sets.trace.back(), classes.trace.back(), 1e-8 * std::abs(classes.trace.back()));
  for (std::size_t t = 0; t < 150; ++t) {
    EXPECT_NEAR(sets.probability[t], classes.posterior[2 * t + 1], 1e-8);
  }
  EXPECT_NEAR(sets.class_prior[0], classes.class_prior[1], 1e-8);
}

TEST(BinaryRelevance, ClassesAreIndependent) {
  const SetSimulation crowd = testing::set_crowd(6, {.tasks = 80, .workers = 8, .answers_per_task = 4, .classes = 5});
  Options options;
  options.em.tolerance = 0;
  options.em.max_iterations = 15;
  const SetFit all = BinaryRelevance(options).fit(testing::answers_alone(crowd.data), RunContext());
  for (std::size_t k = 0; k < 5; ++k) {
    const SetFit one =
        BinaryRelevance(options).fit(testing::only_class(testing::answers_alone(crowd.data), ClassId(k)), RunContext());
    for (std::size_t t = 0; t < 80; ++t) EXPECT_NEAR(one.probability[t], all.probability[t * 5 + k], 1e-9);
  }
}

TEST(BinaryRelevance, LikelihoodIsThatOfEnumeration) {
  const SetSimulation crowd = testing::set_crowd(7, {.tasks = 5, .workers = 4, .answers_per_task = 3, .classes = 3});
  Options options;
  options.em.max_iterations = 3;
  options.em.tolerance = 0;
  options.pseudo_count = 0.5;
  const SetFit before = [&] {
    Options fewer = options;
    fewer.em.max_iterations = 2;
    return BinaryRelevance(fewer).fit(testing::answers_alone(crowd.data), RunContext());
  }();
  const SetFit fit = BinaryRelevance(options).fit(testing::answers_alone(crowd.data), RunContext());
  // The tables and the prior of an iteration come from the posteriors of the one before.
  std::vector<double> posterior;
  const double log_likelihood = testing::enumerated_sets(crowd.data, before.sensitivity, before.specificity,
                                                         testing::mean_probabilities(before), posterior);
  EXPECT_NEAR(fit.log_likelihood, log_likelihood, 1e-9);
  for (std::size_t i = 0; i < posterior.size(); ++i) EXPECT_NEAR(fit.probability[i], posterior[i], 1e-9);
}

TEST(BinaryRelevance, ObjectiveNeverFalls) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const SetSimulation crowd =
        testing::set_crowd(seed, {.tasks = 100, .workers = 15, .answers_per_task = 3, .classes = 6});
    for (const auto candidates : {sets::Candidates::all, sets::Candidates::named}) {
      Options options{.pseudo_count = 1};
      options.em.tolerance = 0;
      options.em.max_iterations = 50;
      options.em.sets.candidates = candidates;
      const SetFit fit = BinaryRelevance(options).fit(testing::answers_alone(crowd.data), RunContext());
      for (std::size_t i = 1; i < fit.trace.size(); ++i) {
        ASSERT_GE(fit.trace[i], fit.trace[i - 1] - 1e-10 * std::abs(fit.trace[i])) << "seed " << seed;
      }
    }
  }
}

TEST(BinaryRelevance, NamedCandidatesHoldOnlyWhatWasNamed) {
  const SetSimulation crowd = testing::set_crowd(8, {.tasks = 60, .workers = 10, .answers_per_task = 3, .classes = 8});
  Options options;
  options.em.sets.candidates = sets::Candidates::named;
  const SetFit fit = BinaryRelevance(options).fit(testing::answers_alone(crowd.data), RunContext());
  const auto offsets = crowd.data.answers.task_offsets();
  for (std::size_t t = 0; t < 60; ++t) {
    for (const ClassId label : fit.candidates_of(TaskId(t))) {
      bool named = false;
      for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
        const auto set = crowd.data.answers.set(a);
        named = named || std::find(set.begin(), set.end(), label) != set.end();
      }
      EXPECT_TRUE(named);
    }
  }
}

TEST(BinaryRelevance, GoldIsPinnedAndTeachesWorkers) {
  SetSimulation crowd = testing::set_crowd(9, {.tasks = 100, .workers = 6, .answers_per_task = 4, .classes = 4});
  const SetFit fit = BinaryRelevance().fit(crowd.data, RunContext());
  const SetAnswers& answers = crowd.data.answers;
  for (std::size_t t = 0; t < 100; ++t) EXPECT_EQ(fit.set_of(TaskId(t)), *crowd.data.gold[t]);
  double named = 0.01, truths = 0.02;
  for (std::size_t i = 0; i < answers.answers_of(WorkerId{0}).size(); ++i) {
    const auto& gold = crowd.data.gold_of(answers.tasks_of(WorkerId{0})[i]);
    const auto set = answers.set(answers.answers_of(WorkerId{0})[i]);
    if (std::find(gold.begin(), gold.end(), ClassId{0}) == gold.end()) continue;
    truths += 1;
    named += std::find(set.begin(), set.end(), ClassId{0}) == set.end() ? 0 : 1;
  }
  EXPECT_NEAR(fit.sensitivity[0], named / truths, 1e-9);
}

}  // namespace
}  // namespace wisecrowd
