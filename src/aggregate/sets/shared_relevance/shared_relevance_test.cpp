#include "aggregate/sets/shared_relevance/shared_relevance.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "aggregate/sets/shared/hierarchy.hpp"
#include "base/numeric.hpp"
#include "support/sets.hpp"
#include "wisecrowd/evaluate_sets.hpp"

namespace wisecrowd {
namespace {

using shared_relevance::Options;
using shared_relevance::SharedRelevance;

TEST(SharedRelevance, BoundNeverFalls) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const SetSimulation crowd = testing::set_crowd(
        seed, {.tasks = 80, .workers = 15, .answers_per_task = 3, .classes = 6}, {{"guessers", "0.2"}});
    for (const auto candidates : {sets::Candidates::all, sets::Candidates::named}) {
      Options options;
      options.em.tolerance = 0;
      options.em.max_iterations = 60;
      options.em.sets.candidates = candidates;
      const SetFit fit = SharedRelevance(options).fit(testing::answers_alone(crowd.data), RunContext());
      for (std::size_t i = 1; i < fit.trace.size(); ++i) {
        ASSERT_GE(fit.trace[i], fit.trace[i - 1] - 1e-10 * std::abs(fit.trace[i])) << "seed " << seed << " at " << i;
      }
    }
  }
}

// The bound is below the log of the evidence, which a sum over all sets and a grid over all rates gives on a tiny world
// (one worker, one class, hyperparameters as they were learned).
TEST(SharedRelevance, BoundIsBelowTheEvidenceOfATinyWorld) {
  SetAnswersBuilder builder({"a"});
  builder.add("t1", "w", {"a"}).add("t2", "w", {}).add("t3", "w", {"a"});
  const SetData data{builder.build(), {}};
  sets::HierarchicalWorkers model(1, 1);
  sets::RelevanceOptions em;
  em.tolerance = 0;
  em.max_iterations = 200;
  sets::Profiles profiles;
  const SetFit fit = sets::fit_relevance(data, model, em, {}, "bound", RunContext(), &profiles);
  const double p = profiles.probability[0];
  const double hit_a = model.sensitivity().above(0, 0), hit_b = model.sensitivity().below(0, 0);
  const double clear_a = model.specificity().above(0, 0), clear_b = model.specificity().below(0, 0);
  double evidence = 0;
  for (int truth = 0; truth < 8; ++truth) {
    double right = 0, wrong = 0, clear = 0, alarm = 0, prior = 1;
    for (int t = 0; t < 3; ++t) {
      const bool is = (truth >> t) % 2 == 1, named = t != 1;
      prior *= is ? p : 1 - p;
      (is ? (named ? right : wrong) : (named ? alarm : clear)) += 1;
    }
    const auto log_rise = [](double a, double b, double x, double y) {
      return log_gamma(a + x) + log_gamma(b + y) - log_gamma(a + b + x + y) - log_gamma(a) - log_gamma(b) +
             log_gamma(a + b);
    };
    evidence += prior * std::exp(log_rise(hit_a, hit_b, right, wrong) + log_rise(clear_a, clear_b, clear, alarm));
  }
  // What the trace adds for the effects themselves is no part of the evidence.
  const double bound = fit.trace.back() - model.sensitivity().log_prior() - model.specificity().log_prior();
  EXPECT_LE(bound, std::log(evidence) + 1e-9);
  EXPECT_GT(bound, std::log(evidence) - 2);
}

TEST(SharedRelevance, RatesOfAnUnseenClassAreThoseOfTheWorker) {
  // Twelve good workers and three who guess; all of them are seen with classes a and b, and hardly with c.
  const SetSimulation crowd = testing::set_crowd(4, {.tasks = 600, .workers = 15, .answers_per_task = 5, .classes = 3},
                                                 {{"sensitivity", "0.9"},
                                                  {"worker_spread", "1.2"},
                                                  {"class_spread", "0"},
                                                  {"pair_spread", "0"},
                                                  {"profiles", "1"}});
  const SetFit fit = SharedRelevance().fit(testing::answers_alone(crowd.data), RunContext());
  double off = 0;
  for (std::size_t i = 0; i < fit.sensitivity.size(); ++i) {
    off += std::abs(fit.sensitivity[i] - crowd.sensitivity[i]) / static_cast<double>(fit.sensitivity.size());
  }
  EXPECT_LT(off, 0.06);
}

// Never below separate tables on crowds whose workers have something in common over classes.
TEST(SharedRelevance, NotBelowSeparateTablesOnTenCrowds) {
  double gain = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const SetSimulation crowd =
        testing::set_crowd(seed, {.tasks = 300, .workers = 40, .answers_per_task = 3, .classes = 12});
    const SetData data = testing::answers_alone(crowd.data);
    const double shared = evaluate_sets(SharedRelevance().fit(data, RunContext()), crowd.data.gold).micro_f1.value;
    const SetFit separate = aggregate(data, "binary_relevance");
    const double alone = evaluate_sets(separate, crowd.data.gold).micro_f1.value;
    EXPECT_GE(shared, alone - 0.002) << "seed " << seed;
    gain += (shared - alone) / 10;
  }
  EXPECT_GT(gain, 0.01);
}

// Steps by slopes and curvatures end where no small move gains.
TEST(RateHierarchy, RestsAtAMaximum) {
  sets::RateHierarchy rates(3, 2);
  rates.right = {9, 3, 5, 6, 1, 2};
  rates.wrong = {1, 2, 5, 1, 4, 6};
  rates.start();
  const RunContext context;
  for (int i = 0; i < 300; ++i) (void)rates.climb(context);
  const double best = rates.objective(context);
  for (const double step : {-1e-2, 1e-2}) {
    for (auto* effects : {&rates.worker_effect, &rates.class_effect}) {
      for (double& effect : *effects) {
        effect += step;
        EXPECT_LE(rates.objective(context), best + 1e-9);
        effect -= step;
      }
    }
  }
}

}  // namespace
}  // namespace wisecrowd
