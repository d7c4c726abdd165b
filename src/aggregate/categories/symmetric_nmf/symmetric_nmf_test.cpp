#include "aggregate/categories/symmetric_nmf/symmetric_nmf.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "support/population.hpp"

namespace wisecrowd {
namespace {

using symmetric_nmf::Begin;
using symmetric_nmf::couple;
using symmetric_nmf::CoupleOptions;
using symmetric_nmf::Factor;
using symmetric_nmf::factor_of;
using symmetric_nmf::Loss;
using symmetric_nmf::Options;
using symmetric_nmf::SymmetricNmf;

/// Half of the pairs, by a rule that leaves the graph connected and not bipartite.
bool half(std::size_t a, std::size_t b) { return (a * 7 + b * 3) % 4 < 2 || b == a + 1; }

/// The product U_a U_bᵀ, which no rotation changes.
std::vector<double> product(const Factor& factor, std::size_t a, std::size_t b, std::size_t n) {
  std::vector<double> block(n * n, 0.0);
  for (std::size_t c = 0; c < n * n; ++c) {
    for (std::size_t k = 0; k < n; ++k) {
      block[c] += factor[(a * n + c / n) * n + k] * factor[(b * n + c % n) * n + k];
    }
  }
  return block;
}

double objective(const PairMoments& pairs, const Factor& guide, const Factor& factor, const CoupleOptions& options) {
  const std::size_t n = pairs.class_count();
  double sum = 0, weight = 0;
  for (std::size_t p = 0; p < pairs.pairs().size(); ++p) {
    const auto& pair = pairs.pairs()[p];
    const auto model = product(factor, pair.first, pair.second, n);
    double squared = 0;
    for (std::size_t c = 0; c < n * n; ++c) squared += std::pow(pairs.joint(p)[c] / pair.common - model[c], 2);
    sum += pair.common * (options.loss == Loss::squares ? squared : std::sqrt(squared + 1e-6) - 1e-3);
    weight += pair.common;
  }
  for (std::size_t c = 0; c < factor.size(); ++c) sum += options.pull * std::pow(factor[c] - guide[c], 2);
  return -sum / weight;
}

TEST(SymmetricNmf, ObjectiveIsItsFormulaAndNeverFalls) {
  for (const Loss loss : {Loss::squares, Loss::absolute}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const auto crowd = testing::small_crowd(seed, 300, 12, 3, 5);
      const PairMoments pairs(crowd.data, RunContext(), {.min_common = 5});
      const Factor guide = factor_of(testing::leaning_model(12, 3));
      Factor factor = factor_of(testing::random_model(seed, 12, 3, 0));
      const CoupleOptions options{.loss = loss, .max_iterations = 40, .tolerance = 0};
      const double before = objective(pairs, guide, factor, options);
      const auto path = couple(pairs, RunContext(), guide, factor, options);
      EXPECT_GT(path.trace.front(), before);
      EXPECT_NEAR(path.trace.back(), objective(pairs, guide, factor, options), 1e-12);
      for (std::size_t i = 1; i < path.trace.size(); ++i) ASSERT_GE(path.trace[i], path.trace[i - 1] - 1e-13);
    }
  }
}

TEST(SymmetricNmf, EachWorkerIsAtItsMinimumInTheEnd) {
  const auto crowd = testing::small_crowd(3, 1000, 8, 3, 5);
  const PairMoments pairs(crowd.data, RunContext(), {});
  const Factor guide = factor_of(testing::leaning_model(8, 3));
  Factor factor = guide;
  const CoupleOptions options{.max_iterations = 5000, .tolerance = 0};
  couple(pairs, RunContext(), guide, factor, options);
  // Central differences vanish.
  for (const std::size_t c : {0U, 5U, 17U, 40U, 71U}) {
    Factor up = factor, down = factor;
    up[c] += 1e-4;
    down[c] -= 1e-4;
    EXPECT_NEAR(objective(pairs, guide, up, options) - objective(pairs, guide, down, options), 0, 2e-4 * 1e-6);
  }
}

TEST(SymmetricNmf, ReadsTablesOffAFactor) {
  const auto model = testing::random_model(2, 6, 4, 0);
  const auto read = symmetric_nmf::read_off(testing::population_pairs(model), factor_of(model), model);
  EXPECT_LT(testing::largest_difference(read.tables, model.tables), 1e-12);
  EXPECT_LT(testing::largest_difference(read.class_prior, model.class_prior), 1e-12);
}

TEST(SymmetricNmf, ImputationIsExactOnPopulationMoments) {
  const auto model = testing::random_model(4, 10, 3, 0);
  const auto pairs = testing::population_pairs(model, 1e12, half);
  EXPECT_LT(pairs.pairs().size(), 30U);
  const Factor found = symmetric_nmf::impute(pairs, factor_of(testing::leaning_model(10, 3))), truth = factor_of(model);
  for (std::size_t a = 0; a < 10; ++a) {
    for (std::size_t b = a; b < 10; ++b) {  // the diagonal too, which nobody ever observes
      EXPECT_LT(testing::largest_difference(product(found, a, b, 3), product(truth, a, b, 3)), 1e-8);
    }
  }
}

TEST(SymmetricNmf, RotationIsFound) {
  const auto model = testing::random_model(5, 10, 3, 2);
  const auto pairs = testing::population_pairs(model);
  const Factor truth = factor_of(model);
  // Turned by 40 degrees in two planes.
  Factor turned = truth;
  const double c = std::cos(0.7), s = std::sin(0.7);
  for (std::size_t r = 0; r < turned.size(); r += 3) {
    const double x = turned[r], y = turned[r + 1];
    turned[r] = c * x - s * y;
    const double mixed = s * x + c * y, z = turned[r + 2];
    turned[r + 1] = c * mixed - s * z;
    turned[r + 2] = s * mixed + c * z;
  }
  EXPECT_LT(symmetric_nmf::rotate(pairs, factor_of(testing::leaning_model(10, 3)), 5, Rng(1), turned), 1e-12);
  EXPECT_LT(testing::largest_difference(turned, truth), 1e-6);
}

// With class experts the whole way is exact although half of the blocks are missing.
TEST(SymmetricNmf, ExactOnPopulationMomentsWithHalfOfThePairs) {
  for (const Loss loss : {Loss::squares, Loss::absolute}) {
    const auto model = testing::random_model(6, 10, 3, 2);
    const auto pairs = testing::population_pairs(model, 1e12, half);
    const auto blank = testing::leaning_model(10, 3);
    Factor factor = factor_of(blank);
    couple(pairs, RunContext(), factor, factor, {.loss = loss, .pull = 0, .max_iterations = 20000, .tolerance = 0});
    symmetric_nmf::rotate(pairs, factor_of(blank), 10, Rng(1), factor);
    const auto found = symmetric_nmf::read_off(pairs, factor, blank);
    EXPECT_LT(testing::largest_difference(found.tables, model.tables), 1e-6);
    EXPECT_LT(testing::largest_difference(found.class_prior, model.class_prior), 1e-6);
  }
}

TEST(SymmetricNmf, ErrorFallsAsDataGrow) {
  const auto model = testing::random_model(11, 25, 3, 3);
  std::vector<double> errors;
  for (const std::size_t tasks : {1000U, 10000U, 100000U}) {
    const auto sampled = testing::sample(model, tasks, 0.3, 5);
    errors.push_back(testing::mean_difference(SymmetricNmf().fit(sampled.data, RunContext()).confusion, model.tables));
  }
  EXPECT_LT(errors[1], errors[0] / 2);
  EXPECT_LT(errors[2], errors[1] / 2);
  EXPECT_LT(errors[2], 0.015);
}

// Pairs of colluders who agree with each other far beyond what the model allows.
TEST(SymmetricNmf, AbsoluteLossForgivesBadPairs) {
  const auto model = testing::random_model(7, 14, 3, 2);
  const auto good = testing::population_pairs(model, 1e6);
  std::vector<PairMoments::Pair> list(good.pairs().begin(), good.pairs().end());
  std::vector<double> joint, labels;
  for (std::size_t p = 0; p < list.size(); ++p) {
    const bool bad = list[p].first >= 11;  // three of 91 pairs
    for (std::size_t c = 0; c < 9; ++c) joint.push_back(bad ? (c % 4 == 0 ? 1e6 / 3 : 0) : good.joint(p)[c]);
  }
  for (std::size_t w = 0; w < 14; ++w)
    labels.insert(labels.end(), good.label_counts(w).begin(), good.label_counts(w).end());
  const PairMoments pairs(14, 3, list, joint, labels);
  const auto blank = testing::leaning_model(14, 3);
  double error[2];
  for (const Loss loss : {Loss::squares, Loss::absolute}) {
    Factor factor = factor_of(blank);
    couple(pairs, RunContext(), factor_of(blank), factor, {.loss = loss, .max_iterations = 2000, .tolerance = 1e-12});
    symmetric_nmf::rotate(pairs, factor_of(blank), 5, Rng(1), factor);
    error[loss == Loss::absolute] =
        testing::mean_difference(symmetric_nmf::read_off(pairs, factor, blank).tables, model.tables);
  }
  EXPECT_LT(error[1], error[0] / 3);
}

TEST(SymmetricNmf, AsGoodAsTheFactorisationByDivergence) {
  const auto model = testing::random_model(21, 25, 3, 1);
  const auto sampled = testing::sample(model, 5000, 0.3, 2);
  const auto ours = SymmetricNmf().fit(sampled.data, RunContext());
  const auto other = aggregate(sampled.data, "cnmf");
  EXPECT_LT(testing::mean_difference(ours.confusion, model.tables),
            1.5 * testing::mean_difference(other.confusion, model.tables));
}

TEST(SymmetricNmf, ImputationOfManyWorkersIsRefusedPolitely) {
  const auto crowd = testing::small_crowd(5, 4000, 1100, 2, 20);
  Options options;
  options.start = Begin::imputation;
  options.min_common = 1;
  EXPECT_THROW(static_cast<void>(SymmetricNmf(options).fit(crowd.data, RunContext())), Error);
}

// The paper gives no errors for these sets with all workers: the vote and Dawid–Skene are the measure.
TEST(SymmetricNmf, RealSets) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  const std::pair<const char*, double> measured[] = {
      {"trec", .2936}, {"bluebird", .1111}, {"rte", .0725}, {"dog", .1623}};
  for (const auto& [set, error] : measured) {
    EXPECT_NEAR(1 - testing::score_on(*root + "/aggregate/" + set, "symmetric_nmf", {}, 1).alone, error, 0.005) << set;
  }
}

}  // namespace
}  // namespace wisecrowd
