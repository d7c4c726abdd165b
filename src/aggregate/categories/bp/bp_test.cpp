#include "aggregate/categories/bp/bp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>

#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "support/crowds.hpp"

namespace wisecrowd::bp {
namespace {

constexpr std::array kExact = {Options::Messages::quadrature, Options::Messages::recursion,
                               Options::Messages::division};

struct Exact {
  std::vector<double> posterior;
  double log_evidence = 0;
};

/// Sums over all truths; `log_worker(worker, truths of its tasks, its labels)` is the integrated worker.
using LogWorker = std::function<double(const std::vector<std::size_t>& truth, const std::vector<std::size_t>& label)>;
Exact enumerate(const CategoryData& data, const LogWorker& log_worker) {
  const std::size_t tasks = data.answers.task_count(), classes = data.answers.class_count();
  Exact exact{std::vector<double>(tasks * classes, 0.0), 0};
  std::vector<std::size_t> truth(tasks, 0);
  double total = 0;
  for (;;) {
    double log_weight = 0;
    for (std::size_t t = 0; t < tasks; ++t) {
      log_weight += std::log(data.task_priors.empty() ? 1.0 / static_cast<double>(classes)
                                                      : data.task_priors[t * classes + truth[t]]);
      if (data.has_gold() && data.gold[t] != kNoClass && index(data.gold[t]) != truth[t]) log_weight = -1e9;
    }
    for (std::uint32_t w = 0; w < data.answers.worker_count(); ++w) {
      std::vector<std::size_t> own, label;
      for (std::size_t i = 0; i < data.answers.tasks_of(WorkerId{w}).size(); ++i) {
        own.push_back(truth[index(data.answers.tasks_of(WorkerId{w})[i])]);
        label.push_back(index(data.answers.labels()[data.answers.answers_of(WorkerId{w})[i]]));
      }
      if (!own.empty()) log_weight += log_worker(own, label);
    }
    const double weight = std::exp(log_weight);
    total += weight;
    for (std::size_t t = 0; t < tasks; ++t) exact.posterior[t * classes + truth[t]] += weight;
    std::size_t at = 0;
    while (at < tasks && ++truth[at] == classes) truth[at++] = 0;
    if (at == tasks) break;
  }
  for (double& p : exact.posterior) p /= total;
  exact.log_evidence = std::log(total);
  return exact;
}

LogWorker coin(const AccuracyPrior& prior, std::size_t classes) {
  return [=](const auto& truth, const auto& label) {
    double right = 0, wrong = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) (truth[i] == label[i] ? right : wrong) += 1;
    return log_moment(prior, right, wrong) - wrong * std::log(static_cast<double>(classes - 1));
  };
}

LogWorker table(const TablePrior& prior, std::size_t classes) {
  return [=](const auto& truth, const auto& label) {
    double log_value = 0;
    for (std::size_t k = 0; k < classes; ++k) {
      std::vector<double> before(classes, prior.off_diagonal);
      before[k] = prior.diagonal;
      std::vector<double> after = before;
      for (std::size_t i = 0; i < truth.size(); ++i) after[label[i]] += truth[i] == k ? 1 : 0;
      log_value += log_beta(after) - log_beta(before);
    }
    return log_value;
  };
}

/// A random crowd whose graph of tasks and workers is a forest.
CategoryData random_tree(Rng& rng, std::size_t tasks, std::size_t workers, std::size_t classes, bool with_gold) {
  std::vector<CategoryAnswer> answers;
  std::vector<std::uint32_t> part(tasks + workers);
  for (std::uint32_t v = 0; v < part.size(); ++v) part[v] = v;
  for (int attempt = 0; attempt < 200; ++attempt) {
    const auto t = static_cast<std::uint32_t>(rng.below(tasks)), w = static_cast<std::uint32_t>(rng.below(workers));
    const std::uint32_t one = part[t], other = part[tasks + w];
    if (one == other) continue;
    for (auto& p : part) p = p == other ? one : p;
    answers.push_back({TaskId{t}, WorkerId{w}, ClassId{static_cast<std::uint16_t>(rng.below(classes))}});
  }
  const auto names = [](std::size_t count) {
    std::vector<std::string> list;
    for (std::size_t i = 0; i < count; ++i) list.push_back(std::to_string(i));
    return NameTable(list);
  };
  CategoryData data{make_category_answers(answers, {names(tasks), names(workers), names(classes)}), {}, {}};
  data.task_priors.resize(tasks * classes);
  const std::vector<double> even(classes, 2.0);
  for (std::size_t t = 0; t < tasks; ++t)
    rng.dirichlet(even, std::span(data.task_priors).subspan(t * classes, classes));
  if (with_gold) {
    data.gold.assign(tasks, kNoClass);
    data.gold[rng.below(tasks)] = ClassId{static_cast<std::uint16_t>(rng.below(classes))};
  }
  return data;
}

void expect_same(const CategoryFit& fit, const Exact& exact, double tolerance, const std::string& what) {
  for (std::size_t i = 0; i < exact.posterior.size(); ++i) {
    EXPECT_NEAR(fit.posterior[i], exact.posterior[i], tolerance) << what << " at " << i;
  }
  EXPECT_NEAR(fit.trace.back(), exact.log_evidence, tolerance * 10) << what;
}

Options to_the_end(Options::Messages messages) {
  Options options;
  options.messages = messages;
  options.tolerance = 0;
  options.max_iterations = 30;
  return options;
}

TEST(BeliefPropagation, GoldenTreeAndLoop) {
  CategoryAnswersBuilder builder({"0", "1"});
  builder.add("0", "A", "1").add("1", "A", "1").add("1", "B", "1").add("2", "B", "0");
  const CategoryData tree{builder.build(), {}, {.5, .5, .4, .6, .5, .5}};
  for (const auto messages : kExact) {
    const auto fit = BeliefPropagation(to_the_end(messages)).fit(tree, RunContext());
    EXPECT_NEAR(fit.posterior[1], 5.0 / 7, 1e-12);
    EXPECT_NEAR(fit.posterior[3], 6.0 / 7, 1e-12);
    EXPECT_NEAR(fit.posterior[5], 2.0 / 7, 1e-12);
    EXPECT_NEAR(fit.trace.back(), -2.5538995212749507, 1e-12);
  }
  CategoryAnswersBuilder around({"0", "1"});
  around.add("0", "A", "1").add("1", "A", "1").add("1", "B", "1").add("0", "B", "0");
  const CategoryData loop{around.build(), {}, {.5, .5, .4, .6}};
  const auto fit = BeliefPropagation(to_the_end(Options::Messages::quadrature)).fit(loop, RunContext());
  EXPECT_NEAR(fit.posterior[1], .5, 1e-9);
  EXPECT_NEAR(fit.posterior[3], .8181818182, .05);
  const auto exact = enumerate(loop, coin(beta_prior(2, 1), 2));
  EXPECT_NEAR(exact.posterior[3], .8181818182, 1e-10);
  EXPECT_NEAR(exact.log_evidence, -2.795061578091839, 1e-12);
}

TEST(BeliefPropagation, ExactOnTrees) {
  Rng rng(17);
  const std::vector<AccuracyPrior> priors = {
      beta_prior(2, 1),
      beta_prior(.2, .1),
      beta_prior(7.5, 3),
      {{.share = .7, .right = 4, .wrong = 1}, {.share = .3, .right = 1.5, .wrong = .5}},
      {{.share = .6, .is_point = true, .point = .9}, {.share = .4, .is_point = true, .point = .5}},
      {{.share = .5, .is_point = true, .point = 1}, {.share = .5, .right = 1, .wrong = 1}}};
  for (int tree = 0; tree < 200; ++tree) {
    const std::size_t classes = 2 + rng.below(2);
    const CategoryData data = random_tree(rng, classes == 2 ? 9 : 6, 4, classes, tree % 4 == 0);
    const AccuracyPrior prior = priors[static_cast<std::size_t>(tree) % priors.size()];
    const Exact exact = enumerate(data, coin(prior, classes));
    for (const auto messages : kExact) {
      Options options = to_the_end(messages);
      options.accuracy_prior = prior;
      expect_same(BeliefPropagation(options).fit(data, RunContext()), exact, 1e-10, "tree " + std::to_string(tree));
    }
    if (classes != 2) continue;
    const Exact two = enumerate(data, table({3, 1.5}, 2));
    for (const auto messages : {Options::Messages::quadrature, Options::Messages::recursion}) {
      Options options = to_the_end(messages);
      options.model = Options::Model::two_coin;
      options.table_prior = {3, 1.5};
      expect_same(BeliefPropagation(options).fit(data, RunContext()), two, 1e-10, "two coins");
    }
  }
}

TEST(BeliefPropagation, ParticlesApproachTrees) {
  Rng rng(18);
  for (int tree = 0; tree < 5; ++tree) {
    const CategoryData data = random_tree(rng, 6, 4, 3, false);
    Options options = to_the_end(Options::Messages::particles);
    options.model = Options::Model::tables;
    options.particles = 20000;
    expect_same(BeliefPropagation(options).fit(data, RunContext()), enumerate(data, table(options.table_prior, 3)), .02,
                "tables");
  }
}

CoinAnswers random_answers(Rng& rng, std::size_t n, std::size_t classes, double lean) {
  CoinAnswers answers;
  for (std::size_t e = 0; e < n; ++e) {
    const double p = rng.beta(4 * lean, 4 * (1 - lean));
    answers.if_right.push_back(p);
    answers.if_wrong.push_back((1 - p) / static_cast<double>(classes - 1));
  }
  return answers;
}

TEST(CoinMessages, QuadratureRecursionAndDivisionAgree) {
  Rng rng(5);
  CoinWork work;
  for (const AccuracyPrior& prior :
       {beta_prior(2, 1), beta_prior(.5, .25), beta_prior(.2, .1), beta_prior(40, 2.5),
        AccuracyPrior{{.share = .7, .right = 4, .wrong = 1}, {.share = .3, .right = 1, .wrong = 1}}}) {
    for (const std::size_t n : {1U, 2U, 3U, 8U, 40U, 150U, 500U}) {
      for (const double lean : {.05, .5, .8, .99}) {
        const CoinAnswers answers = random_answers(rng, n, n % 2 == 0 ? 2 : 4, lean);
        std::vector<double> a(n), b(n), c(n);
        const double za = coin_messages_by_nodes(quadrature(prior, n), answers, a, work);
        const double zb = coin_messages_by_recursion(prior, answers, b);
        const double zc = coin_messages_by_division(prior, answers, c);
        EXPECT_NEAR(za, zb, 1e-9 * std::max(1.0, std::abs(zb) / 100)) << n;
        EXPECT_NEAR(zb, zc, 1e-9 * std::max(1.0, std::abs(zb) / 100)) << n;
        for (std::size_t e = 0; e < n; ++e) {
          // As probabilities, which is what the tasks hear.
          EXPECT_NEAR(sigmoid(a[e]), sigmoid(b[e]), 1e-10) << n << " " << lean;
          EXPECT_NEAR(a[e], b[e], 1e-8) << n << " " << lean;
          EXPECT_NEAR(b[e], c[e], 1e-10) << n << " " << lean;
        }
      }
    }
  }
}

TEST(CoinMessages, ManyAnswersNeitherUnderflowNorCostTooMuch) {
  Rng rng(6);
  CoinWork work;
  const std::size_t n = 2000;
  for (const double lean : {.5, .9}) {
    const CoinAnswers answers = random_answers(rng, n, 2, lean);
    std::vector<double> a(n), b(n);
    coin_messages_by_nodes(quadrature(beta_prior(2, 1), n), answers, a, work);
    coin_messages_by_recursion(beta_prior(2, 1), answers, b);
    for (std::size_t e = 0; e < n; ++e) EXPECT_NEAR(a[e], b[e], 1e-8);
  }
  // Nodes grow with the root of the answers: time per worker with n^1.5.
  EXPECT_LE(quadrature_size(beta_prior(2, 1), 1000000), 4200U);
  EXPECT_EQ(quadrature_size(beta_prior(2, 1), 1), 2U);
}

TEST(CoinMessages, OneAnswerIsThePriorsOdds) {
  CoinWork work;
  std::vector<double> ratio(1);
  coin_messages_by_nodes(quadrature(beta_prior(2.5, .7), 1), {{.3}, {.7}}, ratio, work);
  EXPECT_NEAR(ratio[0], std::log(2.5 / .7), 1e-12);
}

// Workers who are always right or always wrong: what a worker says is the sum of what it heard of its other answers,
// the additive messages of Karger, Oh and Shah.
TEST(CoinMessages, AllOrNothingWorkersAddUpLogOdds) {
  Rng rng(8);
  const AccuracyPrior prior = {{.share = .5, .is_point = true, .point = 1},
                               {.share = .5, .is_point = true, .point = 0}};
  CoinAnswers answers = random_answers(rng, 6, 2, .6);
  CoinWork work;
  std::vector<double> ratio(6);
  coin_messages_by_nodes(quadrature(prior, 6), answers, ratio, work);
  for (std::size_t e = 0; e < 6; ++e) {
    double sum = 0;
    for (std::size_t o = 0; o < 6; ++o) {
      if (o != e) sum += std::log(answers.if_right[o] / answers.if_wrong[o]);
    }
    EXPECT_NEAR(ratio[e], sum, 1e-12);
  }
}

TEST(CoinMessages, ParticlesErrWithTheRootOfTheirNumber) {
  Rng rng(9);
  const AccuracyPrior prior = beta_prior(2, 1);
  const CoinAnswers answers = random_answers(rng, 8, 2, .8);
  CoinWork work;
  std::vector<double> exact(8), drawn(8);
  coin_messages_by_nodes(quadrature(prior, 8), answers, exact, work);
  const auto error = [&](std::size_t count) {
    double square = 0;
    for (int repeat = 0; repeat < 100; ++repeat) {
      coin_messages_by_nodes(draws(prior, count, rng), answers, drawn, work);
      for (std::size_t e = 0; e < 8; ++e) square += std::pow(drawn[e] - exact[e], 2);
    }
    return std::sqrt(square / 800);
  };
  const double few = error(100), many = error(6400);
  EXPECT_NEAR(few / many, 8, 2.5);
  EXPECT_LT(many, .02);
}

TEST(CoinMessages, ImportanceDrawsServeTirelessWorkers) {
  Rng rng(10);
  const AccuracyPrior prior = beta_prior(2, 1);
  const std::size_t n = 1000;
  CoinAnswers answers = random_answers(rng, n, 2, .55);
  const CoinCentre centre = coin_centre(prior, answers);
  CoinWork work;
  std::vector<double> exact(n), drawn(n);
  coin_messages_by_nodes(quadrature(prior, n), answers, exact, work);
  const auto error = [&](const NodeSet& nodes) {
    coin_messages_by_nodes(nodes, answers, drawn, work);
    double square = 0;
    for (std::size_t e = 0; e < n; ++e) square += std::pow(drawn[e] - exact[e], 2);
    return std::sqrt(square / static_cast<double>(n));
  };
  double by_prior = 0, by_importance = 0;
  for (int repeat = 0; repeat < 20; ++repeat) {
    by_prior += error(draws(prior, 400, rng)) / 20;
    by_importance += error(importance_draws(prior, centre.right, centre.wrong, 400, rng)) / 20;
  }
  EXPECT_LT(by_importance, .02);
  EXPECT_LT(by_importance, by_prior);
}

TEST(TableMessages, GridRecursionAndManyDrawsAgree) {
  Rng rng(11);
  TableWork work;
  for (const std::size_t n : {1U, 5U, 40U, 120U}) {
    TableAnswers answers{2, {}, {}};
    std::vector<double> counts(4, 0.0);
    for (std::size_t e = 0; e < n; ++e) {
      const double p = rng.beta(3, 1);
      const std::size_t l = rng.below(2);
      answers.labels.push_back(static_cast<std::uint16_t>(l));
      answers.incoming.push_back(l == 0 ? p : 1 - p);
      answers.incoming.push_back(l == 0 ? 1 - p : p);
    }
    const TablePrior prior{2, 1};
    std::vector<double> grid(2 * n), recursion(2 * n), drawn(2 * n), mean(4);
    const double z = table_messages(tensor_grid(prior, n), answers, grid, work);
    posterior_table(work, 2, mean);
    EXPECT_NEAR(z, two_coin_messages_by_recursion(prior, answers, recursion), 1e-9);
    TableNodes nodes;
    table_centre(prior, answers, counts);
    table_importance_draws(prior, 2, counts, 40000, rng, nodes);
    EXPECT_NEAR(z, table_messages(nodes, answers, drawn, work), .05);
    for (std::size_t i = 0; i < 2 * n; ++i) {
      EXPECT_NEAR(grid[i], recursion[i], 1e-10);
      EXPECT_NEAR(grid[i], drawn[i], .02);
    }
    std::vector<double> drawn_mean(4);
    posterior_table(work, 2, drawn_mean);
    for (std::size_t c = 0; c < 4; ++c) EXPECT_NEAR(mean[c], drawn_mean[c], .02);
  }
}

TEST(BeliefPropagation, KnownTruthGivesTheBetaPosterior) {
  auto crowd = testing::small_crowd(3, 300, 6, 4, 3);
  crowd.data.gold = crowd.truth;
  std::vector<WorkerBelief> workers;
  const auto fit = BeliefPropagation().fit(crowd.data, RunContext(), {}, workers);
  for (std::uint32_t w = 0; w < 6; ++w) {
    double right = 2, wrong = 1;
    const auto tasks = crowd.data.answers.tasks_of(WorkerId{w});
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const ClassId said = crowd.data.answers.labels()[crowd.data.answers.answers_of(WorkerId{w})[i]];
      (said == crowd.truth[index(tasks[i])] ? right : wrong) += 1;
    }
    const double n = right + wrong, sd = std::sqrt(right * wrong / (n * n * (n + 1)));
    EXPECT_NEAR(fit.skill[w], right / n, 1e-12);
    EXPECT_NEAR(workers[w].mean, right / n, 1e-12);
    EXPECT_NEAR(workers[w].deviation, sd, 1e-6);
    EXPECT_NEAR(workers[w].low, right / n - 1.96 * sd, .5 * sd);
    EXPECT_NEAR(workers[w].high, right / n + 1.96 * sd, .5 * sd);
    EXPECT_NEAR(fit.confusion_of(WorkerId{w})[1], (1 - right / n) / 3, 1e-12);
  }
}

