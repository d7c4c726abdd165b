#include "aggregate/categories/gibbs/gibbs.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "aggregate/categories/gibbs/samplers.hpp"
#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "support/crowds.hpp"

namespace wisecrowd {
namespace {

using gibbs::Gibbs;
using gibbs::Options;

TaskId id(std::size_t t) { return TaskId{static_cast<std::uint32_t>(t)}; }

/// ln p(z, y) with tables and class prior integrated out, answer by answer.
double slow_log_joint(const CategoryData& data, const Options& options, const std::vector<std::size_t>& z) {
  const CategoryAnswers& answers = data.answers;
  const std::size_t M = answers.worker_count(), K = answers.class_count();
  std::vector<double> nu(K, options.class_pseudo_count);
  std::vector<std::vector<double>> b(M * K, std::vector<double>(K, options.off_diagonal_prior));
  for (std::size_t r = 0; r < M * K; ++r) b[r][r % K] = options.diagonal_prior;
  const auto prior = b;
  double joint = 0;
  for (std::size_t t = 0; t < z.size(); ++t) {
    nu[z[t]] += 1;
    if (!data.task_priors.empty()) joint += std::log(data.task_priors[t * K + z[t]]);
    for (std::size_t a = 0; a < answers.workers_of(id(t)).size(); ++a) {
      b[index(answers.workers_of(id(t))[a]) * K + z[t]][index(answers.labels_of(id(t))[a])] += 1;
    }
  }
  if (data.task_priors.empty()) joint += log_beta(nu) - log_beta(std::vector<double>(K, options.class_pseudo_count));
  for (std::size_t r = 0; r < M * K; ++r) joint += log_beta(b[r]) - log_beta(prior[r]);
  return joint;
}

/// Exact posterior by enumeration of all truths.
std::vector<double> enumerated(const CategoryData& data, const Options& options) {
  const std::size_t N = data.answers.task_count(), K = data.answers.class_count();
  std::size_t worlds = 1;
  for (std::size_t t = 0; t < N; ++t) worlds *= K;
  std::vector<double> weights;
  std::vector<std::vector<std::size_t>> truths;
  for (std::size_t world = 0; world < worlds; ++world) {
    std::vector<std::size_t> z(N);
    bool fits = true;
    for (std::size_t t = 0, rest = world; t < N; ++t, rest /= K) {
      z[t] = rest % K;
      fits = fits && (data.gold_of(id(t)) == kNoClass || index(data.gold[t]) == z[t]);
    }
    if (!fits) continue;
    weights.push_back(slow_log_joint(data, options, z));
    truths.push_back(std::move(z));
  }
  softmax(weights);
  std::vector<double> posterior(N * K, 0);
  for (std::size_t w = 0; w < weights.size(); ++w) {
    for (std::size_t t = 0; t < N; ++t) posterior[t * K + truths[w][t]] += weights[w];
  }
  return posterior;
}

double largest_variation(const std::vector<double>& a, const std::vector<double>& b, std::size_t K) {
  double largest = 0;
  for (std::size_t t = 0; t < a.size() / K; ++t) {
    double distance = 0;
    for (std::size_t k = 0; k < K; ++k) distance += 0.5 * std::abs(a[t * K + k] - b[t * K + k]);
    largest = std::max(largest, distance);
  }
  return largest;
}

Options long_run(Options::Sampler sampler) {
  Options options;
  options.sampler = sampler;
  options.sweeps = 5000;
  return options;
}

TEST(Gibbs, GoldenVectors) {
  const CategoryData data = testing::golden_tiny();
  const std::array expected = {.1869984141, .8780095155, .4833136281, .1052100518};
  const auto exact = enumerated(data, {});
  for (std::size_t t = 0; t < 4; ++t) EXPECT_NEAR(exact[2 * t + 1], expected[t], 1e-9);
  for (const auto sampler : {Options::Sampler::collapsed, Options::Sampler::uncollapsed}) {
    const auto result = Gibbs(long_run(sampler)).fit(data, RunContext());
    for (std::size_t t = 0; t < 4; ++t) EXPECT_NEAR(result.posterior[2 * t + 1], expected[t], .01);
    EXPECT_EQ(result.status, Status::converged);
  }
}

TEST(Gibbs, AgreesWithEnumeration) {
  for (const auto sampler : {Options::Sampler::collapsed, Options::Sampler::uncollapsed}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const std::size_t classes = seed < 2 ? 2 : 3;
      auto crowd = testing::small_crowd(seed + 40, classes == 2 ? 8 : 6, 4, classes, 3);
      if (seed % 2 == 1) {
        crowd.data.gold.assign(crowd.truth.size(), kNoClass);
        crowd.data.gold[2] = crowd.truth[2];
        Rng rng(seed);
        crowd.data.task_priors.resize(crowd.truth.size() * classes);
        for (std::size_t t = 0; t < crowd.truth.size(); ++t) {
          rng.dirichlet(std::vector<double>(classes, 2.0),
                        std::span(crowd.data.task_priors).subspan(t * classes, classes));
        }
      }
      const auto result = Gibbs(long_run(sampler)).fit(crowd.data, RunContext());
      EXPECT_LT(largest_variation(result.posterior, enumerated(crowd.data, {}), classes), .02) << seed;
    }
  }
}

TEST(Gibbs, TraceIsTheLogJoint) {
  const auto crowd = testing::small_crowd(5, 60, 9, 3, 10);  // nine answers: more than are multiplied in one go
  Options options;
  const gibbs::Problem problem(crowd.data, options);
  const std::vector<double> flat(60 * 3, 1.0 / 3);
  Rng rng(1);
  gibbs::Chain chain = gibbs::begin(problem, flat, rng.fork("start"), false);
  double joint = gibbs::log_joint(problem, chain);
  for (int s = 0; s < 30; ++s) joint += gibbs::collapsed_sweep<0>(problem, chain, rng);
  const std::vector<std::size_t> z(chain.truth.begin(), chain.truth.end());
  EXPECT_NEAR(joint, slow_log_joint(crowd.data, options, z), 1e-8);
  EXPECT_NEAR(gibbs::log_joint(problem, chain), slow_log_joint(crowd.data, options, z), 1e-8);
}

TEST(Gibbs, ConditionalsAreRatiosOfTheJoint) {
  const auto crowd = testing::small_crowd(6, 12, 11, 4, 11);
  Options options;
  const gibbs::Problem problem(crowd.data, options);
  Rng rng(2);
  gibbs::Chain chain = gibbs::begin(problem, std::vector<double>(12 * 4, 0.25), rng.fork("start"), false);
  std::vector<std::size_t> z(chain.truth.begin(), chain.truth.end());
  gibbs::collapsed_sweep<4>(problem, chain, rng);
  // Tasks before t have their new class already, those after still the old one.
  for (std::size_t t = 0; t < 12; ++t) {
    std::vector<double> expected(4);
    for (std::size_t k = 0; k < 4; ++k) {
      z[t] = k;
      expected[k] = slow_log_joint(crowd.data, options, z);
    }
    softmax(expected);
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(chain.conditional[t * 4 + k], expected[k], 1e-10);
    z[t] = chain.truth[t];
  }
}

// Geweke's test: parameters and truth from the prior, data from those, against a chain that draws data and truth in
// turn. If the sampler leaves the posterior unchanged, both have the same distribution.
class Geweke : public ::testing::TestWithParam<Options::Sampler> {
 protected:
  static constexpr std::size_t kTasks = 6, kWorkers = 3, kClasses = 2;
  using Choices = std::vector<std::size_t>;
  using Values = std::array<double, 4>;

