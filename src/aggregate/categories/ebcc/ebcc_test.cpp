#include "aggregate/categories/ebcc/ebcc.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "aggregate/categories/ebcc/variational_run.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "base/rng.hpp"
#include "support/crowds.hpp"

namespace wisecrowd {
namespace {

using ebcc::Ebcc;
using ebcc::Options;
using ebcc::Problem;
using ebcc::Runner;
using ebcc::VariationalRun;
using Rows = std::vector<std::vector<double>>;

TaskId id(std::size_t t) { return TaskId{static_cast<std::uint32_t>(t)}; }

/// Section A11.3 in plain loops; q[i][k G + g].
struct Slow {
  const CategoryData& data;
  Options options;
  Rows q;
  double bound = 0;  // after the parameters, before the truth

  void iterate() {
    const CategoryAnswers& answers = data.answers;
    const std::size_t N = answers.task_count(), M = answers.worker_count(), K = answers.class_count();
    const std::size_t G = options.subtypes, T = K * G;
    const double a = options.subtype_prior / static_cast<double>(G);
    std::vector<Rows> b(M, Rows(T, std::vector<double>(K, options.off_diagonal_prior)));
    for (auto& table : b) {
      for (std::size_t c = 0; c < T; ++c) table[c][c / G] = options.diagonal_prior;
    }
    const auto prior = b;
    Rows eta(K, std::vector<double>(G, a));
    std::vector<double> nu(K, options.class_pseudo_count);
    bound = 0;
    for (std::size_t t = 0; t < N; ++t) {
      bound += entropy(q[t]);
      for (std::size_t c = 0; c < T; ++c) {
        eta[c / G][c % G] += q[t][c];
        nu[c / G] += q[t][c];
        if (!data.task_priors.empty()) bound += q[t][c] * std::log(data.task_priors[t * K + c / G]);
        for (std::size_t e = 0; e < answers.workers_of(id(t)).size(); ++e) {
          b[index(answers.workers_of(id(t))[e])][c][index(answers.labels_of(id(t))[e])] += q[t][c];
        }
      }
    }
    if (data.task_priors.empty()) {
      bound += log_beta(nu) - log_beta(std::vector<double>(K, options.class_pseudo_count));
    }
    for (const auto& row : eta) bound += log_beta(row) - log_beta(std::vector<double>(G, a));
    double nu_total = 0;
    for (const double v : nu) nu_total += v;
    auto expected = b;
    for (std::size_t j = 0; j < M; ++j) {
      for (std::size_t c = 0; c < T; ++c) {
        bound += log_beta(b[j][c]) - log_beta(prior[j][c]);
        double total = 0;
        for (const double v : b[j][c]) total += v;
        for (std::size_t l = 0; l < K; ++l) expected[j][c][l] = digamma(b[j][c][l]) - digamma(total);
      }
    }
    for (std::size_t t = 0; t < N; ++t) {
      for (std::size_t c = 0; c < T; ++c) {
        double eta_total = 0;
        for (const double v : eta[c / G]) eta_total += v;
        q[t][c] = digamma(eta[c / G][c % G]) - digamma(eta_total);
        q[t][c] += data.task_priors.empty() ? digamma(nu[c / G]) - digamma(nu_total)
                                            : std::log(data.task_priors[t * K + c / G]);
        if (data.gold_of(id(t)) != kNoClass && index(data.gold[t]) != c / G) q[t][c] = -1e300;
        for (std::size_t e = 0; e < answers.workers_of(id(t)).size(); ++e) {
          q[t][c] += expected[index(answers.workers_of(id(t))[e])][c][index(answers.labels_of(id(t))[e])];
        }
      }
      softmax(q[t]);
    }
  }
};

template <class Real>
void compare_with_slow(double tolerance) {
  const RunContext context;
  for (const std::size_t classes : {2U, 3U, 5U}) {
    for (const int variant : {0, 1, 2}) {
      auto crowd = testing::small_crowd(classes + 7, 60, 8, classes, 5);
      if (variant == 1) {
        crowd.data.gold.assign(60, kNoClass);
        for (std::size_t t = 0; t < 60; t += 4) crowd.data.gold[t] = crowd.truth[t];
      }
      if (variant == 2) {
        Rng rng(5);
        crowd.data.task_priors.resize(60 * classes);
        for (std::size_t t = 0; t < 60; ++t) {
          rng.dirichlet(std::vector<double>(classes, 1.0),
                        std::span(crowd.data.task_priors).subspan(t * classes, classes));
        }
      }
      Options options;
      options.subtypes = 3;
      options.subtype_prior = 3;  // subtypes stay alive
      const Problem problem(crowd.data, options);
      auto shares = vote_fractions(crowd.data, context);
      pin_gold(crowd.data, shares);
      VariationalRun<Real> fast(problem);
      fast.start(shares, Rng(4), Runner(nullptr));
      Slow slow{crowd.data, options, Rows(60, std::vector<double>(classes * 3))};
      for (std::size_t t = 0; t < 60; ++t) {
        for (std::size_t c = 0; c < classes * 3; ++c) {
          slow.q[t][c] = static_cast<double>(fast.cell_posterior()[t * fast.pitch() + c]);
        }
      }
      for (int iteration = 0; iteration < 6; ++iteration) {
        const double before = fast.bound();
        fast.iterate(true, Runner(nullptr));
        slow.iterate();
        // The engine takes the bound after the truth has moved.
        EXPECT_GE(fast.bound(), slow.bound - tolerance * std::abs(slow.bound));
        if (iteration > 0) {
          EXPECT_LE(before, slow.bound + tolerance * std::abs(slow.bound));
        }
        for (std::size_t t = 0; t < 60; ++t) {
          for (std::size_t c = 0; c < classes * 3; ++c) {
            ASSERT_NEAR(static_cast<double>(fast.cell_posterior()[t * fast.pitch() + c]), slow.q[t][c], tolerance);
          }
        }
      }
    }
  }
}

TEST(Ebcc, AgreesWithTheSlowReference) {
  compare_with_slow<double>(1e-9);
  compare_with_slow<float>(1e-4);
}

// With one subtype there is nothing that workers could share: IBCC.
TEST(Ebcc, OneSubtypeIsIbcc) {
  for (const std::size_t classes : {2U, 4U}) {
    const auto crowd = testing::small_crowd(classes, 120, 12, classes, 5);
    Options options;
    options.subtypes = 1;
    options.tolerance = 0;
    options.max_iterations = 10;  // both take exactly as many: where they stop for good depends on the last bits
    const auto ours = Ebcc(options).fit(crowd.data, RunContext());
    Parameters parameters(aggregation_method("ibcc").parameters);
    parameters.set("tolerance", "0");
    parameters.set("max_iterations", "10");
    const auto ibcc = aggregate(crowd.data, "ibcc", parameters, RunContext());
    for (std::size_t e = 0; e < ours.posterior.size(); ++e) ASSERT_NEAR(ours.posterior[e], ibcc.posterior[e], 1e-8);
    for (std::size_t e = 0; e < ours.confusion.size(); ++e) ASSERT_NEAR(ours.confusion[e], ibcc.confusion[e], 1e-8);
    EXPECT_NEAR(ours.trace.back(), ibcc.trace.back(), 1e-7);
  }
}

TEST(Ebcc, LearnedRowsDoNotLowerTheBound) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto crowd = testing::small_crowd(seed, 150, seed % 2 == 0 ? 12 : 60, 2 + seed % 4, 4);
    Options options;
    options.subtypes = 4;
    options.learn_row_prior = true;
    options.restarts = 0;
    options.tolerance = 0;
    options.max_iterations = 80;
    const auto result = Ebcc(options).fit(crowd.data, RunContext({.seed = seed}));
    for (std::size_t i = 1; i < result.trace.size(); ++i) {
      ASSERT_GE(result.trace[i], result.trace[i - 1] - 1e-9 * std::abs(result.trace[i])) << seed << " at " << i;
    }
  }
}

