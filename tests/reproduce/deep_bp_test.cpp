// The experiments of "Robust deep learning from crowds with belief propagation" (G2), on simulated crowds whose
// features stand for its images: a linear classifier, all tasks in one batch, 80 epochs (200 for the paper's network
// and its smaller steps). The paper prints no numbers, so the claims are orders. Methods see the same crowd for the
// same seed, and are compared crowd by crowd. With WISECROWD_SEEDS=20 and more the tables are written out, and orders
// must hold at the worse end of 99 % intervals.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "support/protocols.hpp"

namespace wisecrowd {
namespace {

using testing::FeatureCrowd;
using testing::SparseProtocol;
using testing::Spread;
using Settings = std::vector<std::pair<std::string, std::string>>;

/// The whole tables, or a quick look at their corners.
bool whole() { return testing::seeds(0) > 0; }

/// How the linear classifier is trained, whatever it learns from. Nothing fades: with all tasks in one batch gradients
/// hardly change from step to step, Adam steps alike along all of them, and what fades is then the telling feature.
Settings training() {
  return {{"batch", "0"}, {"epochs", "80"}, {"learning_rate", "0.05"}, {"decoupled_decay", "0"}, {"held_out", "0"}};
}

Settings operator+(Settings some, const Settings& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

/// Accuracies on the tasks (inference) and on rows that nobody answered (learning), one entry per seed.
struct Outcome {
  std::vector<double> inference, learning;
};
using Outcomes = std::map<std::string, Outcome>;

/// What a linear classifier learns from these labels.
double learned_from(const FeatureCrowd& crowd, const CategoryFit& labels, std::uint64_t seed) {
  LearningData data = crowd.data;
  data.crowd.gold = labels.labels;
  const Learned learned = testing::run_learner(
      data, "two_stage", training() + Settings{{"aggregator", "majority_vote"}, {"targets", "truth"}},
      {.kind = "linear"}, seed);
  return testing::test_accuracy(crowd, learned.row_probabilities);
}

/// One setting: the crowd, the prior Beta(right, wrong) that methods believe in, and ceilings of the deep ones.
struct Setting {
  SparseProtocol protocol;
  double right = 2, wrong = 1;
  std::vector<double> ceilings{.9};
};

const std::vector<std::string> kMethods{"MV", "MF", "BP", "crowd_layer", "bayes_dgc", "deep_mf", "deep_bp"};

/// All methods on the same crowds; one entry per ceiling, which only the deep ones have.
std::vector<Outcomes> compare(const Setting& setting, std::size_t seeds) {
  std::vector<Outcomes> result(setting.ceilings.size());
  const std::string right = fmt::format("{}", setting.right), wrong = fmt::format("{}", setting.wrong);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const FeatureCrowd crowd = testing::sparse_crowd(setting.protocol, seed);
    const auto note = [&](std::size_t at, const std::string& name, double inference, double learning) {
      result[at][name].inference.push_back(inference);
      result[at][name].learning.push_back(learning);
    };
    const auto label_only = [&](const std::string& name, const std::string& method, const Settings& settings) {
      const CategoryFit labels = testing::run_aggregator(crowd.data.crowd, method, settings);
      const double inference = testing::task_accuracy(crowd, labels.posterior);
      const double learning = learned_from(crowd, labels, seed);
      for (std::size_t at = 0; at < result.size(); ++at) note(at, name, inference, learning);
    };
    const auto learner = [&](const std::string& method, const Settings& settings, std::size_t first, std::size_t last) {
      const Learned learned = testing::run_learner(crowd.data, method, training() + settings, {.kind = "linear"}, seed);
      const double inference = testing::task_accuracy(crowd, learned.crowd.posterior);
      const double learning = testing::test_accuracy(crowd, learned.row_probabilities);
      for (std::size_t at = first; at < last; ++at) note(at, method, inference, learning);
    };
    label_only("MV", "majority_vote", {});
    label_only(
        "MF", "ibcc",
        {{"coins", "one_coin"}, {"diagonal_prior", right}, {"off_diagonal_prior", wrong}, {"class_prior", "uniform"}});
    label_only("BP", "bp", {{"right", right}, {"wrong", wrong}});
    const Settings coin{{"right", right}, {"wrong", wrong}};
    learner("crowd_layer", {}, 0, result.size());
    learner("bayes_dgc", coin + Settings{{"coins", "one_coin"}, {"forgetting", "0"}}, 0, result.size());
    for (std::size_t at = 0; at < result.size(); ++at) {
      const Settings clipped = coin + Settings{{"ceiling", fmt::format("{}", setting.ceilings[at])}};
      learner("deep_mf", clipped + Settings{{"coins", "one_coin"}}, at, at + 1);
      learner("deep_bp", clipped + Settings{{"model", "one_coin"}, {"propagation_tolerance", "0.001"}}, at, at + 1);
    }
  }
  return result;
}

std::string shown(const Spread& s, bool sign = false) {
  return sign ? fmt::format("{:+.3f}±{:.3f}", s.mean, s.half) : fmt::format("{:.3f}±{:.3f}", s.mean, s.half);
}

/// How much better one is than the other on the same crowds.
Spread gap(const Outcomes& outcomes, const std::string& one, const std::string& other,
           std::vector<double> Outcome::*kind = &Outcome::inference) {
  std::vector<double> differences = outcomes.at(one).*kind;
  for (std::size_t s = 0; s < differences.size(); ++s) differences[s] -= (outcomes.at(other).*kind)[s];
  return testing::spread(differences);
}

/// One row of each table, if they were asked for: accuracies, then differences crowd by crowd.
void show(const std::string& name, const Outcomes& outcomes) {
  if (!whole()) return;
  std::string row = fmt::format("| {}", name);
  for (const std::string& method : kMethods) {
    row += fmt::format(" | {} / {}", shown(testing::spread(outcomes.at(method).inference)),
                       shown(testing::spread(outcomes.at(method).learning)));
  }
  row += fmt::format(" |\n| {}, differences", name);
  for (const auto& [one, other] : std::vector<std::pair<const char*, const char*>>{{"BP", "MF"},
                                                                                   {"deep_mf", "MF"},
                                                                                   {"deep_bp", "BP"},
                                                                                   {"deep_bp", "deep_mf"},
                                                                                   {"deep_bp", "crowd_layer"},
                                                                                   {"deep_bp", "bayes_dgc"}}) {
    row += fmt::format(" | {}−{} {} / {}", one, other, shown(gap(outcomes, one, other), true),
                       shown(gap(outcomes, one, other, &Outcome::learning), true));
  }
  fmt::print("{} |\n", row);
  std::fflush(stdout);
}

/// The difference that is certain enough: the worse end of its 99 % interval, or the mean where seeds are too few.
double sure(const Spread& gap) { return whole() ? gap.mean - gap.half : gap.mean; }

/// Where features tell something, deepBP is above CrowdLayer, and not below BayesDGC, on the tasks and on new rows.
/// `level` is where the labels of the tasks are only level with theirs: by how much they may be below.
void expect_above_other_networks(const Outcomes& outcomes, const std::string& where, double level = 0) {
  if (!whole()) return;  // two crowds cannot tell
  EXPECT_GT(sure(gap(outcomes, "deep_bp", "crowd_layer")), -level) << where;
  EXPECT_GT(sure(gap(outcomes, "deep_bp", "crowd_layer", &Outcome::learning)), 0) << where;
  EXPECT_GT(sure(gap(outcomes, "deep_bp", "bayes_dgc")), -std::max(level, .01)) << where;
  EXPECT_GT(sure(gap(outcomes, "deep_bp", "bayes_dgc", &Outcome::learning)), -.005) << where;
}

/// Worse features are worth less, and with a ceiling useless ones cost little.
TEST(DeepBpExperiments, One_CorruptedFeatures) {
  double before = 2;
  for (const double separation : whole() ? std::vector<double>{1, .5, 0} : std::vector<double>{1, 0}) {
    const Setting setting{{.true_right = 1, .true_wrong = .5, .separation = separation},
                          1,
                          .5,
                          whole() ? std::vector<double>{.55, .9, 1} : std::vector<double>{.9}};
    const auto all = compare(setting, testing::seeds(2));
    for (std::size_t at = 0; at < all.size(); ++at) {
      const double ceiling = setting.ceilings[at];
      show(fmt::format("1: separation {}, ceiling {}", separation, ceiling), all[at]);
      if (separation == 1 && ceiling > .6) {
        EXPECT_GT(sure(gap(all[at], "deep_bp", "BP")), .03) << ceiling;
        EXPECT_GT(sure(gap(all[at], "deep_mf", "MF")), .03) << ceiling;
      }
      if (separation > 0 && ceiling > .6)
        expect_above_other_networks(all[at], fmt::format("separation {}", separation));
      if (separation == 0 && ceiling <= .9) {
        EXPECT_GT(sure(gap(all[at], "deep_bp", "BP")), -.035) << ceiling;
      }
      if (ceiling == .9) {
        const double mean = testing::spread(all[at].at("deep_bp").inference).mean;
        EXPECT_LT(mean, before + .01);
        before = mean;
      }
    }
  }
}

/// The less is known of workers beforehand, the more belief propagation gains over mean field, and both over votes.
TEST(DeepBpExperiments, Two_Priors) {
  for (const double a : whole() ? std::vector<double>{.2, .5, 1, 1.5, 2} : std::vector<double>{.2}) {
    const Outcomes outcomes = compare({{.true_right = a, .true_wrong = a / 2}, a, a / 2}, testing::seeds(2)).front();
    show(fmt::format("2: Beta({}, {})", a, a / 2), outcomes);
    EXPECT_GT(sure(gap(outcomes, "BP", "MV")), 0) << a;
    if (a < 1) {
      EXPECT_GT(sure(gap(outcomes, "BP", "MF")), .01) << a;
      EXPECT_GT(sure(gap(outcomes, "deep_bp", "deep_mf")), 0) << a;
      EXPECT_GT(sure(gap(outcomes, "deep_bp", "bayes_dgc")), 0) << a;
    }
    expect_above_other_networks(outcomes, fmt::format("Beta({}, {})", a, a / 2));
    EXPECT_GE(sure(gap(outcomes, "deep_bp", "BP")), 0) << a;
    EXPECT_GT(sure(gap(outcomes, "deep_bp", "deep_mf")), -.01) << a;
  }
}

/// Somebody who answers everything at random, and a prior that expects less than is true: mean field takes the spammer
/// for an expert, belief propagation does not, and networks keep what their labels were.
TEST(DeepBpExperiments, Three_ExtremeSpammers) {
  Outcomes with_good_prior;
  for (const double wrong : whole() ? std::vector<double>{.8, 1.2, 1.4, 1.6} : std::vector<double>{1.6}) {
    const Outcomes outcomes = compare({{.spammers = 1}, 2, wrong}, testing::seeds(2)).front();
    show(fmt::format("3ab: one spammer, model Beta(2, {})", wrong), outcomes);
    EXPECT_GT(sure(gap(outcomes, "BP", "MV")), .02) << wrong;
    EXPECT_GT(sure(gap(outcomes, "deep_bp", "BP")), 0) << wrong;
    EXPECT_GT(sure(gap(outcomes, "deep_mf", "MF")), 0) << wrong;
    if (wrong >= 1.4) {
      EXPECT_GT(sure(gap(outcomes, "BP", "MF")), .03) << wrong;
    }
    // Where more is expected of workers than is true the networks' labels are level.
    expect_above_other_networks(outcomes, fmt::format("one spammer, Beta(2, {})", wrong), wrong < 1 ? .02 : 0);
    if (!whole()) continue;
    if (with_good_prior.empty()) with_good_prior = outcomes;
    const auto lost = [&](const char* method) {
      return gap({{"before", with_good_prior.at(method)}, {"now", outcomes.at(method)}}, "before", "now");
    };
    if (wrong >= 1.4) {
      EXPECT_GT(sure(lost("MF")), .03) << "mean field collapses, Beta(2, " << wrong << ")";
    }
    for (const char* const method : {"BP", "deep_bp"}) {
      EXPECT_LT(lost(method).mean + lost(method).half, .05) << method << " does not, Beta(2, " << wrong << ")";
    }
  }
  for (const std::size_t spammers : whole() ? std::vector<std::size_t>{2, 5} : std::vector<std::size_t>{}) {
    const Outcomes outcomes = compare({{.spammers = spammers}, 2, 1.4}, testing::seeds(2)).front();
    show(fmt::format("3cd: {} spammers, model Beta(2, 1.4)", spammers), outcomes);
    EXPECT_GT(sure(gap(outcomes, "BP", "MF")), .03) << spammers;
    EXPECT_GT(sure(gap(outcomes, "BP", "MV")), .02) << spammers;
    EXPECT_GT(sure(gap(outcomes, "deep_bp", "BP")), 0) << spammers;
    EXPECT_GT(sure(gap(outcomes, "deep_mf", "MF")), 0) << spammers;
    expect_above_other_networks(outcomes, fmt::format("{} spammers", spammers));
  }
}

/// The same number of answers on more tasks teaches the classifier more than several on each: what it learns falls from
/// step to step, whoever labels. Networks label the tasks better than what sees answers alone, the more the fewer these
/// are.
TEST(DeepBpExperiments, Six_FixedBudget) {
  constexpr std::size_t kBudget = 2000;
  Outcomes by_size;
  std::string first, last;
  for (const std::size_t per_task : whole() ? std::vector<std::size_t>{1, 2, 4, 8} : std::vector<std::size_t>{1, 8}) {
    const Setting setting{{.tasks = kBudget / per_task, .per_task = per_task}, 2, 1};
    const Outcomes outcomes = compare(setting, testing::seeds(4)).front();
    show(fmt::format("6: {} tasks × {} answers", kBudget / per_task, per_task), outcomes);
    const std::string before = last;
    last = fmt::format("{}", per_task);
    if (first.empty()) first = last;
    by_size[last] = outcomes.at("deep_bp");
    if (!whole()) continue;
    if (!before.empty()) {
      EXPECT_GT(gap(by_size, before, last, &Outcome::learning).mean, 0) << per_task;
    }
    EXPECT_GT(sure(gap(outcomes, "deep_bp", "BP")), 0) << per_task;
    EXPECT_GT(sure(gap(outcomes, "deep_mf", "MF")), 0) << per_task;
    EXPECT_GT(gap(outcomes, "deep_bp", "BP", &Outcome::learning).mean, 0) << per_task;
    EXPECT_GT(gap(outcomes, "deep_mf", "MF", &Outcome::learning).mean, 0) << per_task;
    // Of one or two answers belief propagation makes little more than mean field, and networks' labels are level.
    EXPECT_GT(sure(gap(outcomes, "deep_bp", "deep_mf")), per_task < 4 ? -.02 : -.005) << per_task;
    expect_above_other_networks(outcomes, fmt::format("{} answers per task", per_task), per_task < 4 ? .01 : 0);
  }
  EXPECT_GT(sure(gap(by_size, first, last, &Outcome::learning)), 0);
}

/// App. D: trace regularisation depends on its strength and on the table that it begins with (a diagonal of δ before
/// the softmax), workers Beta(3, 1). deepBP has neither, and is above all of them.
TEST(DeepBpExperiments, AppendixD_Sensitivity) {
  if (!whole()) GTEST_SKIP() << "an experiment: say WISECROWD_SEEDS";
  constexpr std::size_t kCrowds = 7;
  const SparseProtocol protocol{.true_right = 3, .true_wrong = 1};
  Outcomes outcomes = compare({protocol, 3, 1}, kCrowds).front();
  std::vector<std::string> settings;
  const auto trace = [&](double strength, double diagonal) {
    const std::string name = fmt::format("λ {}, δ {}", strength, diagonal);
    if (outcomes.contains(name)) return;
    settings.push_back(name);
    for (std::uint64_t seed = 1; seed <= kCrowds; ++seed) {
      const FeatureCrowd crowd = testing::sparse_crowd(protocol, seed);
      const Learned learned = testing::run_learner(
          crowd.data, "trace_reg",
          training() + Settings{{"strength", fmt::format("{}", strength)},
                                {"start", "identity"},
                                {"start_accuracy", fmt::format("{}", std::exp(diagonal) / (std::exp(diagonal) + 1))}},
          {.kind = "linear"}, seed);
      outcomes[name].inference.push_back(testing::task_accuracy(crowd, learned.crowd.posterior));
      outcomes[name].learning.push_back(testing::test_accuracy(crowd, learned.row_probabilities));
    }
  };
  for (const double strength : {.5, 1., 1.5, 2.}) trace(strength, 2);
  for (const double diagonal : {1., 2., 3., 4., 5., 6.}) trace(.5, diagonal);
  double best = 0, worst = 1;
  for (const std::string& name : settings) {
    const double inference = testing::spread(outcomes.at(name).inference).mean;
    fmt::print("| {} | {:.3f} / {:.3f} |\n", name, inference, testing::spread(outcomes.at(name).learning).mean);
    best = std::max(best, inference);
    worst = std::min(worst, inference);
  }
  for (const char* const name : {"crowd_layer", "deep_bp"}) {
    fmt::print("| {} | {:.3f} / {:.3f} |\n", name, testing::spread(outcomes.at(name).inference).mean,
               testing::spread(outcomes.at(name).learning).mean);
  }
  EXPECT_GT(testing::spread(outcomes.at("deep_bp").inference).mean, best);
  EXPECT_GT(best - worst, .005);
}

}  // namespace
}  // namespace wisecrowd
