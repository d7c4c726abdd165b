#include "aggregate/categories/graph_dawid_skene/graph_dawid_skene.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "aggregate/categories/graph_dawid_skene/smoothing.hpp"
#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "wisecrowd/evaluate_ordered.hpp"
#include "wisecrowd/ordered_classes.hpp"
#include "wisecrowd/task_graph.hpp"

namespace wisecrowd::graph_dawid_skene {
namespace {

/// Joins tasks of the same truth at random, and a few others.
CategoryData with_neighbours(const testing::SmallCrowd& crowd, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<TaskEdge> edges;
  const auto tasks = static_cast<std::uint32_t>(crowd.truth.size());
  for (std::uint32_t t = 0; t < tasks; ++t) {
    for (int n = 0; n < 3; ++n) {
      const auto other = static_cast<std::uint32_t>(rng.below(tasks));
      if (other == t || (crowd.truth[other] != crowd.truth[t] && rng.uniform() < 0.9)) continue;
      edges.push_back({t, other, 0.5 + rng.uniform()});
    }
  }
  CategoryData data{.answers = with_task_graph(crowd.data.answers, make_task_graph(edges, tasks))};
  return data;
}

double accuracy_of(const CategoryFit& fit, const std::vector<ClassId>& truth) {
  double right = 0;
  for (std::size_t t = 0; t < truth.size(); ++t) right += fit.labels[t] == truth[t] ? 1 : 0;
  return right / static_cast<double>(truth.size());
}

TEST(GraphDawidSkene, WithoutStrengthIsDawidSkene) {
  const auto crowd = testing::small_crowd(3, 300, 15, 3, 4);
  const CategoryData data = with_neighbours(crowd, 1);
  Parameters uniform(aggregation_method("dawid_skene").parameters);
  uniform.set("class_prior", "uniform");
  uniform.set("tolerance", "1e-12");
  uniform.set("max_iterations", "5000");
  const CategoryFit plain = aggregate(data, "dawid_skene", uniform, RunContext());
  for (const auto inference : {Options::Inference::mean_field, Options::Inference::bp}) {
    const CategoryFit fit =
        GraphDawidSkene({.strength = 0, .inference = inference, .max_iterations = 5000, .tolerance = 1e-9})
            .fit(data, RunContext());
    for (std::size_t i = 0; i < fit.posterior.size(); ++i) EXPECT_NEAR(fit.posterior[i], plain.posterior[i], 1e-4);
    for (std::size_t i = 0; i < fit.confusion.size(); ++i) EXPECT_NEAR(fit.confusion[i], plain.confusion[i], 1e-3);
  }
}

TEST(GraphDawidSkene, BeliefPropagationOnATreeByBruteForce) {
  constexpr std::size_t kTasks = 6, kClasses = 3;
  const std::vector<TaskEdge> edges{{0, 1, 0.8}, {1, 2, 1.5}, {1, 3, 0.3}, {3, 4, 1.1}, {3, 5, 0.6}};
  const auto graph = make_task_graph(edges, kTasks);
  Rng rng(2);
  std::vector<double> evidence(kTasks * kClasses);
  for (double& e : evidence) e = rng.normal();
  std::vector<bool> fixed(kTasks, false);
  fixed[4] = true;  // gold
  std::vector<double> posterior(kTasks * kClasses, 1.0 / 3);
  posterior[4 * kClasses] = posterior[4 * kClasses + 1] = 0;
  posterior[4 * kClasses + 2] = 1;
  constexpr double kStrength = 1.7;
  propagate(Field(*graph, false), kStrength, evidence, fixed, 50, 1e-14, posterior, RunContext());
  std::vector<double> exact(kTasks * kClasses, 0.0);
  double total = 0;
  for (std::size_t state = 0; state < 729; ++state) {
    std::size_t z[kTasks], rest = state;
    for (std::size_t& k : z) k = rest % kClasses, rest /= kClasses;
    if (z[4] != 2) continue;
    double log_p = 0;
    for (std::size_t t = 0; t < kTasks; ++t) log_p += evidence[t * kClasses + z[t]];
    for (const TaskEdge& edge : edges) log_p += z[edge.one] == z[edge.other] ? kStrength * edge.weight : 0;
    total += std::exp(log_p);
    for (std::size_t t = 0; t < kTasks; ++t) exact[t * kClasses + z[t]] += std::exp(log_p);
  }
  for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(posterior[i], exact[i] / total, 1e-10);
}

TEST(GraphDawidSkene, MeanFieldClimbsItsBound) {
  const auto crowd = testing::small_crowd(5, 200, 10, 3, 2);
  const CategoryFit fit = GraphDawidSkene({.strength = 3, .sweeps = 1}).fit(with_neighbours(crowd, 2), RunContext());
  ASSERT_TRUE(fit.objective_is_monotone);
  ASSERT_GT(fit.trace.size(), 3U);
  for (std::size_t i = 1; i < fit.trace.size(); ++i) {
    EXPECT_GE(fit.trace[i], fit.trace[i - 1] - 1e-9 * std::abs(fit.trace[i - 1]));
  }
}

TEST(GraphDawidSkene, StrengthMaximisesThePseudoLikelihood) {
  const auto crowd = testing::small_crowd(5, 200, 10, 3, 2);
  const CategoryData data = with_neighbours(crowd, 3);
  const auto graph = task_graph(data.answers);
  const Field field(*graph, true);
  const CategoryFit fit = aggregate(data, "dawid_skene");
  const std::vector<double> log_prior(3, std::log(1.0 / 3));
  const auto value = [&](double strength) {
    double sum = 0;
    std::vector<double> row(3);
    for (std::size_t t = 0; t < 200; ++t) {
      field.support(t, fit.posterior, row);
      double lse = 0;
      for (const double s : row) lse += std::exp(log_prior[0] + strength * s);
      for (std::size_t k = 0; k < 3; ++k) {
        sum += fit.posterior[3 * t + k] * (log_prior[0] + strength * row[k] - std::log(lse));
      }
    }
    return sum;
  };
  const double best = pseudo_likelihood_strength(field, log_prior, fit.posterior, 3, 1, RunContext());
  EXPECT_GT(best, 0.5);
  EXPECT_LT(best, kMostStrength);
  for (const double step : {-0.01, 0.01}) EXPECT_GT(value(best), value(best + step));
}

TEST(GraphDawidSkene, NeighboursHelpWhereAnswersAreFew) {
  const auto crowd = testing::small_crowd(7, 600, 20, 3, 2);
  const CategoryData data = with_neighbours(crowd, 4);
  const CategoryFit fit = aggregate(data, "graph_dawid_skene");
  EXPECT_GT(accuracy_of(fit, crowd.truth), accuracy_of(aggregate(data, "dawid_skene"), crowd.truth) + 0.03);
}

TEST(GraphDawidSkene, TasksWithoutAnswersTakeTheLabelOfTheirNeighbours) {
  CategoryAnswersBuilder builder({"a", "b"});
  for (int t = 0; t < 40; ++t) {
    for (int w = 0; w < 3; ++w) builder.add("t" + std::to_string(t), std::to_string(w), t < 20 ? "a" : "b");
  }
  builder.add_task("u");
  const CategoryAnswers answers = builder.build();
  std::vector<TaskEdge> edges;
  for (std::uint32_t t = 0; t < 40; ++t) {
    if (t % 20 < 19) edges.push_back({t, t + 1});
  }
  for (std::uint32_t t = 20; t < 25; ++t) edges.push_back({40, t});
  const CategoryData data{.answers = with_task_graph(answers, make_task_graph(edges, 41))};
  ASSERT_EQ(answers.task_names()[40], "u");
  const CategoryFit fit = aggregate(data, "graph_dawid_skene");
  EXPECT_EQ(index(fit.labels[40]), 1U);
  EXPECT_GT(fit.posterior[81], 0.8);
  EXPECT_GT(fit.task_score[40], 0.8);
}

TEST(GraphDawidSkene, RefusesTasksWithoutAGraph) {
  const CategoryData data = testing::small_crowd(3, 30, 5, 3, 3).data;
  try {
    static_cast<void>(aggregate(data, "graph_dawid_skene"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("`graph`"), std::string::npos);
  }
}

}  // namespace
}  // namespace wisecrowd::graph_dawid_skene
