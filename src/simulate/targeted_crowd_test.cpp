#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "wisecrowd/simulate.hpp"

namespace wisecrowd {
namespace {

/// Log odds over given features have the mean and the deviation asked for, whatever the scale of the features, and the
/// same task is hard for one worker and easy for another.
TEST(Tasks, TargetedWorkersOverGivenFeatures) {
  constexpr std::size_t kTasks = 2000, kWorkers = 300;
  GivenTasks given;
  std::vector<std::string> names;
  std::vector<float> features;
  Rng rng(5);
  for (std::size_t t = 0; t < kTasks; ++t) {
    names.push_back(fmt::format("t{}", t));
    given.truth.push_back(ClassId(rng.below(3)));
    for (std::size_t c = 0; c < 20; ++c) {
      features.push_back(c == 7 ? 3.0F : static_cast<float>(100 * rng.normal() + 1000));
    }
  }
  given.names = NameTable(names);
  given.classes = NameTable(std::vector<std::string>{"a", "b", "c"});
  given.features = features;
  given.feature_columns = 20;
  Parameters parameters(simulation_kind("lftc").parameters);
  parameters.set("level", "1");
  parameters.set("spread", "0.8");
  const Simulation s =
      simulate("lftc", {kTasks, kWorkers, 3, 20}, parameters, RunContext({.seed = 3}), {.given = &given});
  double sum = 0, squares = 0, count = 0;
  for (std::size_t t = 0; t < kTasks; ++t) {
    for (auto a = s.data.answers.task_offsets()[t]; a < s.data.answers.task_offsets()[t + 1]; ++a) {
      const double eta = s.reliability[a], odds = std::log(eta / (1 - eta));
      sum += odds;
      squares += odds * odds;
      count += 1;
      EXPECT_EQ(s.data.answers.labels()[a] == given.truth[t], eta > 0.5) << eta;
    }
  }
  EXPECT_NEAR(sum / count, 1, 0.03);
  EXPECT_NEAR(std::sqrt(squares / count - sum * sum / count / count), 0.8, 0.15);  // columns share chance correlations
}

}  // namespace
}  // namespace wisecrowd
