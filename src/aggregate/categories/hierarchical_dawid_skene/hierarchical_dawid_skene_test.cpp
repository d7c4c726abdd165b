#include "aggregate/categories/hierarchical_dawid_skene/hierarchical_dawid_skene.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "support/crowds.hpp"

namespace wisecrowd {
namespace {

using hierarchical_dawid_skene::HierarchicalDawidSkene;
using hierarchical_dawid_skene::Options;

using Matrix = std::vector<std::vector<double>>;

Matrix filled(std::size_t rows, std::size_t columns, double value) {
  return Matrix(rows, std::vector<double>(columns, value));
}

/// The equations of METHOD.md, one after the other, in plain loops.
struct Slow {
  explicit Slow(const CategoryData& data)
      : answers(data.answers),
        N(answers.task_count()),
        M(answers.worker_count()),
        K(answers.class_count()),
        nu0(std::max(1.0, std::sqrt(static_cast<double>(N)) / static_cast<double>(K))),
        q(filled(N, K, 0)),
        skill(M, 0.7),
        U(filled(K, K, 1.0 / static_cast<double>(K - 1))),
        v(filled(M, K, 1.0 / static_cast<double>(K))) {
    for (std::size_t t = 0; t < N; ++t) {
      for (const ClassId l : answers.labels_of(TaskId(t))) {
        q[t][index(l)] += 1.0 / static_cast<double>(answers.labels_of(TaskId(t)).size());
      }
    }
    for (std::size_t k = 0; k < K; ++k) U[k][k] = 0;
  }

  [[nodiscard]] double slip(std::size_t j, std::size_t k, std::size_t l) const {
    return share * U[k][l] + (1 - share) * v[j][l];
  }
  [[nodiscard]] double prior(std::size_t j, std::size_t k, std::size_t l) const {
    return strength * ((k == l ? skill[j] : 0) + (1 - skill[j]) * slip(j, k, l));
  }

  void count() {
    n.assign(M, filled(K, K, 0));
    for (std::size_t t = 0; t < N; ++t) {
      for (std::size_t a = 0; a < answers.workers_of(TaskId(t)).size(); ++a) {
        for (std::size_t k = 0; k < K; ++k) {
          n[index(answers.workers_of(TaskId(t))[a])][k][index(answers.labels_of(TaskId(t))[a])] += q[t][k];
        }
      }
    }
  }

  /// Fixed-point step of the hyper-parameters.
  void update_crowd() {
    const double s = strength;
    Matrix tables = filled(K, K, 0);
    std::vector<double> new_skill(M);
    Matrix new_v = filled(M, K, 1);
    double all_tables = 0, rows = 0, crowd = 0, own = 0;
    for (std::size_t j = 0; j < M; ++j) {
      double right = 0, all = 0;
      for (std::size_t k = 0; k < K; ++k) {
        double row = 0;
        for (std::size_t l = 0; l < K; ++l) {
          const double c = prior(j, k, l);
          const double fresh = c * (digamma(n[j][k][l] + c) - digamma(c));
          const double by_crowd = fresh * s * (1 - skill[j]) * share * U[k][l] / c;
          const double by_liking = fresh * s * (1 - skill[j]) * (1 - share) * v[j][l] / c;
          tables[k][l] += by_crowd;
          crowd += by_crowd;
          own += by_liking;
          new_v[j][l] += by_liking;
          all += fresh;
          if (k == l) right += fresh * s * skill[j] / c;
          row += n[j][k][l];
        }
        rows += digamma(row + s) - digamma(s);
      }
      new_skill[j] = (right + 2) / (all + 3);
      all_tables += all;
      double total = 0;
      for (const double x : new_v[j]) total += x;
      for (double& x : new_v[j]) x /= total;
    }
    share = (crowd + 1) / (crowd + own + 2);
    v = new_v;
    strength = (all_tables + 1) / (rows + 0.5);
    skill = new_skill;
    for (std::size_t k = 0; k < K && K > 2; ++k) {
      double total = 0;
      for (std::size_t l = 0; l < K; ++l) total += l == k ? 0 : tables[k][l] + 1;
      for (std::size_t l = 0; l < K; ++l) U[k][l] = l == k ? 0 : (tables[k][l] + 1) / total;
    }
  }