TEST(Ebcc, PredictsByTheTablesWhenThereIsOneSubtype) {
  const auto crowd = testing::small_crowd(9, 120, 12, 3, 5);
  Options options;
  options.subtypes = 1;
  const Ebcc method(options);
  std::vector<CategoryAnswer> asked;
  for (std::uint32_t t = 0; t < 120; t += 7) {
    for (std::uint32_t w = 0; w < 12; w += 5)
      asked.push_back({TaskId{t}, WorkerId{w}, ClassId{static_cast<std::uint16_t>((t + w) % 3)}});
  }
  const RunContext context;
  const auto by_cells = method.log_predictive(crowd.data, asked, context);
  const auto by_tables = method.Aggregator<Categories>::log_predictive(crowd.data, asked, context);
  for (std::size_t i = 0; i < asked.size(); ++i) EXPECT_NEAR(by_cells[i], by_tables[i], 1e-9);
}

TEST(Ebcc, ProbabilitiesOfAllAnswersSumToOneAndStartsAverage) {
  const auto crowd = testing::small_crowd(10, 100, 10, 3, 5);
  Options options;
  options.restarts = 2;
  options.average_starts = true;
  const Ebcc method(options);
  std::vector<CategoryAnswer> asked;
  for (std::uint16_t l = 0; l < 3; ++l) asked.push_back({TaskId{5}, WorkerId{2}, ClassId{l}});
  const auto logs = method.log_predictive(crowd.data, asked, RunContext());
  EXPECT_NEAR(std::exp(logs[0]) + std::exp(logs[1]) + std::exp(logs[2]), 1, 1e-9);
  const auto result = method.fit(crowd.data, RunContext());
  for (std::size_t t = 0; t < 100; ++t) {
    EXPECT_NEAR(result.posterior[t * 3] + result.posterior[t * 3 + 1] + result.posterior[t * 3 + 2], 1, 1e-12);
  }
}

