#include "aggregate/categories/coupled_tensor/coupled_tensor.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/crowds.hpp"
#include "support/population.hpp"

namespace wisecrowd {
namespace {

using coupled_tensor::CoupledTensor;
using coupled_tensor::factorise;
using coupled_tensor::Options;
using coupled_tensor::SolverOptions;

/// Minus the mean squared residual by its definition.
double objective(const PairMoments& pairs, const TripleMoments& triples, const TableModel& model,
                 const TableModel& first, double pull) {
  const std::size_t n = model.classes;
  double sum = 0, weight = 0;
  const auto p = [&](std::size_t w, std::size_t k, std::size_t l) { return model.table(w)[k * n + l]; };
  for (std::size_t w = 0; w < pairs.worker_count(); ++w) {
    if (pairs.partners(w).empty()) continue;
    const double answers = pairs.answers(w);
    for (std::size_t l = 0; l < n; ++l) {
      double expected = 0;
      for (std::size_t k = 0; k < n; ++k) expected += model.class_prior[k] * p(w, k, l);
      sum += answers * std::pow(pairs.label_counts(w)[l] / answers - expected, 2);
    }
    for (std::size_t c = 0; c < n * n; ++c) {
      sum += pull / static_cast<double>(n) * std::pow(model.table(w)[c] - first.table(w)[c], 2);
    }
    weight += answers;
  }
  for (std::size_t r = 0; r < pairs.pairs().size(); ++r) {
    const auto& pair = pairs.pairs()[r];
    for (std::size_t c = 0; c < n * n; ++c) {
      double expected = 0;
      for (std::size_t k = 0; k < n; ++k) {
        expected += model.class_prior[k] * p(pair.first, k, c / n) * p(pair.second, k, c % n);
      }
      sum += pair.common * std::pow(pairs.joint(r)[c] / pair.common - expected, 2);
    }
    weight += pair.common;
  }
  for (std::size_t r = 0; r < triples.triples().size(); ++r) {
    const auto& triple = triples.triples()[r];
    for (std::size_t c = 0; c < n * n * n; ++c) {
      double expected = 0;
      for (std::size_t k = 0; k < n; ++k) {
        expected += model.class_prior[k] * p(triple.workers[0], k, c / n / n) * p(triple.workers[1], k, c / n % n) *
                    p(triple.workers[2], k, c % n);
      }
      sum += triple.common * std::pow(triples.joint(r)[c] / triple.common - expected, 2);
    }
    weight += triple.common;
  }
  return -sum / weight;
}

TEST(CoupledTensor, ObjectiveIsItsFormulaAndNeverFalls) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto crowd = testing::small_crowd(seed, 300, 10, 3, 6);
    const PairMoments pairs(crowd.data, RunContext(), {.min_common = 5});
    const TripleMoments triples(crowd.data, RunContext(), select_triples(pairs, 20), 5);
    ASSERT_FALSE(triples.triples().empty());
    const TableModel first = testing::random_model(seed, 10, 3, 0);
    TableModel model = first;
    const auto path = factorise(pairs, triples, RunContext(), model, {.pull = 3, .max_iterations = 40, .tolerance = 0});
    EXPECT_NEAR(path.trace.back(), objective(pairs, triples, model, first, 3), 1e-12);
    EXPECT_GT(path.trace.front(), objective(pairs, triples, first, first, 3));
    for (std::size_t i = 1; i < path.trace.size(); ++i) ASSERT_GE(path.trace[i], path.trace[i - 1] - 1e-14);
  }
}

// No small step within the simplex improves on the solution.
TEST(CoupledTensor, EndsAtAConstrainedOptimum) {
  const auto crowd = testing::small_crowd(8, 1500, 7, 3, 5);
  const PairMoments pairs(crowd.data, RunContext(), {});
  const TripleMoments triples(crowd.data, RunContext(), select_triples(pairs, 20));
  const TableModel first = testing::leaning_model(7, 3);
  TableModel model = first;
  factorise(pairs, triples, RunContext(), model, {.pull = 2, .max_iterations = 3000, .tolerance = 1e-12});
  const double best = objective(pairs, triples, model, first, 2);
  for (std::size_t row = 0; row < 21; ++row) {
    for (std::size_t from = 0; from < 3; ++from) {
      for (std::size_t to = 0; to < 3; ++to) {
        TableModel moved = model;
        const double step = std::min(1e-3, moved.tables[row * 3 + from]);
        moved.tables[row * 3 + from] -= step;
        moved.tables[row * 3 + to] += step;
        EXPECT_LE(objective(pairs, triples, moved, first, 2), best + 1e-12);
      }
    }
  }
}

