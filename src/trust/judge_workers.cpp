#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/trust.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kWorkersPerBlock = 64;

/// I(z; y) at the given shares of classes.
double information(std::span<const double> table, std::span<const double> shares) {
  const auto part = [](double p) { return p > 0 ? p * std::log(p) : 0; };
  const std::size_t classes = shares.size();
  double sum = 0;
  for (std::size_t l = 0; l < classes; ++l) {
    double p = 0;
    for (std::size_t k = 0; k < classes; ++k) {
      p += shares[k] * table[k * classes + l];
      sum += shares[k] * part(table[k * classes + l]);
    }
    sum -= part(p);
  }
  return std::max(sum, 0.0);
}

double accuracy(std::span<const double> table, std::span<const double> shares) {
  double sum = 0;
  for (std::size_t k = 0; k < shares.size(); ++k) sum += shares[k] * table[k * (shares.size() + 1)];
  return sum;
}

DrawnEstimate estimate(double value, std::vector<double>& draws, double level) {
  std::sort(draws.begin(), draws.end());
  const auto at = [&](double p) { return draws[static_cast<std::size_t>(p * static_cast<double>(draws.size() - 1))]; };
  return {value, at((1 - level) / 2), at((1 + level) / 2)};
}

WorkerJudgement judge(std::span<const double> counts, std::span<const double> shares, std::uint64_t answers,
                      const JudgeOptions& options, Rng rng) {
  const std::size_t classes = shares.size();
  WorkerJudgement judged;
  judged.answers = answers;
  std::vector<double> mean(counts.begin(), counts.end()), table(counts.size());
  for (std::size_t k = 0; k < classes; ++k) normalise(std::span(mean).subspan(k * classes, classes));
  std::vector<double> accuracies, scores, informations;
  std::vector<std::size_t> swapped(classes * classes, 0);  // draws in which a row is largest off its diagonal
  for (std::size_t draw = 0; draw < options.draws; ++draw) {
    for (std::size_t k = 0; k < classes; ++k) {
      const auto row = std::span(table).subspan(k * classes, classes);
      rng.dirichlet(counts.subspan(k * classes, classes), row);
      ++swapped[k * classes + static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin())];
    }
    accuracies.push_back(accuracy(table, shares));
    scores.push_back(spammer_score(table, classes));
    informations.push_back(information(table, shares));
  }
  judged.accuracy = estimate(accuracy(mean, shares), accuracies, options.confidence_level);
  judged.score = estimate(spammer_score(mean, classes), scores, options.confidence_level);
  judged.information = estimate(information(mean, shares), informations, options.confidence_level);
  judged.capacity = channel_capacity(mean, classes, 1e-6).nats;
  if (answers < options.least_answers) return judged;
  if (judged.score.high < options.spammer_below) {
    judged.advice = WorkerAdvice::stop;
    return judged;
  }
  // The swap that costs most right answers, if there is one.
  double worst = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    for (std::size_t l = 0; l < classes; ++l) {
      const double chance = static_cast<double>(swapped[k * classes + l]) / static_cast<double>(options.draws);
      const double harm = shares[k] * mean[k * classes + l];
      if (l == k || chance < options.sure || harm <= worst) continue;
      worst = harm;
      judged.truth = ClassId{static_cast<std::uint16_t>(k)};
      judged.said = ClassId{static_cast<std::uint16_t>(l)};
    }
  }
  if (worst > 0) {
    judged.advice = WorkerAdvice::retrain;
  } else if (judged.score.low >= options.spammer_below) {
    judged.advice = WorkerAdvice::keep;
  }
  return judged;
}

}  // namespace

std::string_view to_string(WorkerAdvice advice) noexcept {
  switch (advice) {
    case WorkerAdvice::keep: return "keep";
    case WorkerAdvice::retrain: return "retrain";
    case WorkerAdvice::stop: return "stop";
    case WorkerAdvice::unsure: return "unsure";
  }
  return "";
}

std::vector<WorkerJudgement> judge_workers(std::span<const double> counts, std::span<const double> class_shares,
                                           std::span<const std::uint32_t> answers, const JudgeOptions& options,
                                           const RunContext& context) {
  const std::size_t cells = class_shares.size() * class_shares.size();
  if (counts.size() != answers.size() * cells) {
    throw Error(ErrorCode::bad_input, fmt::format("tables of {} cells do not fit {} workers and {} classes",
                                                  counts.size(), answers.size(), class_shares.size()));
  }
  std::vector<WorkerJudgement> judged(answers.size());
  const Rng base = context.rng("judge workers");
  const Blocks blocks{answers.size(), kWorkersPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) {
      judged[j] = judge(counts.subspan(j * cells, cells), class_shares, answers[j], options, base.fork("worker", j));
    }
  });
  return judged;
}

}  // namespace wisecrowd
