#include "aggregate/categories/ibcc/ibcc.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "support/crowds.hpp"

namespace wisecrowd {
namespace {

using ibcc::Ibcc;
using ibcc::Options;
using Rows = std::vector<std::vector<double>>;
using Tables = std::vector<Rows>;

TaskId id(std::size_t t) { return TaskId{static_cast<std::uint32_t>(t)}; }

Rows vote_shares(const CategoryData& data) {
  Rows q(data.answers.task_count(), std::vector<double>(data.answers.class_count(), 0));
  for (std::size_t t = 0; t < q.size(); ++t) {
    const auto labels = data.answers.labels_of(id(t));
    for (const ClassId l : labels) q[t][index(l)] += 1.0 / static_cast<double>(labels.size());
    if (data.gold_of(id(t)) != kNoClass) {
      std::fill(q[t].begin(), q[t].end(), 0.0);
      q[t][index(data.gold[t])] = 1;
    }
  }
  return q;
}

/// Section A7 of the specification in plain loops: the state after the parameters have been set from q.
struct Slow {
  const CategoryData& data;
  Options options;
  Rows q;
  Tables expected_log;  // E ln th_j[k][l]
  Tables mean;          // posterior mean
  std::vector<double> expected_log_prior;
  double bound = 0;

  Slow(const CategoryData& d, const Options& o) : data(d), options(o), q(vote_shares(d)) {}

  void set_parameters() {
    const CategoryAnswers& answers = data.answers;
    const std::size_t N = answers.task_count(), M = answers.worker_count(), K = answers.class_count();
    Tables n(M, Rows(K, std::vector<double>(K, 0)));
    for (std::size_t t = 0; t < N; ++t) {
      for (std::size_t a = 0; a < answers.workers_of(id(t)).size(); ++a) {
        for (std::size_t k = 0; k < K; ++k) {
          n[index(answers.workers_of(id(t))[a])][k][index(answers.labels_of(id(t))[a])] += q[t][k];
        }
      }
    }
    expected_log = mean = n;
    bound = 0;
    for (const auto& row : q) bound += entropy(row);
    const double a1 = options.diagonal_prior, a2 = options.off_diagonal_prior;
    for (std::size_t j = 0; j < M; ++j) {
      if (options.coins == Options::Coins::one_coin) {
        double right = 0, wrong = 0;
        for (std::size_t k = 0; k < K; ++k) {
          for (std::size_t l = 0; l < K; ++l) (k == l ? right : wrong) += n[j][k][l];
        }
        const std::array posterior = {a1 + right, a2 + wrong}, prior = {a1, a2};
        const double spread = std::log(static_cast<double>(K - 1));
        bound += log_beta(posterior) - log_beta(prior) - wrong * spread;
        for (std::size_t k = 0; k < K; ++k) {
          for (std::size_t l = 0; l < K; ++l) {
            expected_log[j][k][l] = k == l ? digamma(a1 + right) - digamma(a1 + a2 + right + wrong)
                                           : digamma(a2 + wrong) - digamma(a1 + a2 + right + wrong) - spread;
            const double w = (a1 + right) / (a1 + a2 + right + wrong);
            mean[j][k][l] = k == l ? w : (1 - w) / static_cast<double>(K - 1);
          }
        }
        continue;
      }
      for (std::size_t k = 0; k < K; ++k) {
        std::vector<double> b(K), b0(K, a2);
        b0[k] = a1;
        double total = 0;
        for (std::size_t l = 0; l < K; ++l) total += b[l] = n[j][k][l] + b0[l];
        bound += log_beta(b) - log_beta(b0);
        for (std::size_t l = 0; l < K; ++l) {
          expected_log[j][k][l] = digamma(b[l]) - digamma(total);
          mean[j][k][l] = b[l] / total;
        }
      }
    }
    expected_log_prior.assign(K, 0);
    if (!data.task_priors.empty()) {
      for (std::size_t t = 0; t < N; ++t) {
        for (std::size_t k = 0; k < K; ++k) bound += q[t][k] * std::log(data.task_priors[t * K + k]);
      }
      return;
    }
    std::vector<double> nu(K, options.em.class_pseudo_count);
    double total = 0;
    for (std::size_t k = 0; k < K; ++k) {
      for (std::size_t t = 0; t < N; ++t) nu[k] += q[t][k];
      total += nu[k];
    }
    bound += log_beta(nu) - log_beta(std::vector<double>(K, options.em.class_pseudo_count));
    for (std::size_t k = 0; k < K; ++k) expected_log_prior[k] = digamma(nu[k]) - digamma(total);
  }