  void SetUp() override {
    options_.diagonal_prior = 3;
    options_.off_diagonal_prior = 1.5;
    options_.class_pseudo_count = 2;
    options_.sampler = GetParam();
  }

  static CategoryData build(const Choices& labels) {
    const std::vector<std::string> names = {"0", "1"};
    CategoryAnswersBuilder builder(names);
    for (std::size_t t = 0; t < kTasks; ++t) {
      for (std::size_t w = 0; w < kWorkers; ++w) {
        builder.add(std::to_string(t), std::to_string(w), names[labels[t * kWorkers + w]]);
      }
    }
    return CategoryData{builder.build(), {}, {}};
  }

  /// y given z, with tables drawn from their posterior given z and the last y (or the prior when there is none).
  Choices draw_answers(const Choices& z, const Choices* before) {
    Choices labels(kTasks * kWorkers);
    for (std::size_t w = 0; w < kWorkers; ++w) {
      std::array<double, kClasses> right{};
      for (std::size_t k = 0; k < kClasses; ++k) {
        double a = options_.diagonal_prior, b = options_.off_diagonal_prior;
        for (std::size_t t = 0; t < kTasks && before != nullptr; ++t) {
          if (z[t] == k) ((*before)[t * kWorkers + w] == k ? a : b) += 1;
        }
        right[k] = rng_.beta(a, b);
      }
      for (std::size_t t = 0; t < kTasks; ++t) {
        labels[t * kWorkers + w] = rng_.bernoulli(right[z[t]]) ? z[t] : 1 - z[t];
      }
    }
    return labels;
  }

