#include "aggregate/categories/cbcc/cbcc.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/assignment.hpp"
#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "support/crowds.hpp"

namespace wisecrowd {
namespace {

using cbcc::Cbcc;
using cbcc::Options;
using Rows = std::vector<std::vector<double>>;

TaskId id(std::size_t t) { return TaskId{static_cast<std::uint32_t>(t)}; }

/// Workers of two kinds, each with a table of its own near that of its kind.
struct Planted {
  CategoryData data;
  std::vector<ClassId> truth;
  std::vector<std::uint32_t> group;
};

Planted planted(std::uint64_t seed, std::size_t workers, std::size_t tasks, std::size_t per_task, double strength) {
  constexpr double kCentre[2][3][3] = {{{.8, .1, .1}, {.1, .8, .1}, {.1, .1, .8}},
                                       {{.4, .5, .1}, {.1, .7, .2}, {.1, .5, .4}}};
  Rng rng(seed);
  Planted crowd;
  CategoryAnswersBuilder builder({"0", "1", "2"});
  std::vector<double> tables(workers * 9);
  for (std::size_t w = 0; w < workers; ++w) {
    builder.add_worker("w" + std::to_string(w));
    crowd.group.push_back(static_cast<std::uint32_t>(w % 2));
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<double> prior(kCentre[w % 2][k], kCentre[w % 2][k] + 3);
      for (double& p : prior) p *= strength;
      rng.dirichlet(prior, std::span(tables).subspan(w * 9 + k * 3, 3));
    }
  }
  for (std::size_t t = 0; t < tasks; ++t) {
    const std::size_t z = rng.below(3);
    crowd.truth.push_back(ClassId{static_cast<std::uint16_t>(z)});
    for (std::size_t r = 0; r < per_task; ++r) {
      const std::size_t w = (t * per_task + r) * 7919 % workers;
      const auto label = rng.categorical(std::span(tables).subspan(w * 9 + z * 3, 3));
      builder.add(std::to_string(t), "w" + std::to_string(w), std::to_string(label));
    }
  }
  crowd.data.answers = builder.build();
  return crowd;
}

struct Slow {
  Rows q;
  Rows table;  // Ph
  double bound = 0;
};

/// One community in plain loops: Ph from pooled counts, then a step of the fixed point per iteration; the bound is
/// taken after the tables, before the truth, where the entropy of q is explicit.
Slow slow_fit(const CategoryData& data, const Options& options, std::size_t iterations) {
  const CategoryAnswers& answers = data.answers;
  const std::size_t N = answers.task_count(), M = answers.worker_count(), K = answers.class_count();
  const auto eps = [&](std::size_t k, std::size_t l) {
    return options.community.pseudo_count + (k == l ? options.community.diagonal_pseudo_count : 0);
  };
  Slow fit;
  fit.q.assign(N, std::vector<double>(K, 0));
  for (std::size_t t = 0; t < N; ++t) {
    for (const ClassId l : answers.labels_of(id(t)))
      fit.q[t][index(l)] += 1.0 / static_cast<double>(answers.labels_of(id(t)).size());
  }
  for (std::size_t iteration = 0; iteration < iterations; ++iteration) {
    std::vector<Rows> n(M, Rows(K, std::vector<double>(K, 0)));
    std::vector<double> mass(K, 0);
    for (std::size_t t = 0; t < N; ++t) {
      for (std::size_t k = 0; k < K; ++k) mass[k] += fit.q[t][k] / static_cast<double>(N);
      for (std::size_t a = 0; a < answers.workers_of(id(t)).size(); ++a) {
        for (std::size_t k = 0; k < K; ++k) {
          n[index(answers.workers_of(id(t))[a])][k][index(answers.labels_of(id(t))[a])] += fit.q[t][k];
        }
      }
    }
    Rows fresh(K, std::vector<double>(K, 0));
    for (std::size_t k = 0; k < K; ++k) {
      double total = 0;
      for (std::size_t l = 0; l < K; ++l) {
        for (std::size_t j = 0; j < M; ++j) {
          const double prior = iteration == 0 ? 0 : options.strength * fit.table[k][l];
          fresh[k][l] += iteration == 0 ? n[j][k][l] : prior * (digamma(prior + n[j][k][l]) - digamma(prior));
        }
        total += fresh[k][l] += eps(k, l);
      }
      for (double& cell : fresh[k]) cell /= total;
    }
    fit.table = fresh;
    fit.bound = 0;
    std::vector<Rows> expected(n);
    for (std::size_t j = 0; j < M; ++j) {
      for (std::size_t k = 0; k < K; ++k) {
        std::vector<double> prior(K), b(K);
        double total = 0;
        for (std::size_t l = 0; l < K; ++l) {
          prior[l] = options.strength * fit.table[k][l];
          total += b[l] = prior[l] + n[j][k][l];
        }
        fit.bound += log_beta(b) - log_beta(prior);
        for (std::size_t l = 0; l < K; ++l) expected[j][k][l] = digamma(b[l]) - digamma(total);
      }
    }
    for (std::size_t k = 0; k < K; ++k) {
      for (std::size_t l = 0; l < K; ++l) fit.bound += eps(k, l) * std::log(fit.table[k][l]);
    }
    for (std::size_t t = 0; t < N; ++t) {
      fit.bound += entropy(fit.q[t]);
      for (std::size_t k = 0; k < K; ++k) fit.bound += fit.q[t][k] * std::log(mass[k]);
    }
    for (std::size_t t = 0; t < N; ++t) {
      for (std::size_t k = 0; k < K; ++k) {
        fit.q[t][k] = std::log(mass[k]);
        for (std::size_t a = 0; a < answers.workers_of(id(t)).size(); ++a) {
          fit.q[t][k] += expected[index(answers.workers_of(id(t))[a])][k][index(answers.labels_of(id(t))[a])];
        }
      }
      softmax(fit.q[t]);
    }
  }
  return fit;
}

TEST(Cbcc, OneCommunityAgreesWithTheSlowReference) {
  for (const std::size_t classes : {2U, 3U, 5U, 9U}) {
    const auto crowd = testing::small_crowd(classes, 70, 8, classes, 4);
    const auto votes = aggregate(crowd.data, "majority_vote");
    for (const std::size_t iterations : {1U, 2U, 7U}) {
      Options options;
      options.strength = 6;
      options.community.communities = 1;
      options.community.em.max_iterations = iterations;
      options.community.em.tolerance = 0;
      const auto fast = Cbcc(options).fit(crowd.data, RunContext(), CategoryStart{votes.posterior});
      const auto slow = slow_fit(crowd.data, options, iterations);
      for (std::size_t e = 0; e < fast.posterior.size(); ++e) {
        ASSERT_NEAR(fast.posterior[e], slow.q[e / classes][e % classes], 1e-9);
      }
      // The engine takes the bound after the truth has moved.
      EXPECT_GE(fast.trace.back(), slow.bound - 1e-9);
      EXPECT_LE(fast.trace.back(), slow_fit(crowd.data, options, iterations + 1).bound + 1e-9);
    }
  }
}

TEST(Cbcc, BoundNeverFalls) {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    const auto crowd = testing::small_crowd(seed, 100, seed % 2 == 0 ? 60 : 12, 2 + seed % 4, 2 + seed % 4);
    Options options;
    options.community.communities = 1 + seed % 5;
    options.strength = seed % 3 == 0 ? 2 : 30;
    options.community.em.max_iterations = 100;
    options.community.em.tolerance = 0;
    const auto result = Cbcc(options).fit(crowd.data, RunContext());
    for (std::size_t i = 1; i < result.trace.size(); ++i) {
      ASSERT_GE(result.trace[i], result.trace[i - 1] - 1e-10 * std::abs(result.trace[i])) << seed << ": " << i;
    }
  }
}

