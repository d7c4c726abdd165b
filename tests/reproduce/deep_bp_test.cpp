// The experiments of "Robust deep learning from crowds with belief propagation" (G2), on simulated crowds whose
// features stand for its images: a linear classifier, all tasks in one batch, 200 epochs. The paper prints no numbers,
// so the claims are orders; with WISECROWD_SEEDS=20 and more the table is written out, with 99 % intervals.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "support/protocols.hpp"

namespace wisecrowd {
namespace {

using testing::FeatureCrowd;
using testing::SparseProtocol;
using testing::Spread;
using Settings = std::vector<std::pair<std::string, std::string>>;

/// The whole table, or a quick look at its corners.
bool whole() { return testing::seeds(0) > 0; }

/// How the linear classifier is trained, whatever it learns from.
Settings training() {
  return {{"batch", "0"},
          {"epochs", whole() ? "200" : "60"},
          {"learning_rate", whole() ? "0.02" : "0.05"},
          {"held_out", "0"}};
}

/// Accuracies on the tasks (inference) and on rows that nobody answered (learning), one entry per seed.
struct Outcome {
  std::vector<double> inference, learning;
};

/// What a linear classifier learns from these labels.
double learned_from(const FeatureCrowd& crowd, const Aggregation& labels, std::uint64_t seed) {
  LearningData data = crowd.data;
  data.crowd.gold = labels.labels;
  Settings settings = training();
  settings.insert(settings.end(), {{"aggregator", "majority_vote"}, {"targets", "truth"}});
  const Learned learned = testing::run_learner(data, "two_stage", settings, {.kind = "linear"}, seed);
  return testing::test_accuracy(crowd, learned.row_probabilities);
}

std::map<std::string, Outcome> compare(const SparseProtocol& protocol, double right, double wrong, double ceiling,
                                       std::size_t seeds) {
  std::map<std::string, Outcome> outcomes;
  const std::string a1 = fmt::format("{}", right), a2 = fmt::format("{}", wrong);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const FeatureCrowd crowd = testing::sparse_crowd(protocol, seed);
    const auto label_only = [&](const std::string& name, const std::string& method, const Settings& settings) {
      const Aggregation result = testing::run_aggregator(crowd.data.crowd, method, settings);
      outcomes[name].inference.push_back(testing::task_accuracy(crowd, result.posterior));
      outcomes[name].learning.push_back(learned_from(crowd, result, seed));
    };
    label_only("MV", "majority_vote", {});
    label_only("MF", "ibcc",
               {{"coins", "one_coin"}, {"diagonal_prior", a1}, {"off_diagonal_prior", a2}, {"class_prior", "uniform"}});
    label_only("BP", "bp", {{"right", a1}, {"wrong", a2}});
    for (const char* method : {"deep_mf", "deep_bp"}) {
      Settings settings = training();
      settings.insert(settings.end(), {{std::string(method) == "deep_mf" ? "coins" : "model", "one_coin"},
                                       {"right", a1},
                                       {"wrong", a2},
                                       {"ceiling", fmt::format("{}", ceiling)}});
      if (std::string(method) == "deep_bp") settings.emplace_back("propagation_tolerance", "0.001");
      const Learned learned = testing::run_learner(crowd.data, method, settings, {.kind = "linear"}, seed);
      outcomes[method].inference.push_back(testing::task_accuracy(crowd, learned.crowd.posterior));
      outcomes[method].learning.push_back(testing::test_accuracy(crowd, learned.row_probabilities));
    }
  }
  return outcomes;
}

/// One row of the table, if it was asked for.
void show(const std::string& setting, const std::map<std::string, Outcome>& outcomes) {
  if (std::getenv("WISECROWD_SEEDS") == nullptr) return;
  std::string row = "| " + setting;
  for (const char* name : {"MV", "MF", "BP", "deep_mf", "deep_bp"}) {
    const Spread inference = testing::spread(outcomes.at(name).inference);
    const Spread learning = testing::spread(outcomes.at(name).learning);
    row +=
        fmt::format(" | {:.3f}±{:.3f} / {:.3f}±{:.3f}", inference.mean, inference.half, learning.mean, learning.half);
  }
  fmt::print("{} |\n", row);
  std::fflush(stdout);
}

double mean(const std::map<std::string, Outcome>& outcomes, const char* name) {
  return testing::spread(outcomes.at(name).inference).mean;
}

/// Worse features are worth less, and with a ceiling useless ones cost little.
TEST(DeepBpExperiments, One_CorruptedFeatures) {
  const std::size_t seeds = testing::seeds(2);
  double before = 2;
  for (const double separation : whole() ? std::vector<double>{1, .5, .25, 0} : std::vector<double>{1, 0}) {
    const SparseProtocol protocol{.true_right = 1, .true_wrong = .5, .separation = separation};
    for (const double ceiling : whole() ? std::vector<double>{.55, .7, .9, 1} : std::vector<double>{.9}) {
      const auto outcomes = compare(protocol, 1, .5, ceiling, seeds);
      show(fmt::format("1: separation {}, ceiling {}", separation, ceiling), outcomes);
      if (separation == 1 && ceiling > .6) {
        EXPECT_GT(mean(outcomes, "deep_bp"), mean(outcomes, "BP") + .03);
        EXPECT_GT(mean(outcomes, "deep_mf"), mean(outcomes, "MF") + .03);
      }
      if (separation == 0 && ceiling <= .9) {
        EXPECT_GT(mean(outcomes, "deep_bp"), mean(outcomes, "BP") - .035);
      }
      if (ceiling == .9) {
        EXPECT_LT(mean(outcomes, "deep_bp"), before + .01);
        before = mean(outcomes, "deep_bp");
      }
    }
  }
}

/// The less is known of workers beforehand, the more belief propagation gains over mean field, and both over votes.
TEST(DeepBpExperiments, Two_Priors) {
  for (const double a : whole() ? std::vector<double>{.2, .5, 1, 1.5, 2} : std::vector<double>{.2}) {
    const auto outcomes = compare({.true_right = a, .true_wrong = a / 2}, a, a / 2, .9, testing::seeds(2));
    show(fmt::format("2: Beta({}, {})", a, a / 2), outcomes);
    EXPECT_GT(mean(outcomes, "BP"), mean(outcomes, "MV"));
    if (a < 1) {
      EXPECT_GT(mean(outcomes, "BP"), mean(outcomes, "MF") + .01);
      EXPECT_GT(mean(outcomes, "deep_bp"), mean(outcomes, "deep_mf"));
    }
    EXPECT_GE(mean(outcomes, "deep_bp"), mean(outcomes, "BP"));
    EXPECT_GT(mean(outcomes, "deep_bp"), mean(outcomes, "deep_mf") - .01);
  }
}

/// Somebody who answers everything at random, and a prior that expects less than is true: mean field takes the spammer
/// for an expert, belief propagation does not.
TEST(DeepBpExperiments, Three_ExtremeSpammers) {
  for (const double wrong : whole() ? std::vector<double>{.8, 1, 1.2, 1.4, 1.6} : std::vector<double>{1.6}) {
    const auto outcomes = compare({.spammers = 1}, 2, wrong, .9, testing::seeds(2));
    show(fmt::format("3ab: one spammer, model Beta(2, {})", wrong), outcomes);
    EXPECT_GT(mean(outcomes, "BP"), mean(outcomes, "MV") + .02);
    EXPECT_GT(mean(outcomes, "deep_bp"), mean(outcomes, "BP"));
    if (wrong >= 1.4) {
      EXPECT_GT(mean(outcomes, "BP"), mean(outcomes, "MF") + .03);
    }
  }
  for (const std::size_t spammers : whole() ? std::vector<std::size_t>{2, 3, 5} : std::vector<std::size_t>{}) {
    const auto outcomes = compare({.spammers = spammers}, 2, 1.4, .9, testing::seeds(2));
    show(fmt::format("3cd: {} spammers, model Beta(2, 1.4)", spammers), outcomes);
    EXPECT_GT(mean(outcomes, "BP"), mean(outcomes, "MF") + .03);
    EXPECT_GT(mean(outcomes, "deep_bp"), mean(outcomes, "BP"));
  }
}

/// The same number of answers on more tasks teaches the classifier more than several on each.
TEST(DeepBpExperiments, Six_FixedBudget) {
  constexpr std::size_t kBudget = 2000;
  std::vector<double> learning;
  for (const std::size_t per_task :
       whole() ? std::vector<std::size_t>{1, 2, 3, 5, 8} : std::vector<std::size_t>{1, 8}) {
    const SparseProtocol protocol{.tasks = kBudget / per_task, .per_task = per_task};
    const auto outcomes = compare(protocol, 2, 1, .9, testing::seeds(4));
    show(fmt::format("6: {} tasks × {} answers", kBudget / per_task, per_task), outcomes);
    learning.push_back(testing::spread(outcomes.at("deep_bp").learning).mean);
  }
  EXPECT_GT(learning.front(), learning.back());
}

}  // namespace
}  // namespace wisecrowd
