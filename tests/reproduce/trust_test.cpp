// What the search for groups, and the default that acts on it, are worth on crowds with and without colluders, copies,
// groups and tired workers; src/trust/dependence/METHOD.md has the figures. Alone:
// WISECROWD_SEEDS=10 wisecrowd_tests --gtest_filter=TrustBars.*

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <numeric>

#include "base/parallel.hpp"
#include "support/attacks.hpp"
#include "support/crowds.hpp"
#include "support/protocols.hpp"

namespace wisecrowd {
namespace {

using testing::AttackedCrowd;
using testing::Collusion;
using testing::CrowdShape;
using testing::HonestKind;

/// Seeds that nothing was chosen on.
constexpr std::uint64_t kFirstSeed = 7000;

CategoryFit fitted(const CategoryData& data, const char* method, const RunContext& context, bool finds_groups = true) {
  Parameters parameters(aggregation_method(method).parameters);
  if (!finds_groups) parameters.set("find_groups", "false");
  return aggregate(data, method, parameters, context);
}

/// One crowd, and what came of it.
struct Outcome {
  std::string name;
  double automatic = 0, dawid_skene = 0, oracle = 0;
  /// Shares of those who answer as one, and of the others, who are in a group or to be read the other way round.
  double caught = 1, accused = 0;
  bool acts = false;
  Dependence found;
};

Outcome outcome_of(std::string name, const AttackedCrowd& crowd, const RunContext& context) {
  Outcome outcome;
  outcome.name = std::move(name);
  const CategoryFit fit = fitted(crowd.data, "automatic", context);
  outcome.automatic = crowd.accuracy(fit.labels);
  outcome.dawid_skene = crowd.accuracy(fitted(crowd.data, "dawid_skene", context).labels);
  outcome.oracle = crowd.accuracy_of_oracle(context);
  outcome.found = fit.dependence.value_or(Dependence{});
  outcome.acts = outcome.found.acts();
  // Of two classes, colluders who are always wrong cannot be told from single workers who swap the classes: then the
  // advice to read them the other way round names them.
  std::vector<bool> named(crowd.planted.size(), false);
  const TrustStudy study = study_trust(crowd.data, fit, outcome.found, {}, context);
  for (std::size_t w = 0; w < named.size(); ++w) named[w] = study.workers[w].advice == WorkerAdvice::recode;
  for (const DependentGroup& group : outcome.found.groups) {
    for (const WorkerId worker : group.workers) named[index(worker)] = true;
  }
  double planted = 0, caught = 0, others = 0, accused = 0;
  for (std::size_t w = 0; w < named.size(); ++w) {
    (crowd.planted[w] ? planted : others) += 1;
    if (named[w]) (crowd.planted[w] ? caught : accused) += 1;
  }
  if (planted > 0) outcome.caught = caught / planted;
  if (others > 0) outcome.accused = accused / others;
  return outcome;
}

/// Draws and judges crowds, each in one thread, and tells of those for which `told` holds.
struct Planned {
  std::string name;
  std::function<AttackedCrowd()> draw;
};
std::vector<Outcome> outcomes_of(const std::vector<Planned>& plans, const std::function<bool(const Outcome&)>& told) {
  std::vector<Outcome> outcomes(plans.size());
  const RunContext together;
  together.pool().for_each_block(plans.size(), [&](std::size_t n, unsigned) {
    outcomes[n] = outcome_of(plans[n].name, plans[n].draw(), RunContext({.threads = 1}));
  });
  for (const Outcome& o : outcomes) {
    if (!told(o)) continue;
    fmt::print("  {}: default {:.4f}, dawid_skene {:.4f}, oracle {:.4f}, caught {:.2f}, accused {:.2f}{}\n", o.name,
               o.automatic, o.dawid_skene, o.oracle, o.caught, o.accused, o.acts ? ", acts" : "");
  }
  std::fflush(stdout);
  return outcomes;
}

double share_of(const std::vector<Outcome>& outcomes, const std::function<bool(const Outcome&)>& holds) {
  return static_cast<double>(std::count_if(outcomes.begin(), outcomes.end(), holds)) /
         static_cast<double>(std::max<std::size_t>(outcomes.size(), 1));
}

double mean_of(const std::vector<Outcome>& outcomes, double Outcome::*member) {
  double sum = 0;
  for (const Outcome& outcome : outcomes) sum += outcome.*member;
  return sum / static_cast<double>(std::max<std::size_t>(outcomes.size(), 1));
}

/// Every share, attacked part and seed; where nobody colludes there is no attacked part to vary.
void plan_colluders(const CrowdShape& shape, double noise, std::vector<Planned>& plans) {
  for (const double share : {0.0, 0.1, 0.2, 0.3, 0.4}) {
    for (const double attacked : {0.7, 0.8, 0.9, 1.0}) {
      if (share == 0 && attacked < 1) continue;
      for (std::uint64_t seed = 0; seed < testing::seeds(1); ++seed) {
        const std::uint64_t drawn = kFirstSeed + seed + static_cast<std::uint64_t>(1000 * share + 10 * attacked) * 100;
        plans.push_back({fmt::format("K = {}, {} per task, share {}, attacked {}, noise {}, seed {}", shape.classes,
                                     shape.per_task, share, attacked, noise, seed),
                         [=] {
                           return testing::crowd_with_colluders(shape, {share, attacked, noise}, drawn);
                         }});
      }
    }
  }
}

bool named_well(const Outcome& o) { return o.caught >= 0.95 && o.accused <= 0.02; }
bool near_the_oracle(const Outcome& o) { return o.automatic >= o.oracle - 0.02; }

class TrustBars : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::seeds(0) == 0) GTEST_SKIP() << "an experiment: say WISECROWD_SEEDS";
  }
};

