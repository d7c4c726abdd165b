#include <gtest/gtest.h>

#include <map>

#include "wisecrowd/error.hpp"
#include "wisecrowd/simulate.hpp"

namespace wisecrowd {
namespace {

Simulation drawn_attack(const std::string& kind, const SimulationSize& size,
                        const std::vector<std::pair<const char*, const char*>>& settings, unsigned threads = 1) {
  Parameters parameters(simulation_kind(kind).parameters);
  for (const auto& [name, value] : settings) parameters.set(name, value);
  return simulate(kind, size, parameters, RunContext({.seed = 3, .threads = threads}));
}

/// Colluders who slip: what they say alone follows their table, and two of them agree as often as both keep to the plan
/// or meet by chance.
TEST(Colluders, NoiseIsWhatItSays) {
  const double noise = .3, attack = .8;
  const Simulation s =
      drawn_attack("colluders", {20000, 2, 4, 2}, {{"alpha", "1"}, {"p_corr", "0.8"}, {"noise", "0.3"}});
  double agree = 0;
  std::vector<double> said(16, 0.0), truths(4, 0.0);
  for (std::size_t t = 0; t < 20000; ++t) {
    const auto labels = s.data.answers.labels_of(TaskId{static_cast<std::uint32_t>(t)});
    agree += labels[0] == labels[1] ? 1 : 0;
    said[index(s.data.gold[t]) * 4 + index(labels[0])] += 1;
    truths[index(s.data.gold[t])] += 1;
  }
  const double alone = 1 - (1 - noise) * (1 - noise);
  EXPECT_NEAR(agree / 20000, (1 - noise) * (1 - noise) + alone / 4, .015);
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::size_t l = 0; l < 4; ++l) {
      const double p = (1 - noise) * (k == l ? 1 - attack : attack / 3) + noise / 4;
      EXPECT_NEAR(s.confusion[k * 4 + l], p, 1e-12);
      EXPECT_NEAR(said[k * 4 + l] / truths[k], p, .03);
    }
  }
}

TEST(Colluders, WithoutNoiseTheySpeakWithOneVoice) {
  const Simulation s = drawn_attack("colluders", {500, 6, 3, 6}, {{"alpha", "0.5"}, {"p_corr", "0.7"}});
  for (std::size_t t = 0; t < 500; ++t) {
    std::map<ClassId, int> voices;
    const TaskId task{static_cast<std::uint32_t>(t)};
    for (std::size_t a = 0; a < 6; ++a) {
      if (s.worker_kind[index(s.data.answers.workers_of(task)[a])] == "colluder") {
        ++voices[s.data.answers.labels_of(task)[a]];
      }
    }
    EXPECT_EQ(voices.size(), 1U);
  }
}

TEST(Drift, AccuracyFallsAtTheAnswerThatIsNamed) {
  const Simulation s =
      drawn_attack("drift", {6000, 20, 4, 10}, {{"accuracy", "0.9"}, {"drift_share", "0.5"}, {"after", "1000"}});
  EXPECT_TRUE(s.in_order);
  std::vector<double> given(20, 0);
  double before = 0, before_right = 0, later = 0, later_right = 0, honest = 0, honest_right = 0;
  for (std::size_t t = 0; t < 6000; ++t) {
    const TaskId task{static_cast<std::uint32_t>(t)};
    const auto who = s.data.answers.workers_of(task);
    for (std::size_t a = 0; a < who.size(); ++a) {
      const bool right = s.data.answers.labels_of(task)[a] == s.data.gold[t];
      const bool tires = s.worker_kind[index(who[a])] == "tired after 1000 answers";
      const bool late = given[index(who[a])]++ >= 1000;
      double& all = !tires ? honest : late ? later : before;
      double& good = !tires ? honest_right : late ? later_right : before_right;
      all += 1;
      good += right ? 1 : 0;
    }
  }
  EXPECT_NEAR(before_right / before, .9, .01);
  EXPECT_NEAR(later_right / later, .25, .01);
  EXPECT_NEAR(honest_right / honest, .9, .01);
}

TEST(Drift, HalfWayAndWhateverTheThreads) {
  const std::vector<std::pair<const char*, const char*>> settings{
      {"accuracy", "0.9"}, {"drift_share", "1"}, {"after", "0"}, {"depth", "0.5"}};
  const Simulation one = drawn_attack("drift", {20000, 10, 2, 3}, settings, 1);
  const Simulation three = drawn_attack("drift", {20000, 10, 2, 3}, settings, 3);
  EXPECT_EQ(one.data.answers.content_hash(), three.data.answers.content_hash());
  double right = 0;
  for (std::size_t t = 0; t < 20000; ++t) {
    for (const ClassId label : one.data.answers.labels_of(TaskId{static_cast<std::uint32_t>(t)})) {
      right += label == one.data.gold[t] ? 1 : 0;
    }
  }
  EXPECT_NEAR(right / 60000, .7, .01);
}

}  // namespace
}  // namespace wisecrowd
