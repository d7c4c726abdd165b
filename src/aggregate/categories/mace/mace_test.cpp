#include "aggregate/categories/mace/mace.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "support/slow_reference.hpp"

namespace wisecrowd {
namespace {

using mace::Mace;
using mace::Options;

TaskId id(std::size_t t) { return TaskId{static_cast<std::uint32_t>(t)}; }

/// Section A24 answer by answer, with g kept per answer.
struct Slow {
  std::vector<std::vector<double>> q;
  std::vector<double> trust;
};

Slow slow_fit(const CategoryData& data, const Options& options, std::size_t iterations) {
  const CategoryAnswers& answers = data.answers;
  const std::size_t N = answers.task_count(), M = answers.worker_count(), K = answers.class_count();
  const bool bayes = options.inference == Options::Inference::variational;
  const double kk = static_cast<double>(K);
  const double a0 = bayes ? options.trust_prior : options.pseudo_count;
  const double s0 = bayes ? options.guess_prior / kk : options.pseudo_count;
  Slow fit;
  fit.q.assign(N, std::vector<double>(K, 0));
  fit.trust.assign(M, 0);
  for (std::size_t t = 0; t < N; ++t) {
    for (const ClassId l : answers.labels_of(id(t)))
      fit.q[t][index(l)] += 1.0 / static_cast<double>(answers.labels_of(id(t)).size());
  }
  std::vector<double> know(M, 0.5), guess(M, 0.5);  // t and 1 − t, or exp of their expected logarithms
  std::vector<std::vector<double>> habit(M, std::vector<double>(K, 1 / kk));
  for (std::size_t iteration = 0; iteration < iterations; ++iteration) {
    std::vector<double> A(M, a0), B(M, a0), prior(K, 0);
    std::vector<std::vector<double>> C(M, std::vector<double>(K, s0));
    for (std::size_t t = 0; t < N; ++t) {
      for (std::size_t k = 0; k < K; ++k) prior[k] += fit.q[t][k] / static_cast<double>(N);
      for (std::size_t a = 0; a < answers.workers_of(id(t)).size(); ++a) {
        const std::size_t j = index(answers.workers_of(id(t))[a]), l = index(answers.labels_of(id(t))[a]);
        const double knew = fit.q[t][l] * know[j] / (know[j] + guess[j] * habit[j][l]);
        A[j] += knew;
        B[j] += 1 - knew;
        C[j][l] += 1 - knew;
      }
    }
    for (std::size_t j = 0; j < M; ++j) {
      double total = 0;
      for (const double c : C[j]) total += c;
      fit.trust[j] = A[j] / (A[j] + B[j]);
      know[j] = bayes ? std::exp(digamma(A[j]) - digamma(A[j] + B[j])) : fit.trust[j];
      guess[j] = bayes ? std::exp(digamma(B[j]) - digamma(A[j] + B[j])) : 1 - fit.trust[j];
      for (std::size_t l = 0; l < K && options.guesses == Options::Guesses::own; ++l) {
        habit[j][l] = bayes ? std::exp(digamma(C[j][l]) - digamma(total)) : C[j][l] / total;
      }
    }
    for (std::size_t t = 0; t < N; ++t) {
      for (std::size_t k = 0; k < K; ++k) {
        fit.q[t][k] = std::log(prior[k]);
        for (std::size_t a = 0; a < answers.workers_of(id(t)).size(); ++a) {
          const std::size_t j = index(answers.workers_of(id(t))[a]), l = index(answers.labels_of(id(t))[a]);
          fit.q[t][k] += std::log((k == l ? know[j] : 0) + guess[j] * habit[j][l]);
        }
      }
      softmax(fit.q[t]);
    }
  }
  return fit;
}

TEST(Mace, AgreesWithTheSlowReference) {
  for (const auto inference : {Options::Inference::em, Options::Inference::variational}) {
    for (const auto guesses : {Options::Guesses::own, Options::Guesses::uniform}) {
      for (const std::size_t classes : {2U, 3U, 7U}) {
        const auto crowd = testing::small_crowd(classes + 20, 60, 8, classes, 4);
        Options options;
        options.inference = inference;
        options.guesses = guesses;
        options.pseudo_count = 0.03;
        options.em.max_iterations = 9;
        options.em.tolerance = 0;
        const auto fast = Mace(options).fit(crowd.data, RunContext());
        const auto slow = slow_fit(crowd.data, options, 9);
        for (std::size_t e = 0; e < fast.posterior.size(); ++e) {
          ASSERT_NEAR(fast.posterior[e], slow.q[e / classes][e % classes], 1e-9);
        }
        for (std::size_t w = 0; w < 8; ++w) EXPECT_NEAR(fast.skill[w], slow.trust[w], 1e-9);
      }
    }
  }
}

TEST(Mace, ObjectiveNeverFalls) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const auto crowd = testing::small_crowd(seed, 120, seed % 3 == 0 ? 90 : 10, 2 + seed % 5, 1 + seed % 6);
    Options options;
    options.inference = seed % 2 == 0 ? Options::Inference::em : Options::Inference::variational;
    options.guesses = seed % 4 < 2 ? Options::Guesses::own : Options::Guesses::uniform;
    options.em.tolerance = 0;
    options.em.max_iterations = 150;
    const auto result = Mace(options).fit(crowd.data, RunContext());
    for (std::size_t i = 1; i < result.trace.size(); ++i) {
      ASSERT_GE(result.trace[i], result.trace[i - 1] - 1e-10 * std::abs(result.trace[i])) << seed << ": " << i;
    }
  }
}

