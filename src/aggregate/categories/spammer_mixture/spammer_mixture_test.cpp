#include "aggregate/categories/spammer_mixture/spammer_mixture.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/numeric.hpp"
#include "support/crowds.hpp"

namespace wisecrowd {
namespace {

using spammer_mixture::Options;
using spammer_mixture::SpammerMixture;

Simulation hammers_and_spammers(std::uint64_t seed, std::size_t classes, double gamma) {
  Parameters parameters(simulation_kind("hammer_spammer").parameters);
  parameters.set("gamma", std::to_string(gamma));
  return simulate("hammer_spammer", {1000, 40, classes, 5}, parameters, RunContext({.seed = seed}));
}

TEST(SpammerMixture, IsIbccWhereNobodyIsASpammer) {
  for (const std::size_t classes : {2U, 5U}) {
    const auto crowd = testing::small_crowd(classes, 80, 9, classes, 4);
    Options options;
    options.honest_before = 1e12;
    options.spammers_before = 1e-3;
    options.em.tolerance = 1e-14;
    const auto mixture = SpammerMixture(options).fit(crowd.data, RunContext());
    Parameters parameters(aggregation_method("ibcc").parameters);
    parameters.set("tolerance", "1e-14");
    const auto ibcc = aggregate(crowd.data, "ibcc", parameters, RunContext());
    ASSERT_EQ(mixture.posterior.size(), ibcc.posterior.size());
    for (std::size_t e = 0; e < ibcc.posterior.size(); ++e) EXPECT_NEAR(mixture.posterior[e], ibcc.posterior[e], 1e-6);
    for (std::size_t e = 0; e < ibcc.confusion.size(); ++e) EXPECT_NEAR(mixture.confusion[e], ibcc.confusion[e], 1e-6);
    for (const double honest : mixture.skill) EXPECT_GT(honest, 1 - 1e-6);
  }
}

/// P(honest) by the evidences of the specification, in plain words, from the counts of the final posterior.
TEST(SpammerMixture, ProbabilitiesAreThoseOfTheEvidences) {
  const auto crowd = testing::small_crowd(4, 60, 8, 3, 5);
  Options options;
  options.em.tolerance = 0;
  options.em.max_iterations = 3000;
  const auto fit = SpammerMixture(options).fit(crowd.data, RunContext());
  const auto counts = expected_counts(crowd.data.answers, fit.posterior);
  double share = 0;
  for (const double honest : fit.skill) share += honest;
  share = (options.honest_before + share) / (options.honest_before + options.spammers_before + 8);
  for (std::size_t j = 0; j < 8; ++j) {
    double honest = 0;
    std::vector<double> said(3, 1.0);
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<double> row(3, 1.0), before(3, 1.0);
      row[k] = before[k] = 4;
      for (std::size_t l = 0; l < 3; ++l) {
        const double n = counts.cells()[(j * 3 + k) * 3 + l];
        row[l] += n;
        said[l] += n;
      }
      honest += log_beta(row) - log_beta(before);
    }
    const double spammer = log_beta(said) - log_beta(std::vector<double>(3, 1.0));
    EXPECT_NEAR(fit.skill[j], sigmoid(std::log(share / (1 - share)) + honest - spammer), 1e-6);
  }
}

TEST(SpammerMixture, TheBoundNeverFalls) {
  for (const double gamma : {.2, .5, .9}) {
    const auto trace = SpammerMixture().fit(hammers_and_spammers(2, 3, gamma).data, RunContext()).trace;
    ASSERT_GT(trace.size(), 2U);
    for (std::size_t i = 1; i < trace.size(); ++i) {
      EXPECT_GE(trace[i], trace[i - 1] - 1e-10 * std::abs(trace[i])) << gamma << " " << i;
    }
  }
}

TEST(SpammerMixture, FindsSpammersAndLeavesHonestWorkersAlone) {
  for (const std::size_t classes : {2U, 4U}) {
    for (const double gamma : {.4, .7}) {
      Simulation crowd = hammers_and_spammers(7, classes, gamma);
      const auto truth = std::move(crowd.data.gold);
      crowd.data.gold.clear();
      const auto fit = SpammerMixture().fit(crowd.data, RunContext());
      double spammers = 0, missed = 0;
      for (std::size_t j = 0; j < fit.skill.size(); ++j) {
        if (crowd.worker_kind[j] == "hammer") {
          EXPECT_GT(fit.skill[j], 0.95) << classes << " " << gamma;
          continue;
        }
        spammers += 1;
        missed += fit.skill[j] > 0.5 ? 1 : 0;
      }
      // With two classes and 125 answers a lucky guesser of three in fifty may pass.
      EXPECT_LE(missed, classes == 2 ? 0.2 * spammers : 0) << classes << " " << gamma;
      double right = 0, known = 0;
      for (std::size_t t = 0; t < truth.size(); ++t) {
        // A task that only spammers answered cannot be known.
        const auto who = crowd.data.answers.workers_of(TaskId{static_cast<std::uint32_t>(t)});
        if (std::none_of(who.begin(), who.end(), [&](WorkerId w) { return crowd.worker_kind[index(w)] == "hammer"; })) {
          continue;
        }
        known += 1;
        right += fit.labels[t] == truth[t] ? 1 : 0;
      }
      EXPECT_GT(right / known, 0.995) << classes << " " << gamma;
    }
  }
}

TEST(SpammerMixture, AWorkerWithoutAnswersIsLikeTheCrowd) {
  CategoryAnswersBuilder builder;
  builder.add_worker("silent");
  for (int t = 0; t < 30; ++t) {
    for (int w = 0; w < 3; ++w) builder.add(std::to_string(t), std::to_string(w), t % 2 == 0 ? "yes" : "no");
  }
  const auto fit = SpammerMixture().fit({builder.build(), {}}, RunContext());
  EXPECT_NEAR(fit.skill[3], 11.0 / 13, 1e-3) << "three honest workers besides eight of ten before";
}

}  // namespace
}  // namespace wisecrowd