TEST(Ebcc, BoundNeverFallsAlsoWhenSubtypesAreDropped) {
  std::size_t dropped = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto crowd = testing::small_crowd(seed, 120, 10, 2 + seed % 4, 3 + seed % 4);
    Options options;
    options.restarts = 0;
    options.tolerance = 1e-7;
    const auto result = Ebcc(options).fit(crowd.data, RunContext());
    for (std::size_t i = 1; i < result.trace.size(); ++i) {
      ASSERT_GE(result.trace[i], result.trace[i - 1] - 1e-9 * std::abs(result.trace[i])) << seed << ": " << i;
    }
    ASSERT_EQ(result.learned[0].first, "subtypes_in_use");
    dropped += result.learned[0].second < static_cast<double>(10 * (2 + seed % 4)) ? 1 : 0;
  }
  EXPECT_GT(dropped, 0U);
}

TEST(Ebcc, MoreStartsGiveABetterBound) {
  const auto crowd = testing::small_crowd(3, 150, 12, 3, 5);
  Options options;
  options.restarts = 0;
  const auto one = Ebcc(options).fit(crowd.data, RunContext());
  options.restarts = 19;
  const auto many = Ebcc(options).fit(crowd.data, RunContext());
  EXPECT_GT(many.trace.back(), one.trace.back());
  EXPECT_EQ(many.learned[0].first, "best_start");
}

// Two kinds of tasks in class 0: on the second, most workers are misled together. The subtype is seen by all workers at
// once, which independent tables cannot express.
TEST(Ebcc, FindsTasksThatMisleadManyWorkersAtOnce) {
  Rng rng(2);
  CategoryAnswersBuilder builder({"0", "1"});
  std::vector<ClassId> truth;
  for (int t = 0; t < 900; ++t) {
    const int kind = t % 3;  // 0 and 1: plain tasks of either class; 2: class 0, but looks like 1 to most
    truth.push_back(ClassId{static_cast<std::uint16_t>(kind == 1 ? 1 : 0)});
    for (int w = 0; w < 12; ++w) {
      double says_one = kind == 0 ? .1 : .9;
      if (kind == 2) says_one = w < 7 ? .9 : .15;  // five workers see through
      builder.add(std::to_string(t), std::to_string(w), rng.bernoulli(says_one) ? "1" : "0");
    }
  }
  const CategoryData data{builder.build(), {}, {}};
  // A few known tasks say which class the misleading kind belongs to.
  CategoryData with_gold = data;
  with_gold.gold.assign(900, kNoClass);
  for (std::size_t t = 0; t < 90; ++t) with_gold.gold[t] = truth[t];
  const auto accuracy = [&](const CategoryFit& result) {
    double right = 0;
    for (std::size_t t = 90; t < 900; ++t) right += result.labels[t] == truth[t] ? 1 : 0;
    return right / 810;
  };
  const double ours = accuracy(Ebcc().fit(with_gold, RunContext()));
  const double independent = accuracy(aggregate(with_gold, "ibcc"));
  EXPECT_GT(ours, .97);
  EXPECT_GT(ours, independent - .005);
}

TEST(Ebcc, RefusesWhatWouldNotFitIntoMemory) {
  const auto crowd = testing::small_crowd(1, 300, 900, 40, 3);
  Options options;
  options.subtypes = 1000;
  try {
    static_cast<void>(Ebcc(options).fit(crowd.data, RunContext()));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("subtypes"), std::string::npos);
  }
}

/// Published accuracies of the authors' notebook, within what other starts do to them.
TEST(Ebcc, ReproducesPublishedAccuracies) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  struct Row {
    const char* set;
    double accuracy, tolerance;
  };
  for (const auto& [set, accuracy, tolerance] :
       {Row{"bluebird", .8611, .001}, Row{"dog", .8401, .005}, Row{"rte", .9313, .006}, Row{"weather", .8833, .004},
        Row{"weather_amt", .8567, .008}}) {
    const std::string folder = *root + "/aggregate/" + set;
    ReadOptions reading;
    reading.duplicates = DuplicatePolicy::repeat;
    CategoryData data = read_dataset(folder + "/labels.csv", folder + "/gold.csv", reading, RunContext());
    std::vector<ClassId> gold;
    gold.swap(data.gold);
    Options options;
    options.restarts = 39;
    options.ties = TieRule::fractional;
    const auto result = Ebcc(options).fit(data, RunContext());
    const auto score = evaluate(result.labels, result.posterior, gold, result.class_count,
                                {.tie_rule = TieRule::fractional, .bootstrap = 0}, RunContext());
    EXPECT_NEAR(score.accuracy.value, accuracy, tolerance) << set;
  }
}

}  // namespace
}  // namespace wisecrowd