TEST(Mace, LikelihoodIsThatOfItsTables) {
  const auto crowd = testing::small_crowd(3, 6, 4, 3, 3);
  Options options;
  options.inference = Options::Inference::em;
  const auto result = Mace(options).fit(crowd.data, RunContext());
  EXPECT_NEAR(result.log_likelihood,
              testing::enumerated_log_likelihood(crowd.data.answers, result.class_prior, result.confusion), 1e-9);
}

// Evidence by enumeration of the truth and of who guessed where; trust and habits integrate to Beta functions.
TEST(Mace, BoundStaysBelowTheEvidence) {
  const CategoryData data = testing::golden_tiny();
  const CategoryAnswers& answers = data.answers;
  Options options;
  options.em.class_prior = EmOptions::ClassPrior::uniform;
  const std::array trust_prior = {.5, .5}, guess_prior = {5., 5.};
  std::vector<double> terms;
  for (std::size_t z = 0; z < 16; ++z) {
    for (std::size_t knows = 0; knows < 512; ++knows) {
      std::array<std::array<double, 2>, 3> trust = {trust_prior, trust_prior, trust_prior};
      std::array<std::array<double, 2>, 3> habit = {guess_prior, guess_prior, guess_prior};
      bool possible = true;
      std::size_t answer = 0;
      for (std::size_t t = 0; t < 4; ++t) {
        for (std::size_t a = 0; a < answers.workers_of(id(t)).size(); ++a, ++answer) {
          const std::size_t j = index(answers.workers_of(id(t))[a]), l = index(answers.labels_of(id(t))[a]);
          const bool known = (knows >> answer & 1) != 0;
          trust[j][known ? 0 : 1] += 1;
          if (!known) habit[j][l] += 1;
          possible = possible && (!known || l == (z >> t & 1));
        }
      }
      if (!possible) continue;
      double term = 4 * std::log(0.5);
      for (std::size_t j = 0; j < 3; ++j) {
        term += log_beta(trust[j]) - log_beta(trust_prior) + log_beta(habit[j]) - log_beta(guess_prior);
      }
      terms.push_back(term);
    }
  }
  const auto result = Mace(options).fit(data, RunContext());
  EXPECT_LT(result.trace.back(), log_sum_exp(terms));
  EXPECT_GT(result.trace.back(), log_sum_exp(terms) - 2);
}