  Choices draw_truth() {
    const double p = rng_.beta(options_.class_pseudo_count, options_.class_pseudo_count);
    Choices z(kTasks);
    for (auto& k : z) k = rng_.bernoulli(p) ? 1 : 0;
    return z;
  }

  /// The sampler's next truth.
  Choices sweep(const Choices& z, const Choices& y, std::size_t draw) {
    const CategoryData data = build(y);
    const gibbs::Problem problem(data, options_);
    std::vector<double> certain(kTasks * kClasses, 0.0);
    for (std::size_t t = 0; t < kTasks; ++t) certain[t * kClasses + z[t]] = 1;
    gibbs::Chain chain = gibbs::begin(problem, certain, Rng(0), true);
    if (GetParam() == Options::Sampler::collapsed) {
      gibbs::collapsed_sweep<2>(problem, chain, rng_);
    } else {
      gibbs::UncollapsedSampler(problem, context_).sweep(chain, rng_.fork("sweep", draw));
    }
    return Choices(chain.truth.begin(), chain.truth.end());
  }

  /// Test functions: agreement of answers and truth, balance of classes, agreement of two workers, and a square.
  static Values measure(const Choices& z, const Choices& y) {
    Values v{};
    for (std::size_t t = 0; t < kTasks; ++t) {
      v[1] += static_cast<double>(z[t]);
      v[2] += y[t * kWorkers] == y[t * kWorkers + 1] ? 1 : 0;
      for (std::size_t w = 0; w < kWorkers; ++w) v[0] += y[t * kWorkers + w] == z[t] ? 1 : 0;
    }
    v[3] = v[1] * v[1];
    return v;
  }

