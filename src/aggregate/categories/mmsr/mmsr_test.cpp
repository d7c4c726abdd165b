#include "aggregate/categories/mmsr/mmsr.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>

#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "support/exact_crowds.hpp"

namespace wisecrowd {
namespace {

using mmsr::Mmsr;
using mmsr::Options;
using mmsr::solve;

/// Pairs of a crowd in which C_jj' = c(j, j').
template <class Correlation>
PairMoments pairs_with(std::size_t workers, std::size_t classes, Correlation&& c, double common = 1e9) {
  std::vector<PairMoments::Pair> pairs;
  const auto K = static_cast<double>(classes);
  for (std::uint32_t a = 0; a < workers; ++a) {
    for (std::uint32_t b = a + 1; b < workers; ++b) {
      pairs.push_back({a, b, common, common * (c(a, b) * (K - 1) / K + 1 / K)});
    }
  }
  return {workers, classes, std::move(pairs), {}, std::vector<double>(workers * classes, 1.0)};
}

void turn(std::vector<double>& skill, double sign_of_first) {
  if (skill[0] * sign_of_first > 0) return;
  for (double& s : skill) s = -s;
}

TEST(Mmsr, PopulationIsExact) {
  const std::vector<double> s = {.6, .2, .9, -.2, .4, 1, .3, .75};
  auto found = solve(pairs_with(8, 4, [&](auto a, auto b) { return s[a] * s[b]; }), {}, {}, RunContext());
  EXPECT_EQ(found.status, Status::converged);
  turn(found.skill, 1);
  for (std::size_t j = 0; j < 8; ++j) EXPECT_NEAR(found.skill[j], s[j], 1e-8) << j;
}

// K10 of the golden vectors: K = 4, accuracies .7 and .4 agree in .34 of cases, so C = .12 = .6 × .2.
TEST(Mmsr, GoldenAgreement) {
  const std::vector<double> s = {.6, .2, .6, .2, .6};
  const auto pairs = pairs_with(5, 4, [&](auto a, auto b) { return s[a] * s[b]; });
  EXPECT_NEAR(pairs.pairs()[0].agreements / pairs.pairs()[0].common, .34, 1e-12);
  const auto found = solve(pairs, {}, {}, RunContext());
  for (std::size_t j = 0; j < 5; ++j) EXPECT_NEAR(std::abs(found.skill[j]), s[j], 1e-8);
}

// Every worker has 12 partners, so F = 12/2 − 1 = 5 of them may say what they like.
TEST(Mmsr, ArbitraryColumnsDoNotMatter) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    const std::size_t workers = 13, bad = 5;
    std::vector<double> s(workers);
    for (double& x : s) x = rng.uniform(0.2, 0.95);
    std::vector<std::vector<double>> noise(workers, std::vector<double>(workers));
    for (auto& row : noise) {
      for (double& x : row) x = seed % 3 == 0 ? 1.0 : seed % 3 == 1 ? rng.uniform(-1, 1) : -rng.uniform(0, 1);
    }
    const auto corrupted = [&](std::uint32_t a, std::uint32_t b) {
      return a >= workers - bad || b >= workers - bad ? noise[a][b] : s[a] * s[b];
    };
    const auto pairs = pairs_with(workers, 2, corrupted);
    auto found = solve(pairs, {}, {}, RunContext());
    turn(found.skill, 1);
    for (std::size_t j = 0; j + bad < workers; ++j) EXPECT_NEAR(found.skill[j], s[j], 1e-6) << seed << " " << j;
    // Without trimming they do matter.
    const auto fooled = solve(pairs, {.trim = 0}, {}, RunContext());
    double most = 0;
    for (std::size_t j = 0; j + bad < workers; ++j) most = std::max(most, std::abs(std::abs(fooled.skill[j]) - s[j]));
    EXPECT_GT(most, 0.01) << seed;
  }
}

/// One round by the words of METHOD.md, with sorting instead of selection.
std::vector<double> slow_round(const PairMoments& pairs, const std::vector<double>& s, std::size_t trim, double most) {
  const auto K = static_cast<double>(pairs.class_count());
  std::vector<double> next = s;
  for (std::size_t j = 0; j < s.size(); ++j) {
    std::vector<double> ratios;
    for (const auto& p : pairs.partners(j)) {
      const auto& pair = pairs.pairs()[p.pair];
      ratios.push_back(std::abs(K / (K - 1) * (pair.agreements / pair.common - 1 / K)) / s[p.worker]);
    }
    std::sort(ratios.begin(), ratios.end());
    std::size_t low = 0, high = ratios.size();
    while (low < trim && low < ratios.size() && ratios[low] < s[j]) ++low;
    while (ratios.size() - high < trim && high > low && ratios[high - 1] > s[j]) --high;
    double sum = 0;
    for (std::size_t i = low; i < high; ++i) sum += ratios[i];
    if (high == low) continue;
    next[j] = std::clamp(std::sqrt(s[j] * sum / static_cast<double>(high - low)), 0.01, most);
  }
  return next;
}

