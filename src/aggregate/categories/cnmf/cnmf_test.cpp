#include "aggregate/categories/cnmf/cnmf.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "aggregate/categories/shared/separable.hpp"
#include "base/numeric.hpp"
#include "support/crowds.hpp"
#include "support/population.hpp"

namespace wisecrowd {
namespace {

using cnmf::Begin;
using cnmf::Cnmf;
using cnmf::factorise;
using cnmf::Options;
using cnmf::Solver;
using cnmf::SolverOptions;
using cnmf::Weights;

/// One EM step by the definition: responsibilities of every cell of every pair.
TableModel slow_step(const PairMoments& pairs, const TableModel& model, bool equal) {
  const std::size_t n = model.classes;
  TableModel next = model;
  std::fill(next.tables.begin(), next.tables.end(), 0.0);
  std::fill(next.class_prior.begin(), next.class_prior.end(), 0.0);
  for (std::size_t p = 0; p < pairs.pairs().size(); ++p) {
    const auto& pair = pairs.pairs()[p];
    for (std::size_t l = 0; l < n; ++l) {
      for (std::size_t m = 0; m < n; ++m) {
        std::vector<double> omega(n);
        for (std::size_t k = 0; k < n; ++k) {
          omega[k] = model.class_prior[k] * model.table(pair.first)[k * n + l] * model.table(pair.second)[k * n + m];
        }
        normalise(omega);
        const double mass = pairs.joint(p)[l * n + m] / (equal ? pair.common : 1.0);
        for (std::size_t k = 0; k < n; ++k) {
          next.table(pair.first)[k * n + l] += mass * omega[k];
          next.table(pair.second)[k * n + m] += mass * omega[k];
          next.class_prior[k] += mass * omega[k];
        }
      }
    }
  }
  for (std::size_t r = 0; r < next.tables.size(); r += n) normalise(std::span(next.tables).subspan(r, n));
  normalise(next.class_prior);
  return next;
}

TEST(Cnmf, OneStepIsThatOfTheDefinition) {
  const auto crowd = testing::small_crowd(7, 400, 9, 4, 6);
  const PairMoments pairs(crowd.data, RunContext(), {.min_common = 5});
  ASSERT_FALSE(pairs.pairs().empty());
  for (const bool equal : {false, true}) {
    TableModel model = testing::random_model(1, 9, 4, 0);
    const TableModel expected = slow_step(pairs, slow_step(pairs, model, equal), equal);
    factorise(
        pairs, RunContext(), model,
        {.weights = equal ? Weights::equal : Weights::tasks, .max_iterations = 2, .tolerance = 0, .pseudo_count = 0});
    EXPECT_LT(testing::largest_difference(model.tables, expected.tables), 1e-9);
    EXPECT_LT(testing::largest_difference(model.class_prior, expected.class_prior), 1e-9);
  }
}

TEST(Cnmf, ObjectiveIsTheCompositeLikelihoodAndNeverFalls) {
  for (const Solver solver : {Solver::em, Solver::mirror_descent}) {
    for (const Weights weights : {Weights::tasks, Weights::equal}) {
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const auto crowd = testing::small_crowd(seed, 300, 12, 3, 5);
        const PairMoments pairs(crowd.data, RunContext(), {.min_common = 5});
        TableModel model = testing::random_model(seed, 12, 3, 0);
        const TableModel first = model;
        const SolverOptions options{.solver = solver, .weights = weights, .max_iterations = 60, .tolerance = 0};
        const auto path = factorise(pairs, RunContext(), model, options);
        double expected = 0;
        std::vector<double> weight_of(12, 0.0);
        for (std::size_t p = 0; p < pairs.pairs().size(); ++p) {
          const auto& pair = pairs.pairs()[p];
          const double weight = weights == Weights::tasks ? pair.common : 1;
          weight_of[pair.first] += weight;
          weight_of[pair.second] += weight;
          for (std::size_t c = 0; c < 9; ++c) {
            double cell = 0;
            for (std::size_t k = 0; k < 3; ++k) {
              cell += first.class_prior[k] * first.table(pair.first)[k * 3 + c / 3] *
                      first.table(pair.second)[k * 3 + c % 3];
            }
            expected += weight * pairs.joint(p)[c] / pair.common * std::log(cell);
          }
        }
        for (std::size_t w = 0; w < 12; ++w) {
          for (const double p : first.table(w)) expected += 0.1 * weight_of[w] / pairs.answers(w) * std::log(p);
        }
        EXPECT_NEAR(path.trace[0], expected, 1e-7 * std::abs(expected));
        for (std::size_t i = 1; i < path.trace.size(); ++i) {
          ASSERT_GE(path.trace[i], path.trace[i - 1] - 1e-10 * std::abs(path.trace[i]));
        }
        EXPECT_GT(path.trace.back(), path.trace.front());
      }
    }
  }
}

TEST(Cnmf, BothSolversReachTheSameFit) {
  const auto crowd = testing::small_crowd(2, 2000, 10, 3, 6);
  const PairMoments pairs(crowd.data, RunContext(), {});
  TableModel one = testing::leaning_model(10, 3), two = one;
  const auto em = factorise(pairs, RunContext(), one, {.max_iterations = 3000, .tolerance = 1e-12});
  const auto mirror = factorise(pairs, RunContext(), two,
                                {.solver = Solver::mirror_descent, .max_iterations = 1000, .tolerance = 1e-12});
  EXPECT_NEAR(em.trace.back() / mirror.trace.back(), 1, 1e-6);
}

TEST(Cnmf, ExactOnPopulationMomentsWithClassExperts) {
  for (const Solver solver : {Solver::em, Solver::mirror_descent}) {
    const auto truth = testing::random_model(3, 10, 3, 2);
    const auto pairs = testing::population_pairs(truth);
    TableModel model = separable_tables(pairs, RunContext(), testing::leaning_model(10, 3), 0).model;
    const auto path =
        factorise(pairs, RunContext(), model, {.solver = solver, .max_iterations = 50, .pseudo_count = 0});
    EXPECT_LT(testing::largest_difference(model.tables, truth.tables), 1e-6);
    EXPECT_LT(testing::largest_difference(model.class_prior, truth.class_prior), 1e-6);
    EXPECT_LT(path.divergence, 1e-9);
  }
}

// From afar EM is slow, but with experts it goes to the truth.
TEST(Cnmf, ExpertsLeadEmToTheTruth) {
  const auto truth = testing::random_model(3, 10, 3, 2);
  TableModel model = testing::leaning_model(10, 3);
  factorise(testing::population_pairs(truth), RunContext(), model,
            {.max_iterations = 20000, .tolerance = 0, .pseudo_count = 0});
  EXPECT_LT(testing::largest_difference(model.tables, truth.tables), 1e-3);
}

// Without experts the divergence vanishes and the tables need not be right: a small divergence is no proof.
TEST(Cnmf, WithoutExpertsTheDivergenceVanishesAllTheSame) {
  const auto truth = testing::random_model(5, 10, 3, 0);
  TableModel model = testing::leaning_model(10, 3);
  const auto path = factorise(testing::population_pairs(truth), RunContext(), model,
                              {.max_iterations = 5000, .tolerance = 0, .pseudo_count = 0});
  EXPECT_LT(path.divergence, 1e-8);
}

TEST(Cnmf, ErrorFallsAsDataGrow) {
  const auto model = testing::random_model(11, 25, 3, 3);
  std::vector<double> errors;
  for (const std::size_t tasks : {1000U, 10000U, 100000U}) {
    const auto sampled = testing::sample(model, tasks, 0.3, 5);
    Options options;
    options.solver.max_iterations = 2000;
    options.solver.tolerance = 1e-9;
    errors.push_back(testing::mean_difference(Cnmf(options).fit(sampled.data, RunContext()).confusion, model.tables));
  }
  EXPECT_LT(errors[1], errors[0] / 2);
  EXPECT_LT(errors[2], errors[1] / 2);
  EXPECT_LT(errors[2], 0.02);
}

TEST(Cnmf, GoldIsAPartnerWhoKnows) {
  const auto model = testing::random_model(12, 10, 3, 0);
  auto sampled = testing::sample(model, 20000, 0.5, 6);
  sampled.data.gold = sampled.truth;
  for (std::size_t t = 5000; t < 20000; ++t) sampled.data.gold[t] = kNoClass;
  const auto result = Cnmf().fit(sampled.data, RunContext());
  EXPECT_LT(testing::mean_difference(result.confusion, model.tables), 0.01);
}

// "MultiSPA-KL" of the paper, which ends with EM. Error in %: TREC 29.23, Bluebird 11.11, RTE 7.12, Dog 15.48.
TEST(Cnmf, PublishedErrors) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  const std::pair<const char*, double> published[] = {
      {"trec", .2923}, {"bluebird", .1111}, {"rte", .0712}, {"dog", .1548}};
  for (const auto& [set, error] : published) {
    const auto score = testing::score_on(*root + "/aggregate/" + set, "cnmf");
    EXPECT_NEAR(1 - score.finished, error, 0.01) << set;
  }
}

}  // namespace
}  // namespace wisecrowd
