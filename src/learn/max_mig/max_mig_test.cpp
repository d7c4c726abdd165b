#include "learn/max_mig/max_mig.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/numeric.hpp"
#include "support/learning.hpp"

namespace wisecrowd::max_mig {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

constexpr std::array kDivergences = {Divergence::kl, Divergence::pearson, Divergence::js};

/// The discrete world of K4: two classes, three values of x, four of y.
struct SmallWorld {
  std::array<double, 2> prior{.4, .6};
  std::array<std::array<double, 3>, 2> x{{{.7, .2, .1}, {.1, .3, .6}}};
  std::array<std::array<double, 4>, 2> y{{{.5, .3, .1, .1}, {.1, .1, .3, .5}}};
  std::array<std::array<double, 2>, 3> f{};  // P(z | x)
  std::array<std::array<double, 2>, 4> g{};  // P(z | y)

  SmallWorld() {
    for (std::size_t v = 0; v < 3; ++v) {
      for (std::size_t k = 0; k < 2; ++k) f[v][k] = prior[k] * x[k][v];
      normalise(f[v]);
    }
    for (std::size_t v = 0; v < 4; ++v) {
      for (std::size_t k = 0; k < 2; ++k) g[v][k] = prior[k] * y[k][v];
      normalise(g[v]);
    }
  }
  [[nodiscard]] double information(Divergence divergence) const {
    double sum = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t b = 0; b < 4; ++b) {
        double joint = 0, of_x = 0, of_y = 0, ratio = 0;
        for (std::size_t k = 0; k < 2; ++k) {
          joint += prior[k] * x[k][a] * y[k][b];
          of_x += prior[k] * x[k][a];
          of_y += prior[k] * y[k][b];
          ratio += f[a][k] * g[b][k] / prior[k];
        }
        sum += joint * on_pair(divergence, ratio) - of_x * of_y * on_product(divergence, ratio);
      }
    }
    return sum;
  }
};

TEST(Information, ExactPosteriorsAttainTheMutualInformation) {
  const SmallWorld world;
  EXPECT_NEAR(world.information(Divergence::kl), .075768694179, 1e-10);
  EXPECT_NEAR(world.information(Divergence::pearson), .147814708581, 1e-10);
  EXPECT_NEAR(world.information(Divergence::js), .038741992451, 1e-10);
}

TEST(Information, EveryOtherForecastTellsLess) {
  Rng rng(3);
  for (const Divergence divergence : kDivergences) {
    const double best = SmallWorld().information(divergence);
    for (int trial = 0; trial < 200; ++trial) {
      SmallWorld other;
      const double size = trial % 2 == 0 ? .05 : .6;
      for (auto& row : other.f) {
        for (double& p : row) p *= std::exp(size * rng.normal());
        normalise(row);
      }
      for (auto& row : other.g) {
        for (double& p : row) p *= std::exp(size * rng.normal());
        normalise(row);
      }
      EXPECT_LT(other.information(divergence), best);
    }
    // Forecasts that never change know nothing, and nothing is what they get.
    SmallWorld constant;
    for (auto& row : constant.f) row = constant.prior;
    EXPECT_NEAR(constant.information(divergence), 0, 1e-12);
  }
}

/// The shortcuts through sums and moments against all pairs one by one.
TEST(Information, BatchLossIsTheMeanOverAllPairs) {
  Rng rng(5);
  const std::size_t batch = 7, classes = 3;
  std::vector<double> f(batch * classes), g(f.size()), unused_f(f.size()), unused_g(f.size());
  const std::vector<double> prior{.2, .5, .3}, flat(classes, 1.0);
  for (std::size_t i = 0; i < batch; ++i) {
    rng.dirichlet(flat, std::span(f).subspan(i * classes, classes));
    rng.dirichlet(flat, std::span(g).subspan(i * classes, classes));
  }
  for (const Divergence divergence : kDivergences) {
    double expected = 0;
    for (std::size_t i = 0; i < batch; ++i) {
      for (std::size_t l = 0; l < batch; ++l) {
        double ratio = 0;
        for (std::size_t k = 0; k < classes; ++k) ratio += f[i * classes + k] * g[l * classes + k] / prior[k];
        // The guard of the logarithm is part of the loss; pearson has none.
        const double guarded = divergence == Divergence::pearson ? ratio : ratio + 5e-5;
        if (i == l) expected -= on_pair(divergence, guarded) / batch;
        if (i != l) expected += on_product(divergence, ratio) / (batch * (batch - 1));
      }
    }
    EXPECT_NEAR(information_loss(divergence, {f.data(), batch, classes}, {g.data(), batch, classes}, prior,
                                 {unused_f.data(), batch, classes}, {unused_g.data(), batch, classes}),
                expected, 1e-12);
  }
}