TEST(Mmsr, RoundsAgreeWithASlowReference) {
  const auto crowd = testing::small_crowd(4, 300, 11, 3, 5);
  const RunContext context;
  const PairMoments pairs(crowd.data, context, {.detail = PairDetail::agreements, .min_common = 1});
  for (const std::size_t trim : {0U, 1U, 3U}) {
    // Every pair shares more than five tasks, so both thresholds see the same pairs; below five skills may pass 1.
    for (const auto& [min_common, most] : {std::pair<std::size_t, double>(1, 10.0), {5, 1.0}}) {
      std::vector<double> slow(11, 0.5);
      for (int round = 0; round < 7; ++round) slow = slow_round(pairs, slow, trim, most);
      const auto found = solve(pairs,
                               {.trim = static_cast<std::int64_t>(trim),
                                .min_common = min_common,
                                .polish = 0,
                                .max_iterations = 7,
                                .tolerance = 0},
                               {}, context);
      for (std::size_t j = 0; j < 11; ++j) EXPECT_NEAR(std::abs(found.skill[j]), slow[j], 1e-12);
    }
  }
}

// Three answers per task by six workers: the paper's iteration, of two vectors without bounds, ends here from any
// start.
TEST(Mmsr, ThinPairsEndWhereThePaperDoes) {
  const std::vector<std::string> rows = {
      "b:0goose 1parrot 2goose 3goose 4parrot 5parrot",    "c:1parrot 6chicken 7parrot 8chicken 9chicken 2goose",
      "a:6chicken 0goose 3goose 4parrot 5parrot",          "d:0goose 6chicken 2goose 9chicken",
      "f:0parrot 1parrot 7parrot 8parrot 9parrot 3parrot", "e:1parrot 6goose 4parrot 5parrot 7parrot 8goose"};
  CategoryAnswersBuilder builder({"chicken", "goose", "parrot"});
  for (const std::string& row : rows) {
    std::istringstream words(row.substr(2));
    for (std::string word; words >> word;) builder.add(word.substr(0, 1), row.substr(0, 1), word.substr(1));
  }
  const CategoryData data{.answers = builder.build()};
  const auto result = Mmsr().fit(data, RunContext());
  for (std::size_t w = 0; w < 6; ++w) {
    const std::string name(data.answers.worker_names()[w]);
    EXPECT_NEAR(result.skill[w], name == "e" ? 0.6419 : name == "f" ? -0.25 : 0.75, 1e-4) << name;
  }
}

// Four of eleven workers agree among themselves on nonsense; the others are decent. The vote follows the others.
TEST(Mmsr, ColludersAreOutvoted) {
  CategoryAnswersBuilder builder({"0", "1", "2"});
  Rng rng(11);
  for (int t = 0; t < 800; ++t) {
    const int nonsense = static_cast<int>(rng.below(3));
    for (int w = 0; w < 11; ++w) {
      const int honest = rng.bernoulli(0.6) ? t % 3 : static_cast<int>(rng.below(3));
      builder.add(std::to_string(t), std::to_string(w), std::to_string(w < 4 ? nonsense : honest));
    }
  }
  const CategoryData data{builder.build(), {}, {}};
  const auto right = [](const CategoryFit& result) {
    double sum = 0;
    for (std::uint32_t t = 0; t < 800; ++t) sum += index(result.labels[t]) == t % 3 ? 1 : 0;
    return sum / 800;
  };
  const double ours = right(Mmsr().fit(data, RunContext())), vote = right(aggregate(data, "majority_vote"));
  EXPECT_GT(ours, 0.9);
  EXPECT_GT(ours, vote + 0.05);
}

TEST(Mmsr, GoldIsAPartnerOfKnownSkill) {
  auto crowd = testing::small_crowd(8, 400, 6, 3, 4);
  crowd.data.gold.assign(400, kNoClass);
  for (std::size_t t = 0; t < 400; t += 2) crowd.data.gold[t] = crowd.truth[t];
  const auto result = Mmsr().fit(crowd.data, RunContext());
  ASSERT_EQ(result.skill.size(), 6U);
  for (std::size_t t = 0; t < 400; t += 2) EXPECT_EQ(result.labels[t], crowd.truth[t]);
}

TEST(Mmsr, ThinDataAreReported) {
  const auto crowd = testing::small_crowd(3, 60, 200, 3, 3);
  const auto result = Mmsr().fit(crowd.data, RunContext());
  std::set<std::string> codes;
  for (const auto& warning : result.warnings) codes.insert(warning.code);
  EXPECT_EQ(codes.count("thin_pairs"), 1U);
  CategoryAnswersBuilder builder({"0", "1"});
  for (int t = 0; t < 10; ++t) builder.add(std::to_string(t), std::to_string(t), std::to_string(t % 2));
  const auto alone = Mmsr().fit({builder.build(), {}, {}}, RunContext());
  ASSERT_EQ(alone.warnings.size(), 1U);
  EXPECT_EQ(alone.warnings[0].code, "workers_alone");
  for (std::uint32_t t = 0; t < 10; ++t) EXPECT_EQ(index(alone.labels[t]), t % 2);
}

// No published figures for these sets: what we measured, as a guard.
TEST(Mmsr, MeasuredAccuracies) {
  if (!testing::real_data_folder())
    GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  EXPECT_NEAR(testing::real_accuracy("bluebird", "mmsr"), .7407, .002);
  EXPECT_NEAR(testing::real_accuracy("rte", "mmsr"), .9187, .002);
  EXPECT_NEAR(testing::real_accuracy("product", "mmsr"), .9268, .002);
}

}  // namespace
}  // namespace wisecrowd