// Threes determine the tables without any expert.
TEST(CoupledTensor, ExactOnPopulationMoments) {
  for (const std::size_t classes : {2U, 3U}) {
    const auto truth = testing::random_model(classes + 1, 8, classes, 0);
    TableModel model = testing::leaning_model(8, classes);
    factorise(testing::population_pairs(truth), testing::population_triples(truth), RunContext(), model,
              {.pull = 0, .max_iterations = 20000, .tolerance = 1e-12});
    EXPECT_LT(testing::largest_difference(model.tables, truth.tables), 1e-6) << classes;
    EXPECT_LT(testing::largest_difference(model.class_prior, truth.class_prior), 1e-6) << classes;
  }
}

TEST(CoupledTensor, ErrorFallsAsDataGrow) {
  const auto model = testing::random_model(14, 15, 3, 0);
  std::vector<double> errors;
  for (const std::size_t tasks : {1000U, 10000U, 100000U}) {
    const auto sampled = testing::sample(model, tasks, 0.4, 5);
    errors.push_back(testing::mean_difference(CoupledTensor().fit(sampled.data, RunContext()).confusion, model.tables));
  }
  EXPECT_LT(errors[1], errors[0] / 2);
  EXPECT_LT(errors[2], errors[1] / 2);
  EXPECT_LT(errors[2], 0.015);
}

// The other method on third moments finds the same tables.
TEST(CoupledTensor, AgreesWithTheSpectralMethod) {
  const auto model = testing::random_model(15, 12, 3, 0);
  const auto sampled = testing::sample(model, 50000, 0.5, 3);
  const auto ours = CoupledTensor().fit(sampled.data, RunContext());
  const auto spectral = aggregate(sampled.data, "spectral_em");
  EXPECT_LT(testing::mean_difference(ours.confusion, spectral.confusion), 0.015);
}

TEST(CoupledTensor, GoldIsAPartnerWhoKnows) {
  const auto model = testing::random_model(12, 10, 3, 0);
  auto sampled = testing::sample(model, 20000, 0.5, 6);
  const auto without = CoupledTensor().fit(sampled.data, RunContext());
  sampled.data.gold = sampled.truth;
  for (std::size_t t = 10000; t < 20000; ++t) sampled.data.gold[t] = kNoClass;
  const auto with = CoupledTensor().fit(sampled.data, RunContext());
  EXPECT_LT(testing::mean_difference(with.confusion, model.tables),
            testing::mean_difference(without.confusion, model.tables));
  EXPECT_LT(testing::mean_difference(with.confusion, model.tables), 0.01);
}

TEST(CoupledTensor, TriplesKeepToTheirMemory) {
  const auto crowd = testing::small_crowd(5, 1000, 20, 3, 8);
  Options options;
  options.most_triple_cells = 27 * 50;
  const auto result = CoupledTensor(options).fit(crowd.data, RunContext());
  EXPECT_TRUE(std::any_of(result.warnings.begin(), result.warnings.end(),
                          [](const Warning& w) { return w.code == "fewer_triples"; }));
  EXPECT_TRUE(std::any_of(result.learned.begin(), result.learned.end(),
                          [](const auto& l) { return l.first == "triples" && l.second == 50; }));
}

TEST(CoupledTensor, RealSets) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  const std::pair<const char*, double> measured[] = {{"bluebird", .1111}, {"rte", .0688}, {"dog", .1648}};
  for (const auto& [set, error] : measured) {
    EXPECT_NEAR(1 - testing::score_on(*root + "/aggregate/" + set, "coupled_tensor", {}, 1).alone, error, 0.005) << set;
  }
}

}  // namespace
}  // namespace wisecrowd