TrainingSet small_set() {
  return training_set(gaussian_crowd(3, 12, 0, 3, 1,
                                     {{{.7, .2, .1, .1, .8, .1, .2, .2, .6}, -1},
                                      {{.5, .3, .2, .3, .4, .3, .1, .1, .8}, -1},
                                      {{.9, .05, .05, .1, .8, .1, .0, .1, .9}, -1}},
                                     0.7)
                          .data);
}

TEST(MaxMig, GradientsThroughATwoLayerNetwork) {
  TrainingSet set = small_set();
  set.gold[2] = ClassId(1);
  for (const Divergence divergence : kDivergences) {
    Options options;
    options.divergence = divergence;
    options.start = Options::Start::random;
    const MaxMigModel model(set, options, {}, Rng(7));
    EXPECT_LT(testing::gradient_error(model, set, 1), 1e-5);
    const double of_workers = testing::own_gradient_error(
        model, set, 1, set.worker_count * 9,
        [](AnswerModel& m, std::size_t p, double change) {
          dynamic_cast<MaxMigModel&>(m).weights().of(p / 9)[p % 9] += change;
        },
        [](AnswerModel& m, std::size_t p) { return dynamic_cast<MaxMigModel&>(m).weights().gradient(p / 9)[p % 9]; });
    EXPECT_LT(of_workers, 1e-5);
    const double of_prior = testing::own_gradient_error(
        model, set, 1, 3,
        [](AnswerModel& m, std::size_t p, double change) { dynamic_cast<MaxMigModel&>(m).bias().of(0)[p] += change; },
        [](AnswerModel& m, std::size_t p) { return dynamic_cast<MaxMigModel&>(m).bias().gradient(0)[p]; });
    EXPECT_LT(of_prior, 1e-5);
  }
}

/// Weights log th and a bias log π make the aggregator the posterior of independent workers, and the forecaster that of
/// workers and row together.
TEST(MaxMig, LogarithmsOfTablesMakeTheForecasterThePosterior) {
  const TrainingSet set = small_set();
  Options options;
  options.start = Options::Start::votes;
  MaxMigModel model(set, options, {}, Rng(7));
  std::vector<double> tables(27);
  Rng rng(2);
  const std::vector<double> flat(3, 2.0);
  for (std::size_t row = 0; row < 9; ++row) rng.dirichlet(flat, std::span(tables).subspan(row * 3, 3));
  for (std::size_t cell = 0; cell < 27; ++cell) model.weights().of(cell / 9)[cell % 9] = std::log(tables[cell]);
  const std::vector<double> outputs{.3, -.5, 1.1};
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    const TaskAnswers answers{set.workers_of(i), set.labels_of(i)};
    std::vector<double> expected(3), found(3);
    posterior_from_tables(outputs, answers, tables, expected);
    model.posterior(outputs, answers, found);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found[k], expected[k], 1e-12);
    const std::vector<double> nothing(3, 0.0);
    posterior_from_tables(nothing, answers, tables, expected);
    model.aggregate(answers, found);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found[k], expected[k], 1e-12);
  }
}

