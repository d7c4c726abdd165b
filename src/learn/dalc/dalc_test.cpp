#include "learn/dalc/dalc.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "learn/shared/lbfgs.hpp"
#include "learn/shared/per_worker_logistic.hpp"
#include "support/task_dependent_crowd.hpp"
#include "wisecrowd/dalc_session.hpp"

namespace wisecrowd::dalc {
namespace {

using testing::correlation;
using testing::task_dependent_crowd;
using testing::TaskDependentCrowd;

/// A crowd over few dense features with any probabilities of being right.
struct Small {
  testing::FeatureCrowd crowd;
  TrainingSet set;
  std::vector<double> right;
  ThreadPool pool{1};

  explicit Small(bool constant_features, std::size_t tasks = 200) {
    crowd = testing::gaussian_crowd(3, tasks, 0, 2, 1,
                                    {{{.7, .3, .2, .8}, -1}, {{.6, .4, .4, .6}, -1}, {{.9, .1, .3, .7}, -1}}, 0.8);
    if (constant_features) std::fill(crowd.data.features.dense.begin(), crowd.data.features.dense.end(), 0.0F);
    set = training_set(crowd.data);
    set.inputs = &crowd.data.features;
    Rng rng(5);
    for (std::size_t a = 0; a < set.answer_count(); ++a) right.push_back(rng.uniform());
  }
};

TEST(Lbfgs, FindsTheMinimumOfACurvedValley) {
  std::vector<double> point{-1.2, 1, -1.2, 1};
  const double value = lbfgs(point,
                             [](std::span<const double> x, std::span<double> g) {
                               double sum = 0;
                               for (std::size_t i = 0; i < 4; i += 2) {
                                 const double valley = x[i + 1] - x[i] * x[i];
                                 sum += 100 * valley * valley + (1 - x[i]) * (1 - x[i]);
                                 g[i] = -400 * valley * x[i] - 2 * (1 - x[i]);
                                 g[i + 1] = 200 * valley;
                               }
                               return sum;
                             },
                             {.iterations = 200, .tolerance = 1e-9});
  EXPECT_LT(value, 1e-12);
  for (const double x : point) EXPECT_NEAR(x, 1, 1e-5);
}

TEST(Dalc, GradientOfTheSharedFactor) {
  const Small small(false, 30);
  ThreadPool pool(1);
  LowRank model(*small.set.inputs, 3, {.rank = 4}, Rng(1), pool);
  model.fit(small.set, small.right);  // away from the start, where most of it is 0
  std::vector<double> shared = model.shared(), gradient(shared.size()), unused(shared.size());
  (void)model.objective(small.set, small.right, shared, gradient);
  for (std::size_t p = 0; p < shared.size(); ++p) {
    const double kept = shared[p];
    shared[p] = kept + 1e-5;
    const double above = model.objective(small.set, small.right, shared, unused);
    shared[p] = kept - 1e-5;
    const double below = model.objective(small.set, small.right, shared, unused);
    shared[p] = kept;
    const double expected = (above - below) / 2e-5;
    EXPECT_NEAR(gradient[p], expected, 1e-5 * (1 + std::abs(expected)));
  }
}

TEST(Dalc, GradientsThroughATwoLayerNetwork) {
  const Small small(false, 20);
  ThreadPool pool(1);
  const ReliabilityModel model(small.set,
                               std::make_unique<LowRank>(*small.set.inputs, 3, LowRank::Options{}, Rng(1), pool), {});
  EXPECT_LT(testing::gradient_error(model, small.set, 2), 1e-5);
}

TEST(Dalc, FittingNeverLowersTheObjective) {
  const Small small(false);
  ThreadPool pool(1);
  LowRank model(*small.set.inputs, 3, {.rank = 3}, Rng(1), pool);
  std::vector<double> unused(model.shared().size());
  double last = model.objective(small.set, small.right, model.shared(), unused);
  for (int round = 0; round < 10; ++round) {
    model.fit(small.set, small.right);
    const double now = model.objective(small.set, small.right, model.shared(), unused);
    EXPECT_GE(now, last - 1e-9);
    last = now;
  }
}

/// Features that never change leave one number per worker, the mean of being right when nothing pulls at it.
TEST(Dalc, ConstantFeaturesReduceToOneCoin) {
  const Small small(true);
  ThreadPool pool(1);
  std::vector<double> sum(3, 0.0), count(3, 0.0);
  for (std::size_t a = 0; a < small.set.answer_count(); ++a) {
    sum[index(small.set.worker[a])] += small.right[a];
    count[index(small.set.worker[a])] += 1;
  }
  LowRank low_rank(*small.set.inputs, 3, {.rank = 2, .worker_ridge = 1e-8, .rounds = 20}, Rng(1), pool);
  PerWorkerLogistic own(*small.set.inputs, 3, {.ridge = 1e-8}, pool);
  PerWorkerLogistic coin(*small.set.inputs, 3, {.ridge = 1e-8, .use_features = false}, pool);
  for (Reliability* const model :
       {static_cast<Reliability*>(&low_rank), static_cast<Reliability*>(&own), static_cast<Reliability*>(&coin)}) {
    model->fit(small.set, small.right);
    for (std::uint32_t j = 0; j < 3; ++j)
      EXPECT_NEAR(sigmoid(model->log_odds(WorkerId{j}, 0)), sum[j] / count[j], 1e-5);
  }
}

/// As many dimensions as features and no ridge: every worker's own regression can be expressed.
TEST(Dalc, FullRankWithoutRidgeIsPerWorkerLogistic) {
  const Small small(false);
  ThreadPool pool(1);
  LowRank low_rank(*small.set.inputs, 3, {.rank = 4, .worker_ridge = 1e-8, .shared_ridge = 1e-8, .rounds = 60}, Rng(1),
                   pool);
  PerWorkerLogistic own(*small.set.inputs, 3, {.ridge = 1e-8}, pool);
  low_rank.fit(small.set, small.right);
  own.fit(small.set, small.right);
  for (std::uint32_t j = 0; j < 3; ++j) {
    for (std::uint32_t row = 0; row < 200; row += 17) {
      EXPECT_NEAR(low_rank.log_odds(WorkerId(j), row), own.log_odds(WorkerId(j), row), 1e-3);
    }
  }
}

/// Sparse rows and the same rows written out densely.
TEST(Dalc, SparseAndDenseFeaturesAgree) {
  const TaskDependentCrowd sparse = task_dependent_crowd(2, {.tasks = 120, .workers = 15, .words = 20});
  Features dense;
  dense.rows = 120;
  dense.shape = {20};
  dense.dense.assign(120 * 20, 0.0F);
  const Features& from = sparse.crowd.data.features;
  for (std::size_t row = 0; row < 120; ++row) {
    for (auto e = from.offsets[row]; e < from.offsets[row + 1]; ++e) {
      dense.dense[row * 20 + from.indices[e]] = from.values[e];
    }
  }
  TrainingSet set = training_set(sparse.crowd.data);
  ThreadPool one(1), two(2);
  const auto compare = [&](Reliability& a, Reliability& b) {
    a.fit(set, sparse.reliability);
    b.fit(set, sparse.reliability);
    for (std::uint32_t j = 0; j < 15; ++j) {
      for (std::uint32_t row = 0; row < 120; row += 7)
        EXPECT_NEAR(a.log_odds(WorkerId(j), row), b.log_odds(WorkerId(j), row), 1e-6);
    }
  };
  LowRank low_a(from, 15, {}, Rng(1), one), low_b(dense, 15, {}, Rng(1), two);
  compare(low_a, low_b);
  PerWorkerLogistic own_a(from, 15, {}, one), own_b(dense, 15, {}, two);
  // A column that a worker never saw has weight 0 in both.
  compare(own_a, own_b);
}

/// The acceptance line of G3: reliability per answer against the true one; expertise of a worker as the mean
/// reliability of the answers given against the share of them that is right; labels against the vote.
TEST(Dalc, FindsWhoKnowsWhat) {
  const TaskDependentCrowd made = task_dependent_crowd(1, {.tasks = 3000, .workers = 3000, .words = 300});
  const testing::TrustFound low_rank = testing::find_trust(made, "low_rank"),
                            coin = testing::find_trust(made, "one_coin");
  EXPECT_GE(low_rank.eta, 0.5);
  EXPECT_GE(low_rank.eta, coin.eta + 0.05) << coin.eta;
  EXPECT_GE(low_rank.expertise, 0.85);
  EXPECT_GE(low_rank.labels, low_rank.vote + 0.02) << low_rank.labels << " " << low_rank.vote;
  EXPECT_GE(low_rank.labels, coin.labels - 0.01) << low_rank.labels << " " << coin.labels;
  // On tasks that the worker never saw, a handful of answers does not tell as much.
  EXPECT_GE(low_rank.expertise_everywhere, 0.5);
}

/// What leaves the finite numbers is not learned from: neither the past nor what comes in.
TEST(DalcSession, SaysThatItDiverged) {
  TaskDependentCrowd made = task_dependent_crowd(3, {.tasks = 60, .workers = 10, .words = 30});
  LearningData& data = made.crowd.data;
  std::vector<TaskId> past;
  for (std::size_t t = 0; t < 60; ++t) past.push_back(TaskId(t));
  for (float& value : data.features.is_sparse() ? data.features.values : data.features.dense) value *= 1e6F;
  Parameters parameters(learning_method("dalc").parameters);
  for (const auto& [name, value] : {std::pair{"epochs", "8"},
                                    {"optimizer", "sgd"},
                                    {"learning_rate", "100"},
                                    {"standardise", "false"},
                                    {"samples", "2"}}) {
    parameters.set(name, value);
  }
  const RunContext context({.seed = 1, .threads = 1});
  EXPECT_THROW((void)make_dalc_session(data, past, parameters, {.hidden = 16}, "test", context), Diverged);
  for (const NetworkSpec& network : {NetworkSpec{.hidden = 0}, NetworkSpec{.layers = 101}, NetworkSpec{.dropout = 1}}) {
    EXPECT_THROW((void)make_dalc_session(data, past, parameters, network, "test", context), Error);
  }
}

/// A session that is given nothing but answers: it learns, predicts, and a copy goes its own way.
TEST(DalcSession, LearnsFromAnswersThatComeIn) {
  const TaskDependentCrowd made = task_dependent_crowd(3, {.tasks = 600, .workers = 60, .words = 30});
  const LearningData& data = made.crowd.data;
  const CategoryAnswers& answers = data.crowd.answers;
  std::vector<TaskId> past, now;
  for (std::size_t t = 0; t < 600; ++t) (t < 300 ? past : now).push_back(TaskId(t));
  Parameters parameters(learning_method("dalc").parameters);
  parameters.set("epochs", "20");
  parameters.set("samples", "5");
  parameters.set("learning_rate", "0.01");
  NetworkSpec network;
  network.hidden = 16;
  const RunContext context({.seed = 1, .threads = 2}), one({.seed = 1, .threads = 1});
  const auto session = make_dalc_session(data, past, parameters, network, "test", context);
  const auto same = make_dalc_session(data, past, parameters, network, "test", one);

  // Reliabilities predict who is right on tasks that were not learned from.
  std::vector<double> said, right;
  std::vector<CategoryAnswer> all;
  for (const TaskId t : now) {
    const auto workers = answers.workers_of(t);
    const auto labels = answers.labels_of(t);
    for (std::size_t a = 0; a < workers.size(); ++a) {
      said.push_back(session->reliability(workers[a], t));
      right.push_back(labels[a] == made.crowd.truth[index(t)] ? 1 : 0);
      all.push_back({t, workers[a], labels[a]});
    }
  }
  EXPECT_GT(correlation(said, right), 0.3);

  // Without answers the posterior is the network's opinion, and no draw is less sure than all together.
  const DalcSession::Opinion before = session->opinion(now, 10, "before");
  EXPECT_EQ(before.mean, before.posterior);
  for (std::size_t i = 0; i < now.size(); ++i) {
    double entropy = 0;
    for (std::size_t k = 0; k < 2; ++k) entropy -= before.mean[2 * i + k] * std::log(before.mean[2 * i + k]);
    EXPECT_LE(before.draw_entropy[i], entropy + 1e-12);
  }
  const auto untouched = session->clone();
  for (DalcSession* const each : {session.get(), same.get()}) {
    each->add(all);
    each->train(30, "a");
    each->refresh_reliability();
    each->train(10, "b");
  }
  std::vector<std::uint32_t> rows(600);
  std::iota(rows.begin(), rows.end(), 0U);
  const std::vector<double> probabilities = session->predict(rows);
  EXPECT_EQ(probabilities, same->predict(rows));  // whatever the number of threads
  EXPECT_GT(testing::task_accuracy(made.crowd, probabilities), 0.75);
  EXPECT_LT(testing::task_accuracy(made.crowd, untouched->predict(rows)), 0.7);
  EXPECT_EQ(session->penultimate(now).size(), now.size() * 16);
  // What network and answers say together, against the sum written out.
  const DalcSession::Opinion after = session->opinion(now, 10, "after");
  const TaskId t = now[4];
  double odds = std::log(after.mean[2 * 4 + 1] / after.mean[2 * 4]);
  for (std::size_t a = 0; a < answers.workers_of(t).size(); ++a) {
    const double eta = session->reliability(answers.workers_of(t)[a], t);
    odds += (answers.labels_of(t)[a] == ClassId(1) ? 1 : -1) * std::log(eta / (1 - eta));
  }
  EXPECT_NEAR(after.posterior[2 * 4 + 1], sigmoid(odds), 1e-9);
}

}  // namespace
}  // namespace wisecrowd::dalc
