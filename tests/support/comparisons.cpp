#include "support/comparisons.hpp"

#include <cmath>

#include "base/numeric.hpp"
#include "base/rng.hpp"

namespace wisecrowd::testing {

ComparisonData compared(const std::vector<Series>& series) {
  ComparisonAnswersBuilder builder;
  for (const Series& s : series) {
    for (int i = 0; i < s.won; ++i) builder.add("w", s.first, s.second, Outcome::left);
    for (int i = 0; i < s.lost; ++i) builder.add("w", s.first, s.second, Outcome::right);
    for (int i = 0; i < s.tied; ++i) builder.add("w", s.first, s.second, Outcome::tie);
  }
  return {.answers = builder.build()};
}

ComparisonData random_comparisons(std::uint64_t seed, std::size_t items, std::size_t workers, std::size_t answers) {
  Rng rng(seed);
  std::vector<double> strength(items);
  for (double& s : strength) s = rng.normal();
  ComparisonAnswersBuilder builder;
  for (std::size_t i = 0; i < items; ++i) {  // a ring of ties joins all
    builder.add("w0", "i" + std::to_string(i), "i" + std::to_string((i + 1) % items), Outcome::tie);
  }
  for (std::size_t a = 0; a < answers; ++a) {
    const std::size_t left = rng.below(items), right = (left + 1 + rng.below(items - 1)) % items;
    const double p = sigmoid(strength[left] - strength[right]);
    const Outcome outcome = rng.bernoulli(0.2) ? Outcome::tie : rng.bernoulli(p) ? Outcome::left : Outcome::right;
    builder.add("w" + std::to_string(rng.below(workers)), "i" + std::to_string(left), "i" + std::to_string(right),
                outcome);
  }
  return {.answers = builder.build()};
}

ComparisonData strengths_compared(const std::vector<double>& strengths, int per_pair, std::uint64_t seed) {
  Rng rng(seed);
  ComparisonAnswersBuilder builder;
  for (std::size_t i = 0; i < strengths.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      for (int n = 0; n < per_pair; ++n) {
        builder.add("w" + std::to_string(n % 10), "i" + std::to_string(i), "i" + std::to_string(j),
                    rng.bernoulli(sigmoid(strengths[i] - strengths[j])) ? Outcome::left : Outcome::right);
      }
    }
  }
  return {.answers = builder.build()};
}

std::vector<double> hunters_scores(const ComparisonData& data, int rounds) {
  const ComparisonAnswers& answers = data.answers;
  const std::size_t items = answers.item_count();
  std::vector<double> wins(items, 0), p(items, 1);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (AnswerIndex a = answers.task_offsets()[t]; a < answers.task_offsets()[t + 1]; ++a) {
      const Outcome outcome = ComparisonAnswers::outcome_of(answers.codes()[a]);
      wins[index(answers.pairs()[t].first)] += outcome == Outcome::left ? 1 : outcome == Outcome::tie ? 0.5 : 0;
      wins[index(answers.pairs()[t].second)] += outcome == Outcome::right ? 1 : outcome == Outcome::tie ? 0.5 : 0;
    }
  }
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> below(items, 0);
    for (std::size_t t = 0; t < answers.task_count(); ++t) {
      const ItemPair pair = answers.pairs()[t];
      const double games = answers.task_offsets()[t + 1] - answers.task_offsets()[t];
      const double part = games / (p[index(pair.first)] + p[index(pair.second)]);
      below[index(pair.first)] += part;
      below[index(pair.second)] += part;
    }
    for (std::size_t i = 0; i < items; ++i) p[i] = wins[i] / below[i];
  }
  std::vector<double> scores(items);
  double mean = 0;
  for (std::size_t i = 0; i < items; ++i) mean += std::log(p[i]) / static_cast<double>(items);
  for (std::size_t i = 0; i < items; ++i) scores[i] = std::log(p[i]) - mean;
  return scores;
}

}  // namespace wisecrowd::testing