TEST_F(TrustBars, ColludersWithTwelveAnswersPerTask) {
  std::vector<Outcome> all;
  for (const int classes : {2, 3, 5}) {
    std::vector<Planned> plans;
    plan_colluders({.classes = classes, .per_task = 12}, 0, plans);
    const auto found = outcomes_of(plans, [](const Outcome& o) { return !near_the_oracle(o) || !named_well(o); });
    fmt::print(
        "12 answers, K = {}: {} crowds, default {:.4f}, dawid_skene {:.4f}, oracle {:.4f}; within 2 points {:.3f}, "
        "named well {:.3f}\n",
        classes, found.size(), mean_of(found, &Outcome::automatic), mean_of(found, &Outcome::dawid_skene),
        mean_of(found, &Outcome::oracle), share_of(found, near_the_oracle), share_of(found, named_well));
    all.insert(all.end(), found.begin(), found.end());
  }
  EXPECT_GE(share_of(all, near_the_oracle), 0.98);
  EXPECT_GE(share_of(all, named_well), 0.97);
  for (const Outcome& o : all) EXPECT_GE(o.automatic, o.dawid_skene - 0.03) << o.name;
}

// Colluders who slip now and then, two classes: EM may take the honest for the group.
TEST_F(TrustBars, NoisyColludersOfTwoClasses) {
  std::vector<Planned> plans;
  for (const double noise : {0.1, 0.25}) plan_colluders({.classes = 2, .per_task = 21}, noise, plans);
  const auto found = outcomes_of(plans, [](const Outcome& o) { return !near_the_oracle(o) || !named_well(o); });
  fmt::print(
      "noisy, K = 2, 21 answers: {} crowds, default {:.4f}, dawid_skene {:.4f}, oracle {:.4f}; within 2 points "
      "{:.3f}, named well {:.3f}\n",
      found.size(), mean_of(found, &Outcome::automatic), mean_of(found, &Outcome::dawid_skene),
      mean_of(found, &Outcome::oracle), share_of(found, near_the_oracle), share_of(found, named_well));
  EXPECT_GE(share_of(found, near_the_oracle), 0.98);
  EXPECT_GE(share_of(found, named_well), 0.97);
  for (const Outcome& o : found) EXPECT_GE(o.automatic, o.dawid_skene - 0.03) << o.name;
}

