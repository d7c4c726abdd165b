#include "aggregate/categories/pgd/pgd.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "support/crowds.hpp"
#include "support/exact_crowds.hpp"

namespace wisecrowd {
namespace {

using pgd::Pgd;

/// Right in r of `faces` cases, wrong answers spread evenly.
std::vector<std::vector<std::size_t>> one_coin(std::size_t right, std::size_t faces, std::size_t classes) {
  std::vector<std::vector<std::size_t>> rows(classes,
                                             std::vector<std::size_t>(classes, (faces - right) / (classes - 1)));
  for (std::size_t k = 0; k < classes; ++k) rows[k][k] = right;
  return rows;
}

TEST(Pgd, PopulationIsExactForAnyClassPrior) {
  for (const auto& copies : {std::vector<std::size_t>{1, 1, 1}, {3, 1, 2}}) {
    const std::size_t right[] = {4, 6, 2, 4};  // of 6; a third by chance
    std::vector<std::vector<std::vector<std::size_t>>> workers;
    for (const std::size_t r : right) workers.push_back(one_coin(r, 6, 3));
    const auto crowd = testing::exact_crowd(workers, copies);
    const auto result = Pgd({.tolerance = 1e-11}).fit(crowd.data, RunContext());
    const double margin = 1 / std::sqrt(static_cast<double>(crowd.truth.size()));
    for (std::size_t w = 0; w < 4; ++w) {
      const double s = (3 * static_cast<double>(right[w]) / 6 - 1) / 2;
      EXPECT_NEAR(result.skill[w], std::min(s, 1 - margin), 1e-6) << w;
    }
  }
}

// K10 of the golden vectors: K = 4, accuracies .7 and .4 agree in .34 of cases, C = .12 = .6 × .2. Here with w = .7,
// .4 and .7 in tenths.
TEST(Pgd, GoldenAgreement) {
  const auto crowd = testing::exact_crowd({one_coin(7, 10, 4), one_coin(4, 10, 4), one_coin(7, 10, 4)}, {1, 1, 1, 1});
  double agreed = 0;
  for (std::uint32_t t = 0; t < crowd.truth.size(); ++t) {
    const auto labels = crowd.data.answers.labels_of(TaskId{t});
    agreed += labels[0] == labels[1] ? 1 : 0;
  }
  EXPECT_NEAR(agreed / static_cast<double>(crowd.truth.size()), .34, 1e-12);
  const auto result = Pgd({.max_iterations = 5000, .tolerance = 1e-12}).fit(crowd.data, RunContext());
  EXPECT_NEAR(result.skill[0], .6, 1e-7);
  EXPECT_NEAR(result.skill[1], .2, 1e-7);
}

/// Coordinate descent on an explicit list of pairs, within the same box.
std::vector<double> slow_skills(const CategoryAnswers& answers) {
  const std::size_t M = answers.worker_count();
  const auto K = static_cast<double>(answers.class_count());
  std::vector<std::vector<double>> n(M, std::vector<double>(M, 0)), c = n;
  for (std::uint32_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId{t});
    const auto labels = answers.labels_of(TaskId{t});
    for (std::size_t a = 0; a < workers.size(); ++a) {
      for (std::size_t b = 0; b < workers.size(); ++b) {
        if (a == b) continue;
        n[index(workers[a])][index(workers[b])] += 1;
        c[index(workers[a])][index(workers[b])] += K / (K - 1) * ((labels[a] == labels[b] ? 1 : 0) - 1 / K);
      }
    }
  }
  std::vector<double> s(M, 0.5);
  for (int sweep = 0; sweep < 4000; ++sweep) {
    for (std::size_t i = 0; i < M; ++i) {
      double above = 0, below = 0;
      for (std::size_t j = 0; j < M; ++j) {
        above += c[i][j] * s[j];
        below += n[i][j] * s[j] * s[j];
      }
      s[i] = std::clamp(above / below, -1 / (K - 1), 1.0);
    }
  }
  return s;
}

TEST(Pgd, AgreesWithLeastSquaresOverPairs) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const std::size_t classes = 2 + seed % 3;
    const auto crowd = testing::small_crowd(seed, 400, 9, classes, 3 + seed);
    const auto result = Pgd({.max_iterations = 20000, .tolerance = 1e-11}).fit(crowd.data, RunContext());
    const auto slow = slow_skills(crowd.data.answers);
    const double lowest = -1 / static_cast<double>(classes - 1) + 0.05, highest = 0.95;  // margin 1/√400
    for (std::size_t w = 0; w < slow.size(); ++w) {
      EXPECT_NEAR(result.skill[w], std::clamp(slow[w], lowest, highest), 1e-5) << seed << " " << w;
    }
  }
}

TEST(Pgd, ErrorFallsWithMoreTasks) {
  double errors[2] = {0, 0};
  for (int size = 0; size < 2; ++size) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      // The accuracies of small_crowd do not depend on the number of tasks: they are drawn first.
      const auto rough = testing::small_crowd(seed, size == 0 ? 300 : 4800, 15, 3, 6);
      const auto exact = testing::small_crowd(seed, 20000, 15, 3, 6);
      const auto a = Pgd().fit(rough.data, RunContext()), b = Pgd().fit(exact.data, RunContext());
      for (std::size_t w = 0; w < 15; ++w) errors[size] += std::abs(a.skill[w] - b.skill[w]) / 60;
    }
  }
  EXPECT_LT(errors[1], errors[0] / 2);
}

TEST(Pgd, SparseGraphsAreReported) {
  CategoryAnswersBuilder builder({"0", "1", "2"});
  for (int t = 0; t < 30; ++t) {  // two pairs who never meet, and a loner
    const std::string name = std::to_string(t), label = std::to_string(t % 3);
    const char* const groups[3][2] = {{"a", "b"}, {"c", "d"}, {"e", nullptr}};
    for (const char* worker : groups[t % 3 == 2 && t > 20 ? 2 : t % 2]) {
      if (worker != nullptr) builder.add(name, worker, label);
    }
  }
  const auto result = Pgd().fit({builder.build(), {}, {}}, RunContext());
  std::set<std::string> codes;
  for (const auto& warning : result.warnings) codes.insert(warning.code);
  EXPECT_EQ(codes, (std::set<std::string>{"workers_alone", "skills_not_settled", "separate_parts"}));
  for (std::uint32_t t = 0; t < 30; ++t) EXPECT_EQ(index(result.labels[t]), t % 3);
}

// The reference figures of our method specification ("rank-one agreement").
TEST(Pgd, ReferenceAccuracies) {
  if (!testing::real_data_folder())
    GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  EXPECT_NEAR(testing::real_accuracy("bluebird", "pgd"), .7222, .002);
  EXPECT_NEAR(testing::real_accuracy("rte", "pgd"), .9263, .003);
  EXPECT_NEAR(testing::real_accuracy("sentiment_polarity", "pgd"), .9148, .002);
  EXPECT_NEAR(testing::real_accuracy("trec", "pgd"), .5767, .002);
}

}  // namespace
}  // namespace wisecrowd
