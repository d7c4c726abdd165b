#include "aggregate/comparisons/shared/bootstrap.hpp"

#include <algorithm>
#include <cmath>

#include "aggregate/comparisons/shared/ranking.hpp"
#include "base/rng.hpp"

namespace wisecrowd::comparisons {
namespace {

constexpr std::size_t kReplicatesPerBlock = 8;
/// Keeps replicates finite in which an item happens to win everything.
constexpr double kReplicateRidge = 1e-3;

/// The win that an answer is, in halves.
struct Draw {
  std::uint32_t pair;
  std::uint8_t first, second;
};

std::vector<Draw> draws_of(const ComparisonAnswers& answers) {
  std::vector<Draw> draws(answers.answer_count());
  for (std::uint32_t t = 0; t < answers.task_count(); ++t) {
    for (AnswerIndex a = answers.task_offsets()[t]; a < answers.task_offsets()[t + 1]; ++a) {
      const Outcome outcome = ComparisonAnswers::outcome_of(answers.codes()[a]);
      draws[a] = {t,
                  static_cast<std::uint8_t>(outcome == Outcome::left  ? 2
                                            : outcome == Outcome::tie ? 1
                                                                      : 0),
                  static_cast<std::uint8_t>(outcome == Outcome::right ? 2
                                            : outcome == Outcome::tie ? 1
                                                                      : 0)};
    }
  }
  return draws;
}

double quantile(std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto rank = static_cast<std::size_t>(place);
  const double upper = sorted[std::min(rank + 1, sorted.size() - 1)];
  return sorted[rank] + (place - static_cast<double>(rank)) * (upper - sorted[rank]);
}

}  // namespace

bool bootstrap_ranking(const ComparisonData& data, const ItemGraph& graph, const Connectivity& found,
                       std::size_t replicates, Resampled resampled, double ridge, ComparisonFit& fit,
                       const RunContext& context) {
  const ComparisonAnswers& answers = data.answers;
  const std::size_t items = graph.items(), pairs = answers.task_count();
  if (answers.answer_count() == 0 || replicates == 0) return true;
  const std::vector<Draw> draws = draws_of(answers);
  const Rng stream = context.rng("bootstrap");
  (void)answers.worker_offsets();
  std::vector<double> scores(replicates * items), ranks(replicates * items);
  const Blocks blocks{replicates, kReplicatesPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    const RunContext alone({.threads = 1});
    ScoreSolver solver(graph, {.ridge = std::max(ridge, kReplicateRidge)}, alone);
    std::vector<double> first(pairs), second(pairs);
    for (std::size_t r = blocks.begin(b); r < blocks.end(b) && !context.cancelled(); ++r) {
      Rng rng = stream.fork("replicate", r);
      std::fill(first.begin(), first.end(), 0);
      std::fill(second.begin(), second.end(), 0);
      const auto add = [&](const Draw& draw) {
        first[draw.pair] += draw.first / 2.0;
        second[draw.pair] += draw.second / 2.0;
      };
      if (resampled == Resampled::answers) {
        for (std::size_t i = 0; i < draws.size(); ++i) add(draws[rng.below(draws.size())]);
      } else {
        for (std::size_t i = 0; i < answers.worker_count(); ++i) {
          for (const AnswerIndex a : answers.answers_of(WorkerId(rng.below(answers.worker_count())))) add(draws[a]);
        }
      }
      solver.set_weights(first, second);
      std::vector<double> own = fit.score;
      solver.improve(own, 25, 1e-3);  // the last step of Newton's method leaves far less
      centre_by_component(own, found);
      std::copy(own.begin(), own.end(), scores.begin() + static_cast<std::ptrdiff_t>(r * items));
      const std::vector<double> rank = ranks_of(own);
      std::copy(rank.begin(), rank.end(), ranks.begin() + static_cast<std::ptrdiff_t>(r * items));
    }
  });
  if (context.cancelled()) return false;
  std::vector<double> values(replicates);
  for (std::size_t i = 0; i < items; ++i) {
    if (!std::isfinite(fit.deviation[i])) continue;
    const auto gather = [&](const std::vector<double>& from) {
      for (std::size_t r = 0; r < replicates; ++r) values[r] = from[r * items + i];
      std::sort(values.begin(), values.end());
    };
    gather(scores);
    double mean = 0, squares = 0;
    for (const double v : values) mean += v / static_cast<double>(replicates);
    for (const double v : values) squares += (v - mean) * (v - mean);
    fit.deviation[i] = replicates > 1 ? std::sqrt(squares / static_cast<double>(replicates - 1)) : 0;
    fit.low[i] = quantile(values, 0.025);
    fit.high[i] = quantile(values, 0.975);
    gather(ranks);
    fit.rank_low[i] = std::floor(quantile(values, 0.025));
    fit.rank_high[i] = std::ceil(quantile(values, 0.975));
  }
  return true;
}

}  // namespace wisecrowd::comparisons