  Options options_;
  const RunContext context_{{.threads = 1}};
  Rng rng_{77};
};

TEST_P(Geweke, SuccessiveConditionalAndMarginalSimulationAgree) {
  constexpr std::size_t kDraws = 20000, kBatch = 200;
  Values marginal{}, squares{};
  for (std::size_t d = 0; d < kDraws; ++d) {
    const auto z = draw_truth();
    const auto v = measure(z, draw_answers(z, nullptr));
    for (std::size_t f = 0; f < 4; ++f) {
      marginal[f] += v[f] / kDraws;
      squares[f] += v[f] * v[f] / kDraws;
    }
  }
  auto z = draw_truth();
  auto y = draw_answers(z, nullptr);
  Values chain_mean{};
  std::vector<Values> batches(kDraws / kBatch);
  for (std::size_t d = 0; d < kDraws; ++d) {
    z = sweep(z, y, d);
    y = draw_answers(z, &y);
    const auto v = measure(z, y);
    for (std::size_t f = 0; f < 4; ++f) {
      chain_mean[f] += v[f] / kDraws;
      batches[d / kBatch][f] += v[f] / kBatch;
    }
  }
  for (std::size_t f = 0; f < 4; ++f) {
    double variance = (squares[f] - marginal[f] * marginal[f]) / kDraws;
    double between = 0;
    for (const auto& batch : batches) between += (batch[f] - chain_mean[f]) * (batch[f] - chain_mean[f]);
    const auto count = static_cast<double>(batches.size());
    variance += between / (count - 1) / count;
    EXPECT_LT(std::abs(marginal[f] - chain_mean[f]) / std::sqrt(variance), 4) << "test function " << f;
  }
}

INSTANTIATE_TEST_SUITE_P(Gibbs, Geweke, ::testing::Values(Options::Sampler::collapsed, Options::Sampler::uncollapsed),
                         [](const auto& instance) {
                           return instance.param == Options::Sampler::collapsed ? "collapsed" : "uncollapsed";
                         });

TEST(Gibbs, SamplersAgreeOnACrowd) {
  const auto crowd = testing::small_crowd(9, 150, 10, 4, 5);
  Options options;
  const auto collapsed = Gibbs(options).fit(crowd.data, RunContext());
  options.sampler = Options::Sampler::uncollapsed;
  const auto other = Gibbs(options).fit(crowd.data, RunContext());
  EXPECT_LT(largest_variation(collapsed.posterior, other.posterior, 4), .05);
  for (std::size_t e = 0; e < collapsed.confusion.size(); ++e) {
    EXPECT_NEAR(collapsed.confusion[e], other.confusion[e], .03);
  }
  EXPECT_EQ(collapsed.learned[0].first, "largest_r_hat");
  EXPECT_LT(collapsed.learned[0].second, 1.05);
}

TEST(Gibbs, RHatFindsChainsThatSitInDifferentSolutions) {
  // A flat prior makes a solution and its mirror image equally probable; without alignment chains may end in either.
  CategoryAnswersBuilder builder({"0", "1"});
  Rng rng(12);
  for (int t = 0; t < 200; ++t) {
    for (int w = 0; w < 6; ++w) {
      builder.add(std::to_string(t), std::to_string(w), std::to_string(rng.bernoulli(0.8) ? t % 2 : 1 - t % 2));
    }
  }
  const CategoryData data{builder.build(), {}, {}};
  Options options;
  options.diagonal_prior = options.off_diagonal_prior = 1;
  options.chains = 8;
  options.align = Options::Align::never;
  const std::vector<double> even(400, 0.5);  // starts that know nothing of the names of the classes
  const auto apart = Gibbs(options).fit(data, RunContext(), CategoryStart{even});
  EXPECT_GT(apart.learned[0].second, 2);
  EXPECT_EQ(apart.status, Status::iteration_limit);
  options.align = Options::Align::automatic;
  const auto together = Gibbs(options).fit(data, RunContext());
  EXPECT_LT(together.learned[0].second, 1.05);
  std::size_t right = 0;
  for (std::size_t t = 0; t < 200; ++t) right += index(together.labels[t]) == t % 2 ? 1 : 0;
  EXPECT_GT(right, 180U);
}

TEST(Gibbs, AlignedDrawsUndoAMirroredChain) {
  const auto crowd = testing::small_crowd(15, 100, 8, 3, 6);
  Options options;
  options.diagonal_prior = options.off_diagonal_prior = 1;
  const gibbs::Problem problem(crowd.data, options);
  std::vector<double> truth(300, 0.0), mirrored(300, 0.0);
  for (std::size_t t = 0; t < 100; ++t) {
    truth[t * 3 + index(crowd.truth[t])] = 1;
    mirrored[t * 3 + (index(crowd.truth[t]) + 1) % 3] = 1;
  }
  gibbs::Chain chain = gibbs::begin(problem, mirrored, Rng(1), true);
  chain.conditional.assign(mirrored.begin(), mirrored.end());
  gibbs::keep(problem, chain, true, truth, 0);
  EXPECT_EQ(chain.relabelled, 1U);
  for (std::size_t e = 0; e < 300; ++e) EXPECT_EQ(chain.sums[0][e], truth[e]);
}

// The point of sampling: on sparse data mean field and EM are too sure of themselves.
TEST(Gibbs, IsBetterCalibratedThanMeanField) {
  double ours = 0, mean_field = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto crowd = testing::small_crowd(seed + 60, 300, 60, 3, 3);
    const auto loss = [&](const CategoryFit& result) {
      double sum = 0;
      for (std::size_t t = 0; t < 300; ++t) {
        sum -= std::log(std::max(result.posterior[t * 3 + index(crowd.truth[t])], 1e-12)) / 300;
      }
      return sum;
    };
    ours += loss(Gibbs().fit(crowd.data, RunContext()));
    mean_field += loss(aggregate(crowd.data, "ibcc"));
  }
  EXPECT_LT(ours, 0.95 * mean_field);
}

TEST(Gibbs, AccuracyOnRealData) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  struct Row {
    const char* set;
    double accuracy;
  };
  for (const auto& [set, accuracy] : {Row{"bluebird", .8889}, Row{"dog", .8389}, Row{"rte", .9275}}) {
    const std::string folder = *root + "/aggregate/" + set;
    CategoryData data = read_dataset(folder + "/labels.csv", folder + "/gold.csv", {}, RunContext());
    std::vector<ClassId> gold;
    gold.swap(data.gold);
    const auto result = Gibbs().fit(data, RunContext());
    const auto score = evaluate(result.labels, result.posterior, gold, result.class_count,
                                {.tie_rule = result.tie_rule, .bootstrap = 0}, RunContext());
    EXPECT_NEAR(score.accuracy.value, accuracy, .01) << set;
  }
}

}  // namespace
}  // namespace wisecrowd