TEST_F(TrustBars, ColludersWithFiveAnswersPerTask) {
  for (const int classes : {2, 3, 5}) {
    std::vector<Planned> plans;
    plan_colluders({.classes = classes, .per_task = 5}, 0, plans);
    const auto found = outcomes_of(plans, [](const Outcome& o) { return o.automatic < o.oracle - 0.1; });
    const double automatic = mean_of(found, &Outcome::automatic), dawid_skene = mean_of(found, &Outcome::dawid_skene);
    fmt::print("5 answers, K = {}: {} crowds, default {:.4f}, dawid_skene {:.4f}, oracle {:.4f}; named well {:.3f}\n",
               classes, found.size(), automatic, dawid_skene, mean_of(found, &Outcome::oracle),
               share_of(found, named_well));
    EXPECT_GE(automatic, classes == 2 ? dawid_skene : mean_of(found, &Outcome::oracle) - 0.03) << classes;
  }
}

TEST_F(TrustBars, FiveGroups) {
  std::vector<Planned> plans;
  for (const int classes : {2, 3, 5}) {
    for (std::uint64_t seed = 0; seed < testing::seeds(1); ++seed) {
      plans.push_back({fmt::format("groups, K = {}, seed {}", classes, seed),
                       [=] { return testing::crowd_of_groups(1000, classes, kFirstSeed + seed); }});
    }
  }
  const auto found = outcomes_of(plans, [](const Outcome& o) { return o.automatic < 0.97 * o.oracle; });
  fmt::print("five groups: {} crowds, default {:.4f}, dawid_skene {:.4f}, oracle {:.4f}\n", found.size(),
             mean_of(found, &Outcome::automatic), mean_of(found, &Outcome::dawid_skene),
             mean_of(found, &Outcome::oracle));
  for (const Outcome& o : found) EXPECT_GE(o.automatic, 0.97 * o.oracle) << o.name;
}

// The seeds are those of the command line: `simulate hidden_groups --seed 1` and so on.
TEST_F(TrustBars, HiddenGroups) {
  std::vector<Planned> plans;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    plans.push_back({fmt::format("hidden_groups, seed {}", seed), [seed] {
                       const Simulation drawn = simulate("hidden_groups", {5000, 40, 3, 40},
                                                         Parameters(simulation_kind("hidden_groups").parameters),
                                                         RunContext({.seed = seed}));
                       AttackedCrowd crowd = testing::as_it_is(drawn.data);
                       for (std::size_t w = 0; w < crowd.voices.size(); ++w) {
                         crowd.voices[w] = static_cast<std::uint32_t>(std::stoul(drawn.worker_kind[w].substr(6)));
                       }
                       crowd.planted.assign(crowd.voices.size(), true);
                       return crowd;
                     }});
  }
  const auto found = outcomes_of(plans, [](const Outcome&) { return true; });
  EXPECT_GE(mean_of(found, &Outcome::automatic), 0.80);
  for (const Outcome& o : found) EXPECT_GE(o.automatic, 0.97 * o.oracle) << o.name;
}

CategoryData real_set(const std::string& name) {
  const std::string folder = *testing::real_data_folder() + "/" + name;
  return read_dataset(folder + "/labels.csv", folder + "/gold.csv", {}, RunContext({.threads = 1}), nullptr);
}

TEST_F(TrustBars, ColludersPlantedInRealCrowds) {
  if (!testing::real_data_folder()) GTEST_SKIP() << "the real data sets are not at hand";
  const std::vector<std::pair<std::string, double>> bars = {{"aggregate/bluebird", 0.89},
                                                            {"aggregate/dog", 0.835},
                                                            {"aggregate/possent", 0.96},
                                                            {"aggregate_more/general_knowledge", 0.85},
                                                            {"aggregate/sentiment_polarity", 0}};
  for (const auto& [set, bar] : bars) {
    const CategoryData data = real_set(set);
    const AttackedCrowd clean = testing::as_it_is(data);
    const double before = clean.accuracy(fitted(clean.data, "automatic", RunContext()).labels);
    for (const bool replaced : {false, true}) {
      std::vector<Planned> plans;
      for (std::uint64_t seed = 0; seed < testing::seeds(1); ++seed) {
        plans.push_back({fmt::format("{} {}, seed {}", set, replaced ? "replaced" : "added", seed),
                         [&, seed] { return testing::with_planted_colluders(data, replaced, kFirstSeed + seed); }});
      }
      const auto found = outcomes_of(plans, [](const Outcome& o) { return !near_the_oracle(o) || !named_well(o); });
      const double mean = mean_of(found, &Outcome::automatic);
      fmt::print("{}, {}: clean {:.4f}, default {:.4f}, dawid_skene {:.4f}, oracle {:.4f}\n", set,
                 replaced ? "replaced" : "added", before, mean, mean_of(found, &Outcome::dawid_skene),
                 mean_of(found, &Outcome::oracle));
      if (replaced) continue;
      EXPECT_GE(mean, bar > 0 ? bar : before - 0.01) << set;
    }
  }
}