TEST(BeliefPropagation, DampingAndStartsLeadToTheSameFixedPoint) {
  const auto crowd = testing::small_crowd(4, 200, 12, 3, 4);
  Options options = to_the_end(Options::Messages::quadrature);
  options.max_iterations = 200;
  const auto plain = BeliefPropagation(options).fit(crowd.data, RunContext());
  options.damping = .5;
  const auto damped = BeliefPropagation(options).fit(crowd.data, RunContext());
  const auto votes = aggregate(crowd.data, "majority_vote");
  const auto started = BeliefPropagation(options).fit(crowd.data, RunContext(), CategoryStart{votes.posterior});
  for (std::size_t i = 0; i < plain.posterior.size(); ++i) {
    EXPECT_NEAR(plain.posterior[i], damped.posterior[i], 1e-9);
    EXPECT_NEAR(plain.posterior[i], started.posterior[i], 1e-9);
  }
}

// Chance enters by particles alone; and what draws nothing does not care for the order of tasks and workers either.
TEST(BeliefPropagation, OnlyParticlesDependOnTheSeed) {
  const auto crowd = testing::small_crowd(4, 100, 12, 3, 4);
  const auto posterior = [](const CategoryData& data, Options::Messages messages, std::uint64_t seed) {
    return BeliefPropagation(to_the_end(messages)).fit(data, RunContext({.seed = seed})).posterior;
  };
  for (const auto messages : kExact) {
    EXPECT_EQ(posterior(crowd.data, messages, 1), posterior(crowd.data, messages, 2));
  }
  EXPECT_NE(posterior(crowd.data, Options::Messages::particles, 1),
            posterior(crowd.data, Options::Messages::particles, 2));
  EXPECT_TRUE(aggregation_method("bp").uses_chance);

  const CategoryAnswers& answers = crowd.data.answers;
  std::vector<CategoryAnswer> moved;
  for (std::uint32_t t = 0; t < 100; ++t) {
    const auto workers = answers.workers_of(TaskId{t});
    for (std::size_t a = 0; a < workers.size(); ++a) {
      moved.push_back({TaskId{99 - t}, WorkerId{static_cast<std::uint32_t>(11 - index(workers[a]))},
                       answers.labels_of(TaskId{t})[a]});
    }
  }
  const CategoryData other{
      make_category_answers(moved, {answers.task_names(), answers.worker_names(), answers.class_names()}), {}, {}};
  const auto original = posterior(crowd.data, Options::Messages::quadrature, 1);
  const auto permuted = posterior(other, Options::Messages::quadrature, 1);
  for (std::size_t t = 0; t < 100; ++t) {
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(original[t * 3 + k], permuted[(99 - t) * 3 + k], 1e-9);
  }
}

TEST(BeliefPropagation, WarnsOfAPriorThatExpectsNothing) {
  const auto crowd = testing::small_crowd(4, 50, 8, 2, 5);
  const auto warned = [&](double right, double wrong) {
    Options options;
    options.accuracy_prior = beta_prior(right, wrong);
    const auto fit = BeliefPropagation(options).fit(crowd.data, RunContext());
    return std::any_of(fit.warnings.begin(), fit.warnings.end(),
                       [](const Warning& w) { return w.code == "prior_expects_no_skill"; });
  };
  EXPECT_TRUE(warned(1, 1));
  EXPECT_FALSE(warned(2, 1));
}

TEST(BeliefPropagation, TwoCoinNeedsTwoClasses) {
  const auto crowd = testing::small_crowd(4, 20, 5, 3, 3);
  Parameters parameters(aggregation_method("bp").parameters);
  parameters.set("model", "two_coin");
  EXPECT_THROW(static_cast<void>(aggregate(crowd.data, "bp", parameters, RunContext())), Error);
  parameters.set("model", "tables");
  EXPECT_EQ(aggregate(crowd.data, "bp", parameters, RunContext()).labels.size(), 20U);
}

}  // namespace
}  // namespace wisecrowd::bp