// Workers who may not leave their community at all: worker_clusters.
TEST(Cbcc, EndlessStrengthIsWorkerClusters) {
  const auto crowd = planted(3, 20, 800, 6, 1e6);
  Options options;
  options.strength = 1e6;
  options.community.communities = 2;
  options.community.em.tolerance = 1e-12;
  const auto ours = Cbcc(options).fit(crowd.data, RunContext());
  Parameters parameters(aggregation_method("worker_clusters").parameters);
  parameters.set("communities", "2");
  parameters.set("tolerance", "1e-12");
  const auto clusters = aggregate(crowd.data, "worker_clusters", parameters, RunContext());
  EXPECT_EQ(ours.worker_group, clusters.worker_group);
  for (std::size_t e = 0; e < ours.posterior.size(); ++e) ASSERT_NEAR(ours.posterior[e], clusters.posterior[e], 2e-3);
}

TEST(Cbcc, RecoversPlantedCommunities) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const auto crowd = planted(seed, 60, 1500, 6, 40);
    Options options;
    options.strength = 40;
    const auto result = Cbcc(options).fit(crowd.data, RunContext());
    ASSERT_EQ(result.learned[0].first, "communities");
    EXPECT_EQ(result.learned[0].second, 2);
    double same = 0;
    for (std::size_t w = 0; w < 60; ++w) same += result.worker_group[w] == crowd.group[w] ? 1 : 0;
    EXPECT_GT(std::max(same, 60 - same), 54);
  }
}

TEST(Cbcc, HelpsWhenWorkersHaveFewAnswers) {
  double ours = 0, single = 0;
  for (std::uint64_t seed = 10; seed < 15; ++seed) {
    const auto crowd = planted(seed, 503, 600, 6, 20);  // seven answers per worker
    const auto right = [&](const CategoryFit& result) {
      double sum = 0;
      for (std::size_t t = 0; t < 600; ++t) sum += result.labels[t] == crowd.truth[t] ? 1 : 0;
      return sum / 3000;
    };
    ours += right(Cbcc().fit(crowd.data, RunContext()));
    single += right(aggregate(crowd.data, "dawid_skene"));
  }
  EXPECT_GT(ours, single + .02);
}

TEST(Cbcc, AccuracyOnRealData) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  struct Row {
    const char* set;
    double accuracy;
  };
  for (const auto& [set, expected] :
       {Row{"bluebird", .8981}, Row{"dog", .8389}, Row{"rte", .9300}, Row{"weather", .8900}}) {
    const std::string folder = *root + "/aggregate/" + set;
    CategoryData data = read_dataset(folder + "/labels.csv", folder + "/gold.csv", {}, RunContext());
    std::vector<ClassId> gold;
    gold.swap(data.gold);
    const auto result = Cbcc().fit(data, RunContext());
    const auto score = evaluate(result.labels, result.posterior, gold, result.class_count,
                                {.tie_rule = result.tie_rule, .bootstrap = 0}, RunContext());
    EXPECT_NEAR(score.accuracy.value, expected, .01) << set;
  }
}

}  // namespace
}  // namespace wisecrowd