TEST_F(TrustBars, PartialCopies) {
  constexpr int kPairs = 6;
  struct Case {
    int per_task;
    double rate, least;
  };
  for (const Case& at :
       {Case{14, 0.5, 0.75}, Case{14, 0.7, 0.95}, Case{40, 0.5, 0.99}}) {  // of 40 workers, 1,000 tasks
    double power = 0, accused = 0, crowds = 0;
    for (std::uint64_t seed = 0; seed < testing::seeds(1); ++seed) {
      const AttackedCrowd crowd =
          testing::crowd_with_copies({.workers = 40, .per_task = at.per_task}, kPairs, at.rate, kFirstSeed + seed);
      const Dependence found = find_dependence(crowd.data, {}, RunContext());
      std::vector<std::uint32_t> group(crowd.planted.size(), 0);
      for (std::uint32_t g = 0; g < found.groups.size(); ++g) {
        for (const WorkerId worker : found.groups[g].workers) group[index(worker)] = g + 1;
      }
      for (std::size_t p = 0; p < kPairs; ++p) power += group[p] > 0 && group[p] == group[p + kPairs] ? 1 : 0;
      for (std::size_t w = 2 * kPairs; w < group.size(); ++w) accused += group[w] > 0 ? 1 : 0;
      crowds += 1;
    }
    power /= kPairs * crowds;
    accused /= (40 - 2 * kPairs) * crowds;
    fmt::print("copies at rate {}, about {} common tasks: power {:.3f}, accused {:.4f}\n", at.rate,
               at.per_task * at.per_task * 1000 / 1600, power, accused);
    EXPECT_GE(power, at.least) << at.per_task << " " << at.rate;
    EXPECT_LE(accused, 0.017) << at.per_task << " " << at.rate;
  }
}

// Nothing planted: nine kinds of crowds, two to five classes, few and many answers.
TEST_F(TrustBars, IndependentCrowds) {
  std::vector<Planned> plans;
  for (std::uint64_t n = 0; plans.size() < 10 * testing::seeds(1); ++n) {
    CrowdShape shape;
    shape.honest = static_cast<HonestKind>(n % testing::kHonestKinds);
    shape.classes = std::array{2, 3, 5}[n / testing::kHonestKinds % 3];
    shape.per_task = std::array{5, 12, 21}[n / (3 * testing::kHonestKinds) % 3];
    shape.workers = n % 2 == 0 ? 60 : 30;
    plans.push_back({fmt::format("{}, K = {}, {} workers, {} per task", name_of(shape.honest), shape.classes,
                                 shape.workers, shape.per_task),
                     [=] { return testing::independent_crowd(shape, kFirstSeed + n); }});
  }
  std::vector<double> loss(plans.size(), 0);
  std::vector<char> acts(plans.size(), 0), differs(plans.size(), 0);
  const RunContext together;
  together.pool().for_each_block(plans.size(), [&](std::size_t n, unsigned) {
    const AttackedCrowd crowd = plans[n].draw();
    const RunContext context({.threads = 1});
    const CategoryFit with = fitted(crowd.data, "automatic", context);
    const CategoryFit without = fitted(crowd.data, "automatic", context, false);
    loss[n] = crowd.accuracy(without.labels) - crowd.accuracy(with.labels);
    acts[n] = with.dependence && with.dependence->acts() ? 1 : 0;
    differs[n] = with.posterior == without.posterior && with.labels == without.labels ? 0 : 1;
  });
  for (std::size_t n = 0; n < plans.size(); ++n) {
    if (acts[n] != 0) fmt::print("  {}: acted on, loss {:.4f}\n", plans[n].name, loss[n]);
    EXPECT_EQ(differs[n] != 0 && acts[n] == 0, false) << plans[n].name << ": nothing found, and yet another result";
  }
  const auto acted = std::count(acts.begin(), acts.end(), 1);
  fmt::print("{} independent crowds: acted on in {}, worst loss {:.4f}\n", plans.size(), acted,
             *std::max_element(loss.begin(), loss.end()));
  EXPECT_LE(acted, 3 * static_cast<std::ptrdiff_t>(plans.size()) / 100);
  EXPECT_LE(*std::max_element(loss.begin(), loss.end()), 0.005);
}