/// Example E.2 (K9): one perfect worker and a hundred copies of a coin. Likelihood prefers the coin.
TEST(MaxMig, LikelihoodOfExampleE2PrefersTheCoin) {
  const auto log_likelihood = [](double expert, double others, double prior_known) {
    // Answers: the expert says z, all others say c; z and c are fair and independent. P(answers | z) per worker has the
    // right answer with the given probability.
    double sum = 0;
    for (const int z : {0, 1}) {
      for (const int c : {0, 1}) {
        double likelihood = 0;
        for (const int k : {0, 1}) {
          const double prior = prior_known == 1 ? (k == z ? 1 : 0) : .5;
          likelihood += prior * (k == z ? expert : 1 - expert) * std::pow(k == c ? others : 1 - others, 100);
        }
        sum += .25 * std::log(likelihood);
      }
    }
    return sum;
  };
  EXPECT_NEAR(log_likelihood(1, .5, 1), -69.314718, 1e-6);
  EXPECT_NEAR(log_likelihood(.5, 1, 0), -1.386294, 1e-6);
}

testing::FeatureCrowd example_e2(std::uint64_t seed, std::size_t tasks, int copies) {
  std::vector<testing::PlannedWorker> workers{{{1, 0, 0, 1}, -1}, {{.5, .5, .5, .5}, -1}};
  for (int j = 1; j < copies; ++j) workers.push_back({{}, 1});
  return gaussian_crowd(seed, tasks, 2000, 2, 3, workers);
}

TEST(MaxMig, CopiesOfACoinDoNotWinWhenStartsAreCompared) {
  const auto crowd = example_e2(1, 2000, 5);
  const Learned learned =
      testing::run_learner(crowd.data, "max_mig", {{"learning_rate", "0.01"}, {"epochs", "30"}}, {.kind = "linear"}, 1);
  EXPECT_GT(testing::test_accuracy(crowd, learned.row_probabilities), 0.98) << learned.crowd.explanation;
  EXPECT_GT(testing::task_accuracy(crowd, learned.crowd.posterior), 0.98);
}

/// Trained on the truth itself, with the same network and steps.
double truth_accuracy(testing::FeatureCrowd crowd, const std::string& epochs) {
  crowd.data.crowd.gold.assign(crowd.truth.begin(), crowd.truth.begin() + static_cast<std::ptrdiff_t>(crowd.tasks));
  const Learned learned = testing::run_learner(
      crowd.data, "two_stage", {{"aggregator", "majority_vote"}, {"epochs", epochs}, {"learning_rate", "0.01"}},
      {.kind = "linear"}, 1);
  return testing::test_accuracy(crowd, learned.row_probabilities);
}

TEST(MaxMig, NaiveMajorityAndCopiesDoNotMislead) {
  for (const char skill : {'H', 'L'}) {
    for (const int which : {1, 2, 3}) {
      const auto crowd = gaussian_crowd(1, 3000, 5000, 2, 1.3, max_mig_workers(skill, which));
      const double truth = truth_accuracy(crowd, "10");
      const Learned learned = testing::run_learner(crowd.data, "max_mig", {{"learning_rate", "0.01"}, {"epochs", "20"}},
                                                   {.kind = "linear"}, 1);
      const double network = testing::test_accuracy(crowd, learned.row_probabilities);
      EXPECT_GT(network, truth - 0.01) << skill << which << learned.crowd.explanation;
      // With the answers, the forecaster knows more than the network alone where workers are good.
      if (skill == 'H') {
        EXPECT_GT(testing::task_accuracy(crowd, learned.crowd.posterior), network) << skill << which;
      }
    }
  }
}

/// Five classes, ten weak workers and eight copies of one of them (G7): copies make the crowd look sure, and the
/// learned weight of the answers takes back some of that. The forecaster stays below the network alone, as in the
/// reference
/// (.777 beside .879).
TEST(MaxMig, CopiesCountForLess) {
  std::vector<double> weak(25, .175);
  for (std::size_t k = 0; k < 5; ++k) weak[k * 6] = .3;
  std::vector<testing::PlannedWorker> workers(10, {weak, -1});
  workers.resize(18, {{}, 0});
  const auto crowd = gaussian_crowd(3, 3000, 0, 5, 2.2, workers);
  const auto accuracy = [&](const std::string& answer_power) {
    const Learned learned = testing::run_learner(
        crowd.data, "max_mig",
        {{"learning_rate", "0.01"}, {"epochs", "15"}, {"class_prior", "uniform"}, {"answer_power", answer_power}},
        {.kind = "linear"}, 1);
    return testing::task_accuracy(crowd, learned.crowd.posterior);
  };
  EXPECT_GT(accuracy("0"), accuracy("1") + 0.02);
}

