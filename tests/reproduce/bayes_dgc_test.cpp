// BayesDGC against votes, Dawid and Skene, minimax entropy, Raykar and variational Bayes without features, on
// unbalanced classes with part of the answers (G9, B10). As in the paper, the k tasks with the highest probability are
// called positive, k being the true number; the share of right labels at even odds is shown beside it, because ranking
// hides a lost class. With WISECROWD_SEEDS=20 and more the tables are written out, and orders must hold at the worse
// end of 99 % intervals of differences on the same crowds.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>

#include "support/protocols.hpp"

namespace wisecrowd {
namespace {

using testing::FeatureCrowd;

struct Scores {
  std::vector<double> f1, accuracy, rate;
};

void score(const FeatureCrowd& crowd, const std::vector<double>& posterior, Scores& scores) {
  std::vector<std::size_t> order(crowd.tasks);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return posterior[2 * a + 1] > posterior[2 * b + 1]; });
  const auto positives = static_cast<std::size_t>(std::count(crowd.truth.begin(), crowd.truth.end(), ClassId(1)));
  std::size_t found = 0;
  double mass = 0;
  for (std::size_t n = 0; n < positives; ++n) found += crowd.truth[order[n]] == ClassId(1) ? 1 : 0;
  for (std::size_t t = 0; t < crowd.tasks; ++t) mass += posterior[2 * t + 1];
  scores.f1.push_back(static_cast<double>(found) / static_cast<double>(positives));
  scores.accuracy.push_back(testing::task_accuracy(crowd, posterior));
  scores.rate.push_back(mass / static_cast<double>(crowd.tasks));
}

/// What a network is and what its features look like. Raykar has a linear classifier whatever these are, as published.
struct World {
  bool bent = false;
  NetworkSpec network;
  const char* epochs = "40";
};

std::map<std::string, Scores> compare(const World& world, double rate, double kept, std::size_t seeds) {
  std::map<std::string, Scores> all;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const FeatureCrowd crowd = testing::unbalanced_crowd(1500, rate, kept, seed, world.bent);
    score(crowd, testing::run_aggregator(crowd.data.crowd, "majority_vote", {}).posterior, all["MV"]);
    score(crowd, testing::run_aggregator(crowd.data.crowd, "dawid_skene", {}).posterior, all["DS"]);
    score(crowd,
          testing::run_aggregator(crowd.data.crowd, "ibcc",
                                  {{"diagonal_prior", "5"}, {"off_diagonal_prior", "2"}, {"class_pseudo_count", "1.1"}})
              .posterior,
          all["BayesGC"]);
    score(crowd, testing::run_aggregator(crowd.data.crowd, "minimax_entropy", {}).posterior, all["minimax"]);
    score(crowd, testing::run_learner(crowd.data, "raykar", {}, {.kind = "linear"}, seed).crowd.posterior,
          all["raykar"]);
    // Nothing fades: weights of two features and of a rare class's bias that are kept small make it look frequent.
    for (const char* prior : {"network", "product"}) {
      const Learned learned = testing::run_learner(crowd.data, "bayes_dgc",
                                                   {{"prior", prior},
                                                    {"learning_rate", "0.01"},
                                                    {"epochs", world.epochs},
                                                    {"decoupled_decay", "0"},
                                                    {"held_out", "0"}},
                                                   world.network, seed);
      score(crowd, learned.crowd.posterior, all[prior]);
    }
  }
  return all;
}

/// By how much the network's F1 is higher on the same crowds.
testing::Spread gain(const std::map<std::string, Scores>& all, const std::string& other) {
  std::vector<double> differences = all.at("network").f1;
  for (std::size_t s = 0; s < differences.size(); ++s) differences[s] -= all.at(other).f1[s];
  return testing::spread(differences);
}

/// One row of each table: scores, then differences crowd by crowd.
void show(double rate, double kept, const std::map<std::string, Scores>& all) {
  std::string row = fmt::format("| {} | {}", rate, kept);
  for (const char* name : {"MV", "DS", "minimax", "BayesGC", "raykar", "network", "product"}) {
    const Scores& s = all.at(name);
    row += fmt::format(" | {:.3f} / {:.3f} / {:.3f}", testing::spread(s.f1).mean, testing::spread(s.accuracy).mean,
                       testing::spread(s.rate).mean);
  }
  row += fmt::format(" |\n| {} | {}, F1 of network less that of", rate, kept);
  for (const char* name : {"MV", "DS", "minimax", "BayesGC", "raykar", "product"}) {
    row += fmt::format(" | {} {:+.3f}±{:.3f}", name, gain(all, name).mean, gain(all, name).half);
  }
  fmt::print("{} |\n", row);
  std::fflush(stdout);
}

/// Features that a line divides: BayesDGC gains over what sees answers alone, and so does Raykar.
TEST(BayesDgcExperiment, FewAnswersOnUnbalancedClasses) {
  const bool whole = testing::seeds(0) > 0;
  const World world{.network = {.kind = "linear"}};
  for (const double rate : whole ? std::vector<double>{.3, .1, .05} : std::vector<double>{.3}) {
    for (const double kept : whole ? std::vector<double>{.1, .3, .5, 1} : std::vector<double>{.1}) {
      const auto all = compare(world, rate, kept, testing::seeds(2));
      if (whole) show(rate, kept, all);
      for (const char* name : {"MV", "DS", "minimax", "BayesGC"}) {
        const testing::Spread more = gain(all, name);
        EXPECT_GT(whole ? more.mean - more.half : more.mean, kept < .5 ? .02 : 0) << name << " " << rate << " " << kept;
      }
      if (rate > .2) {
        EXPECT_NEAR(testing::spread(all.at("network").rate).mean, rate, .08);
      }
      if (kept < .2) {
        EXPECT_LT(testing::spread(all.at("product").rate).mean, rate / 3);
      }
    }
  }
}

/// Features that no line divides, and the paper's network of 100 units: Raykar falls to what it would be without
/// features.
TEST(BayesDgcExperiment, FeaturesThatNoLineDivides) {
  const bool whole = testing::seeds(0) > 0;
  const World world{.bent = true, .network = {.kind = "mlp", .hidden = 100, .dropout = 0}};
  for (const double rate : whole ? std::vector<double>{.3, .1} : std::vector<double>{.3}) {
    for (const double kept :
         whole ? std::vector<double>{.1, .2, .3, .4, .5, .6, .7, .8, .9, 1} : std::vector<double>{.3}) {
      const auto all = compare(world, rate, kept, testing::seeds(2));
      if (whole) show(rate, kept, all);
      const auto sure = [&](const char* name) {
        const testing::Spread more = gain(all, name);
        return whole ? more.mean - more.half : more.mean;
      };
      for (const char* name : {"MV", "DS", "minimax", "BayesGC", "raykar"}) {
        EXPECT_GT(sure(name), kept < .45 ? .02 : -.005) << name << " " << rate << " " << kept;
      }
    }
  }
}

}  // namespace
}  // namespace wisecrowd