  /// The bound, and on the way the expected logarithms of the tables.
  void find_bound() {
    nu.assign(K, nu0);
    double value = std::log(strength) - 0.5 * strength + std::log(share) + std::log(1 - share);
    for (const auto& likings : v) {
      for (const double x : likings) value += std::log(x);
    }
    for (std::size_t t = 0; t < N; ++t) {
      value += entropy(q[t]);
      for (std::size_t k = 0; k < K; ++k) nu[k] += q[t][k];
    }
    value += log_beta(nu) - log_beta(std::vector<double>(K, nu0));
    expected_log = n;
    for (std::size_t j = 0; j < M; ++j) {
      value += 2 * std::log(skill[j]) + std::log(1 - skill[j]);
      for (std::size_t k = 0; k < K; ++k) {
        std::vector<double> b(K), c(K);
        double total = 0;
        for (std::size_t l = 0; l < K; ++l) {
          c[l] = prior(j, k, l);
          b[l] = n[j][k][l] + c[l];
          total += b[l];
        }
        value += log_beta(b) - log_beta(c);
        for (std::size_t l = 0; l < K; ++l) expected_log[j][k][l] = digamma(b[l]) - digamma(total);
      }
    }
    for (std::size_t k = 0; k < K && K > 2; ++k) {
      for (std::size_t l = 0; l < K; ++l) value += k == l ? 0 : std::log(U[k][l]);
    }
    bound.push_back(value);
  }

  void update_truth() {
    double nu_total = 0;
    for (const double mass : nu) nu_total += mass;
    for (std::size_t t = 0; t < N; ++t) {
      for (std::size_t k = 0; k < K; ++k) {
        q[t][k] = digamma(nu[k]) - digamma(nu_total);
        for (std::size_t a = 0; a < answers.workers_of(TaskId(t)).size(); ++a) {
          q[t][k] += expected_log[index(answers.workers_of(TaskId(t))[a])][k][index(answers.labels_of(TaskId(t))[a])];
        }
      }
      softmax(q[t]);
    }
  }

  const CategoryAnswers& answers;
  std::size_t N, M, K;
  double nu0;
  Matrix q;
  std::vector<double> skill;
  double strength = 2;
  std::vector<double> bound;  // right after each parameter update, where the entropy of q is explicit
  Matrix U, v;
  double share = 0.5;
  std::vector<double> nu;
  std::vector<Matrix> n, expected_log;
};

Slow slow_fit(const CategoryData& data, std::size_t iterations) {
  Slow fit(data);
  for (std::size_t iteration = 0; iteration < iterations; ++iteration) {
    fit.count();
    fit.update_crowd();
    fit.find_bound();
    fit.update_truth();
  }
  return fit;
}

TEST(HierarchicalDawidSkene, AgreesWithTheSlowReference) {
  for (const std::size_t classes : {2U, 3U, 5U, 9U}) {
    const auto crowd = testing::small_crowd(classes + 100, 80, 9, classes, 4);
    for (const std::size_t iterations : {1U, 2U, 10U}) {
      Options options;
      options.em.max_iterations = iterations;
      options.em.tolerance = 0;
      const auto fast = HierarchicalDawidSkene(options).fit(crowd.data, RunContext());
      const auto slow = slow_fit(crowd.data, iterations);
      for (std::size_t e = 0; e < fast.posterior.size(); ++e) {
        ASSERT_NEAR(fast.posterior[e], slow.q[e / classes][e % classes], 1e-9);
      }
      for (std::size_t w = 0; w < 9; ++w) EXPECT_NEAR(fast.skill[w], slow.skill[w], 1e-10);
      ASSERT_EQ(fast.learned[0].first, "strength");
      EXPECT_NEAR(fast.learned[0].second, slow.strength, 1e-9 * slow.strength);
      // The engine takes the bound after the truth has moved, the reference before: each lies between its neighbours.
      for (std::size_t i = 0; i < iterations; ++i) {
        EXPECT_GE(fast.trace[i], slow.bound[i] - 1e-9);
        if (i + 1 < iterations) {
          EXPECT_LE(fast.trace[i], slow.bound[i + 1] + 1e-9);
        }
      }
    }
  }
}

TEST(HierarchicalDawidSkene, BoundNeverFalls) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const std::size_t classes = 2 + seed % 5;
    const auto crowd = testing::small_crowd(seed, 150, seed % 3 == 0 ? 120 : 12, classes, 1 + seed % 6);
    Options options;
    options.em.tolerance = 0;
    options.em.max_iterations = 150;
    const auto result = HierarchicalDawidSkene(options).fit(crowd.data, RunContext());
    for (std::size_t i = 1; i < result.trace.size(); ++i) {
      ASSERT_GE(result.trace[i], result.trace[i - 1] - 1e-10 * std::abs(result.trace[i]))
          << "seed " << seed << " iteration " << i;
    }
  }
}

