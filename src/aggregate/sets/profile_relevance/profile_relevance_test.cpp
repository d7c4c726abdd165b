#include "aggregate/sets/profile_relevance/profile_relevance.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/sets.hpp"
#include "wisecrowd/evaluate_sets.hpp"
#include "wisecrowd/held_out.hpp"

namespace wisecrowd {
namespace {

using profile_relevance::Options;
using profile_relevance::ProfileRelevance;

TEST(ProfileRelevance, OneProfileIsSharedRelevance) {
  const SetSimulation crowd = testing::set_crowd(2, {.tasks = 120, .workers = 12, .answers_per_task = 4, .classes = 5});
  const SetData data = testing::answers_alone(crowd.data);
  const SetFit one = ProfileRelevance({.profiles = 1}).fit(data, RunContext());
  const SetFit shared = aggregate(data, "shared_relevance");
  EXPECT_EQ(one.probability, shared.probability);
  EXPECT_EQ(one.trace, shared.trace);
}

TEST(ProfileRelevance, BoundNeverFalls) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const SetSimulation crowd =
        testing::set_crowd(seed, {.tasks = 100, .workers = 15, .answers_per_task = 3, .classes = 8});
    for (const auto candidates : {sets::Candidates::all, sets::Candidates::named}) {
      Options options;
      options.em.tolerance = 0;
      options.em.max_iterations = 60;
      options.em.sets.candidates = candidates;
      const SetFit fit = ProfileRelevance(options).fit(testing::answers_alone(crowd.data), RunContext({.seed = seed}));
      for (std::size_t i = 1; i < fit.trace.size(); ++i) {
        ASSERT_GE(fit.trace[i], fit.trace[i - 1] - 1e-10 * std::abs(fit.trace[i])) << "seed " << seed << " at " << i;
      }
    }
  }
}

// Classes that always go together: one answer that names one of them makes the other probable.
TEST(ProfileRelevance, LearnsThatClassesOccurTogether) {
  SetAnswersBuilder builder;
  for (int t = 0; t < 60; ++t) {
    const std::string task = "t" + std::to_string(t);
    const std::vector<std::string> both =
        t % 2 == 0 ? std::vector<std::string>{"beach", "sea"} : std::vector<std::string>{"snow", "ski"};
    for (const char* worker : {"v", "w"}) builder.add(task, worker, both);
    builder.add(task, "u", t % 3 == 0 ? std::vector{both[0]} : both);  // misses the second class now and then
  }
  builder.add("x", "u", {"beach"}).add("y", "u", {"snow"});
  const SetAnswers answers = builder.build();
  const SetFit fit = ProfileRelevance({.profiles = 2}).fit({answers, {}}, RunContext());
  const auto of = [&](const char* task, const char* label) {
    std::size_t t = 0, k = 0;
    while (answers.task_names()[t] != task) ++t;
    while (answers.class_names()[k] != label) ++k;
    return fit.probability_of(TaskId(t), ClassId(k));
  };
  EXPECT_GT(of("x", "sea"), 10 * of("x", "ski"));
  EXPECT_GT(of("y", "ski"), 10 * of("y", "sea"));
}

// Where classes are correlated, hidden sets are predicted better, and the truth is found more often.
TEST(ProfileRelevance, BeatsIndependentClassesOnCorrelatedOnes) {
  double f1 = 0, ahead = 0;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const SetSimulation crowd =
        testing::set_crowd(seed, {.tasks = 800, .workers = 40, .answers_per_task = 3, .classes = 12},
                           {{"contrast", "3"}, {"profiles", "3"}});
    const SetData data = testing::answers_alone(crowd.data);
    const RunContext context({.seed = seed});
    f1 += evaluate_sets(ProfileRelevance({.profiles = 3}).fit(data, context), crowd.data.gold).micro_f1.value;
    f1 -= evaluate_sets(aggregate(data, "shared_relevance"), crowd.data.gold).micro_f1.value;
    const HeldOut<Sets> held_out(data, {.folds = 1, .share = 0.1}, context);
    const auto shared =
        make_method<Sets>("shared_relevance", Parameters(method_of<Sets>("shared_relevance").parameters));
    const auto with = held_out.log_probabilities(ProfileRelevance({.profiles = 3}), context);
    const auto without = held_out.log_probabilities(*shared, context);
    for (std::size_t i = 0; i < with.size(); ++i) ahead += (with[i] - without[i]) / static_cast<double>(with.size());
  }
  EXPECT_GT(f1, 0);
  EXPECT_GT(ahead, 0);
}

}  // namespace
}  // namespace wisecrowd