/// Juniors who add nothing have no weight (Theorem 3.4): those who always say the same have none, and copies share that
/// of the worker whom they copy.
TEST(MaxMig, WhoAddsNothingWeighsNothing) {
  const auto weights = [](int which) {
    const auto crowd = gaussian_crowd(1, 3000, 0, 2, 1.3, max_mig_workers('H', which));
    return testing::run_learner(crowd.data, "max_mig", {{"learning_rate", "0.01"}, {"class_prior", "uniform"}},
                                {.kind = "linear"}, 1)
        .crowd.skill;
  };
  const std::vector<double> alone = weights(1), naive = weights(2), copied = weights(3);
  for (std::size_t j = 5; j < 10; ++j) EXPECT_NEAR(naive[j], 0, 1e-9) << j;
  EXPECT_NEAR(naive[0], alone[0], 0.3);
  EXPECT_NEAR(3 * copied[0], alone[0], 0.4);  // it and two who copy it
  EXPECT_NEAR(4 * copied[2], alone[2], 0.4);  // three copy this one
}

/// Information does not know the names of the classes. Weights that have exchanged two of them are named by the
/// answers.
TEST(MaxMig, ExchangedClassesGetTheirNamesBack) {
  const auto crowd = gaussian_crowd(
      6, 600, 0, 3, 2, {{{.8, .1, .1, .1, .8, .1, .1, .1, .8}, -1}, {{.6, .2, .2, .3, .6, .1, .1, .3, .6}, -1}});
  const TrainingSet set = training_set(crowd.data);
  MaxMigModel model(set, {.warm_up = 0}, {}, Rng(1));
  // Outputs of a network that says 1 for 2 and 2 for 1, and an aggregator that agrees with it.
  const std::vector<std::size_t> said{0, 2, 1};
  std::vector<double> outputs(set.task_count() * 3, 0.0);
  for (std::size_t i = 0; i < set.task_count(); ++i) outputs[i * 3 + said[index(crowd.truth[set.row[i]])]] = 3;
  for (std::size_t j = 0; j < 2; ++j) {
    for (std::size_t cell = 0; cell < 9; ++cell) model.weights().of(j)[cell] = said[cell / 3] == cell % 3 ? 1.5 : 0;
  }
  AnswerModel::Epoch epoch;
  epoch.predict = [&](std::span<double> out) { std::copy(outputs.begin(), outputs.end(), out.begin()); };
  model.begin_epoch(epoch);
  model.end_epoch(epoch);
  const std::vector<double> one{0, 3, 0};  // what this network says of class 2
  const TaskAnswers answers{set.workers_of(0), set.labels_of(0)};
  std::vector<double> before(3), after(3), f(3), by_head(3);
  model.posterior(one, answers, before);
  const double predicted = model.answer_probability(one, WorkerId{0}, ClassId{2});
  model.end_training(epoch);
  model.classify(one, f);
  EXPECT_GT(f[2], .9);
  model.head().classify(one, by_head);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(by_head[k], f[k], 1e-12);
  model.posterior(one, answers, after);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(after[said[k]], before[k], 1e-12);
  EXPECT_EQ(model.answer_probability(one, WorkerId{0}, ClassId{2}), predicted);
  const std::vector<double> tables = model.worker_tables();
  for (std::size_t j = 0; j < 2; ++j) {
    for (std::size_t k = 0; k < 3; ++k) EXPECT_GT(tables[j * 9 + k * 4], .5) << j << k;
  }
}

TEST(MaxMig, EveryDivergenceAndStartLearns) {
  const auto crowd = gaussian_crowd(2, 800, 2000, 3, 1.8,
                                    {{{.7, .2, .1, .1, .8, .1, .2, .2, .6}, -1},
                                     {{.5, .3, .2, .3, .4, .3, .1, .1, .8}, -1},
                                     {{.9, .05, .05, .1, .8, .1, .0, .1, .9}, -1}});
  const auto accuracy = [&](const std::string& divergence, const std::string& start) {
    const Learned learned = testing::run_learner(
        crowd.data, "max_mig",
        {{"learning_rate", "0.01"}, {"epochs", "15"}, {"divergence", divergence}, {"start", start}}, {.kind = "linear"},
        1);
    return testing::test_accuracy(crowd, learned.row_probabilities);
  };
  const double truth = truth_accuracy(crowd, "15");
  for (const char* divergence : {"kl", "pearson", "js"}) {
    EXPECT_GT(accuracy(divergence, "votes"), truth - 0.03) << divergence;
  }
  for (const char* start : {"aggregator", "coupled", "random"}) {
    EXPECT_GT(accuracy("kl", start), truth - 0.03) << start;
  }
}