  void set_truth() {
    const CategoryAnswers& answers = data.answers;
    const std::size_t K = answers.class_count();
    for (std::size_t t = 0; t < q.size(); ++t) {
      if (data.gold_of(id(t)) != kNoClass) continue;
      for (std::size_t k = 0; k < K; ++k) {
        q[t][k] = data.task_priors.empty() ? expected_log_prior[k] : std::log(data.task_priors[t * K + k]);
        for (std::size_t a = 0; a < answers.workers_of(id(t)).size(); ++a) {
          q[t][k] += expected_log[index(answers.workers_of(id(t))[a])][k][index(answers.labels_of(id(t))[a])];
        }
      }
      softmax(q[t]);
    }
  }
};

TEST(Ibcc, GoldenVectors) {
  const CategoryData data = testing::golden_tiny();
  Options options;
  options.em.tolerance = 0;
  // The bound right after the parameters of iteration i + 1 were set from the posterior of iteration i.
  const auto bound_after = [&](std::size_t iterations) {
    Slow slow(data, options);
    if (iterations > 0) {
      options.em.max_iterations = iterations;
      const auto result = Ibcc(options).fit(data, RunContext());
      for (std::size_t t = 0; t < 4; ++t) slow.q[t] = {result.posterior[2 * t], result.posterior[2 * t + 1]};
    }
    slow.set_parameters();
    return slow.bound;
  };
  EXPECT_NEAR(bound_after(0), -8.1484531971, 1e-8);
  EXPECT_NEAR(bound_after(1), -7.8060582879, 1e-8);
  options.em.max_iterations = 2000;
  const auto result = Ibcc(options).fit(data, RunContext());
  EXPECT_NEAR(result.trace.back(), -7.7705079236, 1e-8);
  EXPECT_LT(result.trace.back(), -7.1207294993) << "a bound cannot exceed the evidence";
  const std::array expected = {.03788687, .96264058, .45101284, .02392966};
  for (std::size_t t = 0; t < 4; ++t) EXPECT_NEAR(result.posterior[2 * t + 1], expected[t], 1e-8);
}

TEST(Ibcc, AgreesWithTheSlowReference) {
  for (const auto coins : {Options::Coins::full, Options::Coins::one_coin}) {
    for (const std::size_t classes : {2U, 3U, 5U, 9U, 17U}) {
      auto crowd = testing::small_crowd(classes, 60, 7, classes, 4);
      for (const int variant : {0, 1, 2}) {
        if (variant == 1) {
          crowd.data.gold.assign(60, kNoClass);
          for (std::size_t t = 0; t < 60; t += 5) crowd.data.gold[t] = crowd.truth[t];
        }
        if (variant == 2) {
          Rng rng(3);
          const std::vector<double> flat(classes, 1.0);
          crowd.data.task_priors.resize(60 * classes);
          for (std::size_t t = 0; t < 60; ++t) {
            rng.dirichlet(flat, std::span(crowd.data.task_priors).subspan(t * classes, classes));
          }
        }
        Options options;
        options.coins = coins;
        options.diagonal_prior = 2.5;
        options.off_diagonal_prior = 0.4;
        options.em.class_pseudo_count = 1.3;
        options.em.max_iterations = 8;
        options.em.tolerance = 0;
        const auto fast = Ibcc(options).fit(crowd.data, RunContext());
        Slow slow(crowd.data, options);
        for (std::size_t i = 0; i < 8; ++i) {
          slow.set_parameters();
          // The engine takes the bound after the truth has moved: it lies between two of the reference.
          EXPECT_GE(fast.trace[i], slow.bound - 1e-9);
          if (i > 0) {
            EXPECT_LE(fast.trace[i - 1], slow.bound + 1e-9);
          }
          slow.set_truth();
        }
        for (std::size_t e = 0; e < fast.posterior.size(); ++e) {
          ASSERT_NEAR(fast.posterior[e], slow.q[e / classes][e % classes], 1e-9);
        }
        slow.set_parameters();
        for (std::size_t e = 0; e < fast.confusion.size(); ++e) {
          const std::size_t cells = classes * classes;
          ASSERT_NEAR(fast.confusion[e], slow.mean[e / cells][e % cells / classes][e % classes], 1e-9);
        }
      }
    }
  }
}

/// ln p(y) with all parameters integrated out, by enumeration of all truths (two classes).
double log_evidence(const CategoryData& data, const Options& options) {
  const CategoryAnswers& answers = data.answers;
  const std::size_t N = answers.task_count(), M = answers.worker_count();
  std::vector<double> terms;
  for (std::size_t z = 0; z < (std::size_t{1} << N); ++z) {
    std::vector<double> nu(2, options.em.class_pseudo_count);
    std::vector<double> b(M * 4, options.off_diagonal_prior);
    for (std::size_t j = 0; j < M; ++j) b[j * 4] = b[j * 4 + 3] = options.diagonal_prior;
    for (std::size_t t = 0; t < N; ++t) {
      const std::size_t k = z >> t & 1;
      nu[k] += 1;
      for (std::size_t a = 0; a < answers.workers_of(id(t)).size(); ++a) {
        b[index(answers.workers_of(id(t))[a]) * 4 + k * 2 + index(answers.labels_of(id(t))[a])] += 1;
      }
    }
    double term = log_beta(nu) - log_beta(std::vector<double>(2, options.em.class_pseudo_count));
    const std::array prior = {options.diagonal_prior, options.off_diagonal_prior};
    for (std::size_t row = 0; row < M * 2; ++row) term += log_beta(std::span(b).subspan(row * 2, 2)) - log_beta(prior);
    terms.push_back(term);
  }
  return log_sum_exp(terms);
}

TEST(Ibcc, BoundStaysBelowTheEvidence) {
  EXPECT_NEAR(log_evidence(testing::golden_tiny(), {}), -7.1207294993, 1e-9);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const auto crowd = testing::small_crowd(seed, 8, 4, 2, 3);
    const auto result = Ibcc().fit(crowd.data, RunContext());
    const double evidence = log_evidence(crowd.data, {});
    EXPECT_LT(result.trace.back(), evidence);
    EXPECT_GT(result.trace.back(), evidence - 3) << "not a bound worth its name";
  }
}

TEST(Ibcc, BoundNeverFalls) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto crowd = testing::small_crowd(seed, 150, seed % 3 == 0 ? 120 : 12, 2 + seed % 5, 1 + seed % 6);
    Options options;
    options.coins = seed % 2 == 0 ? Options::Coins::full : Options::Coins::one_coin;
    options.off_diagonal_prior = seed % 4 == 0 ? 0.1 : 1;
    options.em.tolerance = 0;
    options.em.max_iterations = 150;
    const auto result = Ibcc(options).fit(crowd.data, RunContext());
    for (std::size_t i = 1; i < result.trace.size(); ++i) {
      ASSERT_GE(result.trace[i], result.trace[i - 1] - 1e-10 * std::abs(result.trace[i])) << seed << ": " << i;
    }
  }
}