TEST_F(TrustBars, RealCrowdsAsTheyAre) {
  if (!testing::real_data_folder()) GTEST_SKIP() << "the real data sets are not at hand";
  for (const std::string folder : {"aggregate", "aggregate_more"}) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(*testing::real_data_folder() + "/" + folder)) {
      if (std::filesystem::exists(entry.path() / "gold.csv")) names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      const CategoryData data = real_set(folder + "/" + name);
      const AttackedCrowd crowd = testing::as_it_is(data);
      const CategoryFit with = fitted(crowd.data, "automatic", RunContext());
      const double without = crowd.accuracy(fitted(crowd.data, "automatic", RunContext(), false).labels);
      fmt::print("{}: {:.4f}, without the search {:.4f}; {} groups{}\n", name, crowd.accuracy(with.labels), without,
                 with.dependence ? with.dependence->groups.size() : 0,
                 with.dependence && with.dependence->acts() ? ", acts" : "");
      EXPECT_GE(crowd.accuracy(with.labels), without - 0.003) << name;
    }
  }
}

// A fifth of the workers guesses from its answer 150 on; about 300 answers each, ten per task.
TEST_F(TrustBars, Drift) {
  constexpr std::uint64_t kChange = 150;
  for (const std::size_t classes : {2U, 3U, 5U}) {
    for (const double accuracy : {0.8, 0.9}) {
      const std::size_t crowds = 2 * testing::seeds(1);
      std::vector<double> found(crowds, 0), tired(crowds, 0), wrongly(crowds, 0), steady(crowds, 0);
      const RunContext together;
      together.pool().for_each_block(crowds, [&](std::size_t n, unsigned) {
        Parameters parameters(simulation_kind("drift").parameters);
        parameters.set("accuracy", fmt::format("{}", accuracy));
        parameters.set("drift_share", "0.2");
        parameters.set("after", fmt::format("{}", kChange));
        const RunContext context({.seed = kFirstSeed + n, .threads = 1});
        const Simulation drawn = simulate("drift", {1800, 60, classes, 10}, parameters, context);
        const CategoryData data{.answers = drawn.data.answers};
        AnswerTimes times;
        times.order = AnswerOrder::rows;
        for (std::size_t t = 0; t < data.answers.task_count(); ++t) {
          times.times.insert(times.times.end(), data.answers.workers_of(TaskId(t)).size(), static_cast<double>(t));
        }
        const CategoryFit fit = fitted(data, "automatic", context);
        const TrustStudy study = study_trust(data, fit, fit.dependence.value_or(Dependence{}), times, context);
        std::vector<std::uint64_t> given(60, 0);
        for (const WorkerId worker : data.answers.workers()) ++given[index(worker)];
        for (std::size_t w = 0; w < 60; ++w) {
          const bool tires = drawn.worker_kind[w] != "honest";
          tired[n] += tires ? 1 : 0;
          steady[n] += static_cast<double>(tires ? std::min(given[w], kChange) : given[w]);
        }
        for (const DriftAlarm& alarm : study.drift.alarms) {
          const bool tires = drawn.worker_kind[index(alarm.worker)] != "honest";
          if (!tires || alarm.raised <= kChange) {
            wrongly[n] += 1;
          } else {
            found[n] += alarm.raised <= kChange + 40 ? 1 : 0;
          }
        }
      });
      const auto sum = [](const std::vector<double>& list) { return std::accumulate(list.begin(), list.end(), 0.0); };
      const double rate = sum(found) / sum(tired), false_alarms = 1000 * sum(wrongly) / sum(steady);
      fmt::print("drift, K = {}, accuracy {}: within 40 answers {:.3f}, false alarms {:.3f} per 1,000 answers\n",
                 classes, accuracy, rate, false_alarms);
      EXPECT_GE(rate, 0.8) << classes << " " << accuracy;
      EXPECT_LE(false_alarms, 0.2) << classes << " " << accuracy;
    }
  }
}

}  // namespace
}  // namespace wisecrowd