// With even guesses the right answer has probability w = t + (1 − t)/K: the one-coin model, as long as w ≥ 1/K.
TEST(Mace, EvenGuessesAreTheOneCoinModel) {
  const std::size_t classes = 4;
  Rng rng(6);
  CategoryAnswersBuilder builder({"0", "1", "2", "3"});
  for (int t = 0; t < 400; ++t) {
    for (int w = 0; w < 6; ++w) {
      const bool right = rng.bernoulli(0.5 + 0.07 * w);
      builder.add(std::to_string(t), std::to_string(w),
                  std::to_string(right ? t % 4 : (t + 1 + static_cast<int>(rng.below(3))) % 4));
    }
  }
  const CategoryData data{builder.build(), {}, {}};
  Options options;
  options.inference = Options::Inference::em;
  options.guesses = Options::Guesses::uniform;
  options.pseudo_count = 1e-9;
  options.em.tolerance = 0;
  options.em.max_iterations = 2000;
  const auto ours = Mace(options).fit(data, RunContext());
  Parameters parameters(aggregation_method("one_coin").parameters);
  parameters.set("right_pseudo_count", "0");
  parameters.set("wrong_pseudo_count", "0");
  parameters.set("tolerance", "0");
  parameters.set("max_iterations", "2000");
  const auto coin = aggregate(data, "one_coin", parameters, RunContext());
  for (std::size_t e = 0; e < ours.posterior.size(); ++e) ASSERT_NEAR(ours.posterior[e], coin.posterior[e], 1e-6);
  for (std::size_t w = 0; w < 6; ++w) {
    EXPECT_NEAR(ours.skill[w], (classes * coin.skill[w] - 1) / (classes - 1.0), 1e-6);
  }
}

TEST(Mace, FindsPlantedSpammersAndTheirHabits) {
  Rng rng(8);
  CategoryAnswersBuilder builder({"0", "1", "2"});
  for (int t = 0; t < 1500; ++t) {
    for (int w = 0; w < 9; ++w) {
      const int truth = t % 3;
      int label = rng.bernoulli(0.75) ? truth : static_cast<int>(rng.below(3));
      if (w == 7) label = 1;                           // always the same
      if (w == 8) label = rng.bernoulli(0.8) ? 2 : 0;  // a habit
      builder.add(std::to_string(t), "w" + std::to_string(w), std::to_string(label));
    }
  }
  const CategoryData data{builder.build(), {}, {}};
  for (const auto inference : {Options::Inference::em, Options::Inference::variational}) {
    Options options;
    options.inference = inference;
    const auto result = Mace(options).fit(data, RunContext());
    for (std::size_t w = 0; w < 7; ++w) EXPECT_NEAR(result.skill[w], 0.75, 0.06);
    EXPECT_LT(result.skill[7], 0.1);
    EXPECT_LT(result.skill[8], 0.1);
    EXPECT_NEAR(result.confusion_of(WorkerId{8})[2], 0.8, 0.05);
    EXPECT_NEAR(result.confusion_of(WorkerId{7})[1], 1, 0.03);
  }
}

TEST(Mace, AccuracyOnRealData) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  struct Row {
    const char* set;
    double variational, em;
  };
  for (const auto& [set, variational, em] :
       {Row{"bluebird", .8704, .8981}, Row{"dog", .8290, .8265}, Row{"rte", .9275, .9287},
        Row{"sentiment_polarity", .9178, .9152}, Row{"weather", .8833, .8767}}) {
    const std::string folder = *root + "/aggregate/" + set;
    CategoryData data = read_dataset(folder + "/labels.csv", folder + "/gold.csv", {}, RunContext());
    std::vector<ClassId> gold;
    gold.swap(data.gold);
    for (const auto inference : {Options::Inference::em, Options::Inference::variational}) {
      Options options;
      options.inference = inference;
      const auto result = Mace(options).fit(data, RunContext());
      const auto score = evaluate(result.labels, result.posterior, gold, result.class_count,
                                  {.tie_rule = result.tie_rule, .bootstrap = 0}, RunContext());
      EXPECT_NEAR(score.accuracy.value, inference == Options::Inference::em ? em : variational, .002) << set;
    }
  }
}

}  // namespace
}  // namespace wisecrowd