TEST(Ibcc, RestartsKeepTheBestBound) {
  std::size_t better = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto crowd = testing::small_crowd(seed, 40, 40, 5, 3);
    Options options;
    options.diagonal_prior = 1.1;  // nearly flat: many optima
    options.off_diagonal_prior = 0.5;
    const auto one = Ibcc(options).fit(crowd.data, RunContext());
    options.em.restarts = 10;
    const auto many = Ibcc(options).fit(crowd.data, RunContext());
    EXPECT_GE(many.trace.back(), one.trace.back());
    ASSERT_EQ(many.learned[0].first, "best_start");
    EXPECT_EQ(many.learned[0].second > 0, many.trace.back() > one.trace.back());
    better += many.learned[0].second > 0 ? 1 : 0;
  }
  EXPECT_GT(better, 0U);
}

/// Honest workers with four answers each, and one who answers everything at random.
CategoryData with_spammer(std::uint64_t seed, bool spammer) {
  Rng rng(seed);
  CategoryAnswersBuilder builder({"0", "1"});
  for (int t = 0; t < 1000; ++t) {
    const int truth = static_cast<int>(rng.below(2));
    for (int r = 0; r < 3; ++r) {
      const auto worker = "w" + std::to_string((t * 3 + r) * 7919 % 750);
      builder.add(std::to_string(t), worker, std::to_string(rng.bernoulli(0.62) ? truth : 1 - truth));
    }
    const bool right = spammer ? rng.bernoulli(0.5) : rng.bernoulli(0.95);
    builder.add(std::to_string(t), "prolific", std::to_string(right ? truth : 1 - truth));
  }
  return {builder.build(), {}, {}};
}