/// Keeps every task of class 0 and one in `keep_one_in` of class 1; the others are no longer trained on. Returns the
/// share of class 1 among those left.
double thin_out(testing::FeatureCrowd& crowd, std::size_t keep_one_in) {
  std::size_t ones = 0, kept_ones = 0, zeros = 0;
  for (std::size_t t = 0; t < crowd.tasks; ++t) {
    if (index(crowd.truth[t]) == 0) {
      ++zeros;
    } else if (ones++ % keep_one_in == 0) {
      ++kept_ones;
    } else {
      crowd.data.split[t] = Split::test;
    }
  }
  return static_cast<double>(kept_ones) / static_cast<double>(kept_ones + zeros);
}

/// Classes of very different frequency: the prior is found.
TEST(MaxMig, LearnsThePriorOfTheClasses) {
  auto crowd = gaussian_crowd(4, 3000, 0, 2, 1.3, max_mig_workers('H', 1));
  const double share = thin_out(crowd, 9);
  const Learned learned = testing::run_learner(
      crowd.data, "max_mig", {{"learning_rate", "0.01"}, {"epochs", "25"}, {"start", "votes"}}, {.kind = "linear"}, 1);
  EXPECT_NEAR(learned.crowd.class_prior[1], share, 0.05) << learned.crowd.explanation;
}

/// Ten workers who are right in 60 %, so that held-out answers say little of the prior: a share that is far from even
/// is kept all the same, a nearly even one gives way to equal shares.
TEST(MaxMig, WeakWorkersDoNotHideUnevenClasses) {
  const std::vector<testing::PlannedWorker> weak(10, {{.6, .4, .4, .6}, -1});
  auto crowd = gaussian_crowd(5, 1000, 1000, 2, 1.3, weak);
  const auto run = [&](const std::string& prior) {
    return testing::run_learner(
        crowd.data, "max_mig",
        {{"learning_rate", "0.01"}, {"epochs", "15"}, {"start", "votes"}, {"class_prior", prior}}, {.kind = "linear"},
        1);
  };
  const Learned even = run("automatic");
  EXPECT_EQ(even.crowd.class_prior, (std::vector{.5, .5})) << even.crowd.explanation;
  thin_out(crowd, 6);
  const Learned automatic = run("automatic"), learned = run("learned"), known = run("0.857,0.143");
  EXPECT_EQ(automatic.crowd.posterior, learned.crowd.posterior) << automatic.crowd.explanation;
  EXPECT_LT(automatic.crowd.class_prior[1], .3);
  EXPECT_EQ(known.crowd.class_prior, (std::vector{.857, .143}));
}

TEST(MaxMig, KnownSharesMustFitTheClasses) {
  const auto crowd = gaussian_crowd(5, 40, 0, 2, 1.3, max_mig_workers('H', 1));
  const auto refusal = [&](const std::string& prior) -> std::string {
    try {
      (void)testing::run_learner(crowd.data, "max_mig", {{"class_prior", prior}}, {.kind = "linear"}, 1);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_parameter);
      return error.what();
    }
  };
  EXPECT_NE(refusal("0.5,0.3,0.2").find("has 3 numbers, but there are 2 classes"), std::string::npos);
  for (const char* const wrong : {"0.5,0.4", "1.5,-0.5", "0,1", "0.5;0.5", "0.5,", "nan,1", "even"}) {
    EXPECT_NE(refusal(wrong).find("or a positive share per class, in all 1"), std::string::npos) << wrong;
  }
  EXPECT_EQ(refusal("0.333,0.667"), "");
}

}  // namespace
}  // namespace wisecrowd::max_mig
