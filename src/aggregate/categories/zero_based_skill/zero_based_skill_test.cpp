#include "aggregate/categories/zero_based_skill/zero_based_skill.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/rng.hpp"

namespace wisecrowd {
namespace {

CategoryData crowd() {
  CategoryAnswersBuilder builder({"0", "1", "2"});
  Rng rng(3);
  for (int t = 0; t < 200; ++t) {
    for (int w = 0; w < 8; ++w) {
      const double accuracy = w < 3 ? 0.9 : 0.4;
      const auto label = rng.bernoulli(accuracy) ? t % 3 : static_cast<int>(rng.below(3));
      builder.add(std::to_string(t), std::to_string(w), std::to_string(label));
    }
  }
  return {builder.build(), {}, {}};
}

// With learning rate 1 the first round sets skills to agreement with the plain vote, which is what Wawa does.
TEST(ZeroBasedSkill, OneFullStepIsWawa) {
  const CategoryData data = crowd();
  const auto one = zero_based_skill::ZeroBasedSkill({.max_iterations = 1}).fit(data, RunContext());
  const auto other = aggregate(data, "wawa");
  for (std::size_t w = 0; w < 8; ++w) EXPECT_NEAR(one.skill[w], other.skill[w], 1e-15);
  EXPECT_EQ(one.labels, other.labels);
}

// At a fixed point the skills are the agreement with the vote that they produce.
TEST(ZeroBasedSkill, ConvergesToItsOwnAgreement) {
  const CategoryData data = crowd();
  const auto result = zero_based_skill::ZeroBasedSkill().fit(data, RunContext());
  EXPECT_EQ(result.status, Status::converged);
  for (std::uint32_t w = 0; w < 8; ++w) {
    double agreed = 0;
    const auto tasks = data.answers.tasks_of(WorkerId{w});
    const auto answers = data.answers.answers_of(WorkerId{w});
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      agreed += data.answers.labels()[answers[i]] == result.labels[index(tasks[i])] ? 1 : 0;
    }
    EXPECT_NEAR(result.skill[w], agreed / static_cast<double>(tasks.size()), 1e-5);
  }
}

TEST(ZeroBasedSkill, StopsAtTheIterationLimit) {
  const auto result =
      zero_based_skill::ZeroBasedSkill({.max_iterations = 2, .learning_rate = 0.1}).fit(crowd(), RunContext());
  EXPECT_EQ(result.status, Status::iteration_limit);
  EXPECT_EQ(result.iterations, 2U);
}

}  // namespace
}  // namespace wisecrowd