TEST(Ibcc, WarnsWhenAProlificSpammerDecides) {
  Options options;  // the weak prior under which mean field collapses
  options.coins = Options::Coins::one_coin;
  options.diagonal_prior = 2;
  options.off_diagonal_prior = 1.6;
  const auto warned = [&](bool spammer) {
    const auto result = Ibcc(options).fit(with_spammer(5, spammer), RunContext());
    for (const auto& warning : result.warnings) {
      if (warning.code == "one_worker_decides") return warning.message.find("prolific") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(warned(true));
  EXPECT_FALSE(warned(false)) << "an expert with whom the others agree is no spammer";
}

/// Published accuracies (notebook of the EBCC authors) and those measured with scipy's sparse IBCC: repeated answers
/// count as further answers.
TEST(Ibcc, ReproducesPublishedAccuracies) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  struct Row {
    const char* set;
    double accuracy;
  };
  for (const auto& [set, accuracy] :
       {Row{"adult", .7447}, Row{"bluebird", .8889}, Row{"dog", .8389}, Row{"faces", .6404}, Row{"possent", .9600},
        Row{"product", .9383}, Row{"relevance", .5857}, Row{"rte", .9275}, Row{"sentiment_polarity", .9150},
        Row{"trec", .7055}, Row{"weather", .8833}, Row{"weather_amt", .8567}, Row{"zencrowd_all", .7951}}) {
    const std::string folder = *root + "/aggregate/" + set;
    ReadOptions reading;
    reading.duplicates = DuplicatePolicy::repeat;
    CategoryData data = read_dataset(folder + "/labels.csv", folder + "/gold.csv", reading, RunContext());
    std::vector<ClassId> gold;
    gold.swap(data.gold);
    Options options;
    options.em.ties = TieRule::fractional;
    const auto result = Ibcc(options).fit(data, RunContext());
    const auto score = evaluate(result.labels, result.posterior, gold, result.class_count,
                                {.tie_rule = TieRule::fractional, .bootstrap = 0}, RunContext());
    EXPECT_NEAR(score.accuracy.value, accuracy, .0015) << set;
  }
}

}  // namespace
}  // namespace wisecrowd