// Late iterations take several steps for the hyper-parameters: another way to the point where the plain steps rest.
TEST(HierarchicalDawidSkene, SeveralStepsEndWhereThePlainStepsEnd) {
  const auto crowd = testing::small_crowd(11, 150, 8, 3, 5);
  Options options;
  options.em.tolerance = 0;
  options.em.max_iterations = 1000;
  const auto fast = HierarchicalDawidSkene(options).fit(crowd.data, RunContext());
  const auto slow = slow_fit(crowd.data, 2500);
  for (std::size_t e = 0; e < fast.posterior.size(); ++e) {
    ASSERT_NEAR(fast.posterior[e], slow.q[e / 3][e % 3], 1e-4);
  }
  EXPECT_NEAR(fast.learned[0].second, slow.strength, 1e-3 * slow.strength);
}

// Workers who are all alike: the prior tightens; workers who differ wildly: it loosens.
TEST(HierarchicalDawidSkene, StrengthFollowsTheVarietyOfWorkers) {
  const auto strength = [](bool alike) {
    CategoryAnswersBuilder builder({"0", "1", "2"});
    Rng rng(4);
    for (int t = 0; t < 600; ++t) {
      for (int w = 0; w < 12; ++w) {
        const int truth = t % 3;
        int label = truth;
        if (alike) {
          label = rng.bernoulli(0.8) ? truth : static_cast<int>(rng.below(3));
        } else if (w % 3 == 0) {
          label = (truth + 1) % 3 == 0 && rng.bernoulli(0.9) ? 0 : truth;  // one confusion of its own
        } else if (w % 3 == 1) {
          label = rng.bernoulli(0.95) ? truth : static_cast<int>(rng.below(3));
        } else {
          label = truth == 1 && rng.bernoulli(0.9) ? 2 : truth;
        }
        builder.add(std::to_string(t), std::to_string(w), std::to_string(label));
      }
    }
    return HierarchicalDawidSkene().fit({builder.build(), {}, {}}, RunContext()).learned[0].second;
  };
  EXPECT_GT(strength(true), 10 * strength(false));
}

// Spammers who always say the same among many classes: their favourites explain them, so the tables of the others need
// not be loose, and little is lost against a model that knows of nothing but accuracy.
TEST(HierarchicalDawidSkene, FavouriteAnswersKeepManyClassesInHand) {
  double ours = 0, one_coin = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    CategoryAnswersBuilder builder;
    Rng rng(seed);
    for (int t = 0; t < 600; ++t) {
      for (int r = 0; r < 4; ++r) {
        const int worker = static_cast<int>(rng.below(80));
        int label = rng.bernoulli(0.7) ? t % 12 : static_cast<int>(rng.below(12));
        if (worker < 32 && rng.bernoulli(0.9)) label = worker % 12;
        builder.add(std::to_string(t), std::to_string(worker), std::to_string(label));
      }
    }
    const CategoryData data{builder.build(), {}, {}};
    const auto right = [&](const CategoryFit& result) {
      double sum = 0;
      for (std::size_t t = 0; t < result.task_count; ++t) {
        const int truth = std::stoi(std::string(data.answers.task_names()[t])) % 12;
        sum += data.answers.class_names()[index(result.labels[t])] == std::to_string(truth) ? 1 : 0;
      }
      return sum / static_cast<double>(result.task_count);
    };
    ours += right(HierarchicalDawidSkene().fit(data, RunContext())) / 6;
    one_coin += right(aggregate(data, "one_coin")) / 6;
  }
  EXPECT_GT(ours, one_coin - 0.005);
}

// One answer per worker: nothing individual can be learned. Over ten crowds the result stays within a point of the
// vote.
TEST(HierarchicalDawidSkene, SurvivesOneAnswerPerWorker) {
  double ours = 0, vote = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    CategoryAnswersBuilder builder({"0", "1", "2", "3", "4"});
    Rng rng(seed);
    int worker = 0;
    for (int t = 0; t < 300; ++t) {
      for (int r = 0; r < 5; ++r) {
        const int label = rng.bernoulli(0.6) ? t % 5 : static_cast<int>(rng.below(5));
        builder.add(std::to_string(t), std::to_string(worker++), std::to_string(label));
      }
    }
    const CategoryData data{builder.build(), {}, {}};
    const auto right = [&](const CategoryFit& result) {
      double sum = 0;
      for (std::size_t t = 0; t < result.task_count; ++t) sum += index(result.labels[t]) == t % 5 ? 1 : 0;
      return sum / static_cast<double>(result.task_count);
    };
    ours += right(HierarchicalDawidSkene().fit(data, RunContext())) / 10;
    vote += right(aggregate(data, "majority_vote")) / 10;
  }
  EXPECT_GT(ours, vote - 0.01);
}

}  // namespace
}  // namespace wisecrowd
