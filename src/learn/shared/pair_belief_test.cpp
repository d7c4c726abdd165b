#include "learn/shared/pair_belief.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/numeric.hpp"
#include "base/rng.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kClusters = 3;

std::vector<double> some_prior(std::size_t items) {
  Rng rng(5);
  std::vector<double> prior(items * kClusters);
  const std::vector<double> alpha(kClusters, 1.0);
  for (std::size_t i = 0; i < items; ++i) rng.dirichlet(alpha, std::span(prior).subspan(i * kClusters, kClusters));
  return prior;
}

similarities::ErrorRates two_workers() {
  similarities::ErrorRates rates(2);
  rates.false_different = {0.1, 0.4};
  rates.false_same = {0.3, 0.2};
  return rates;
}

TEST(PairBelief, IsExactOnATree) {
  // a – b – c, b – d; the pair (b, c) is answered twice.
  SimilarityAnswersBuilder builder;
  builder.add("u", "a", "b", true).add("u", "b", "c", false).add("v", "b", "c", true).add("v", "b", "d", true);
  const SimilarityAnswers answers = builder.build();
  const std::vector<double> prior = some_prior(4);
  std::vector<double> log_prior;
  for (const double p : prior) log_prior.push_back(std::log(p));
  PairBelief belief(answers, kClusters, std::vector<double>(12, 1.0 / 3), two_workers());
  for (int t = 0; t < 60; ++t) belief.pass(log_prior, RunContext());

  // All 81 ways to put four items into three clusters.
  const similarities::ErrorRates rates = two_workers();
  std::vector<double> member(12, 0), same(answers.task_count(), 0);
  double all = 0;
  for (std::size_t code = 0; code < 81; ++code) {
    const std::size_t z[4] = {code % 3, code / 3 % 3, code / 9 % 3, code / 27};
    double p = 1;
    for (std::size_t i = 0; i < 4; ++i) p *= prior[i * kClusters + z[i]];
    for (std::size_t t = 0; t < answers.task_count(); ++t) {
      const bool alike = z[answers.pairs()[t].left] == z[answers.pairs()[t].right];
      for (AnswerIndex a = answers.task_offsets()[t]; a < answers.task_offsets()[t + 1]; ++a) {
        const std::size_t w = index(answers.workers()[a]);
        const double says_same = alike ? 1 - rates.false_different[w] : rates.false_same[w];
        p *= answers.same()[a] != 0 ? says_same : 1 - says_same;
      }
    }
    all += p;
    for (std::size_t i = 0; i < 4; ++i) member[i * kClusters + z[i]] += p;
    for (std::size_t t = 0; t < same.size(); ++t) {
      if (z[answers.pairs()[t].left] == z[answers.pairs()[t].right]) same[t] += p;
    }
  }
  for (std::size_t i = 0; i < member.size(); ++i) EXPECT_NEAR(belief.member()[i], member[i] / all, 1e-6);
  for (std::size_t t = 0; t < same.size(); ++t) EXPECT_NEAR(belief.same()[t], same[t] / all, 1e-6);
}

TEST(PairBelief, HiddenAnswersAreForetoldByMembersAndRates) {
  SimilarityAnswersBuilder builder;
  builder.add("u", "a", "b", true).add("v", "b", "c", false);
  const SimilarityAnswers answers = builder.build();
  const std::vector<double> member{0.5, 0.5, 0, 0.2, 0.3, 0.5, 1, 0, 0};
  const PairBelief belief(answers, kClusters, member, two_workers());
  const SimilarityAnswer said[] = {{TaskId(0), WorkerId(1), true}};
  EXPECT_NEAR(belief.log_answers(said)[0], std::log(0.6 * 0.25 + 0.2 * 0.75), 1e-12);
}

}  // namespace
}  // namespace wisecrowd
