#include "data/pair_labels.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd::comparisons {
namespace {

/// Rates settle within a few rounds; what more of them move is how sure they are.
constexpr std::size_t kRounds = 12;
/// Answers like the crowd's that are added to a worker's own.
constexpr double kCrowdAnswers = 4;
constexpr std::size_t kPairsPerLabelBlock = std::size_t{1} << 13;
constexpr std::size_t kWorkersPerBlock = 64;

enum Rate : std::size_t { right, wrong, tied, tie_found, tie_missed, rates };
using Rates = std::array<double, rates>;

/// Expected counts of each worker.
std::vector<Rates> worker_counts(const ComparisonAnswers& answers, std::span<const double> posterior,
                                 const RunContext& context) {
  std::vector<Rates> counts(answers.worker_count(), Rates{});
  const Blocks blocks{answers.worker_count(), kWorkersPerBlock};
  (void)answers.worker_offsets();  // made by this thread
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t w = blocks.begin(b); w < blocks.end(b); ++w) {
      Rates& own = counts[w];
      const auto tasks = answers.tasks_of(WorkerId(w));
      const auto places = answers.answers_of(WorkerId(w));
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        const double* const q = posterior.data() + index(tasks[i]) * 3;
        const Outcome said = ComparisonAnswers::outcome_of(answers.codes()[places[i]]);
        if (said == Outcome::tie) {
          own[tied] += q[0] + q[1];
          own[tie_found] += q[2];
        } else {
          const std::size_t winner = said == Outcome::left ? 0 : 1;
          own[right] += q[winner];
          own[wrong] += q[1 - winner];
          own[tie_missed] += q[2];
        }
      }
    }
  });
  return counts;
}

/// Logarithms of the rates, shrunk towards the crowd's.
std::vector<Rates> log_rates(std::vector<Rates> counts) {
  Rates crowd{1, 1, 1, 1, 1};
  for (const Rates& own : counts) {
    for (std::size_t r = 0; r < rates; ++r) crowd[r] += own[r];
  }
  const double decided = crowd[right] + crowd[wrong] + crowd[tied], ties = crowd[tie_found] + crowd[tie_missed];
  for (std::size_t r = 0; r < rates; ++r) crowd[r] /= r <= tied ? decided : ties;
  for (Rates& own : counts) {
    const double n = own[right] + own[wrong] + own[tied] + kCrowdAnswers;
    const double m = own[tie_found] + own[tie_missed] + kCrowdAnswers;
    for (std::size_t r = 0; r < rates; ++r)
      own[r] = math::log((own[r] + kCrowdAnswers * crowd[r]) / (r <= tied ? n : m));
    own[tie_missed] -= math::log(2.0);  // either item
  }
  return counts;
}

/// Whether anybody said tie, or a known outcome is one.
bool has_ties(const ComparisonData& data) {
  const auto is_tie = [](std::uint8_t code) { return ComparisonAnswers::outcome_of(code) == Outcome::tie; };
  if (std::any_of(data.answers.codes().begin(), data.answers.codes().end(), is_tie)) return true;
  for (std::size_t t = 0; t < data.answers.task_count(); ++t) {
    if (data.gold_of(TaskId(t)) == Outcome::tie) return true;
  }
  return false;
}

}  // namespace

void label_pairs(const ComparisonData& data, ComparisonFit& fit, const RunContext& context) {
  const ComparisonAnswers& answers = data.answers;
  const std::size_t pairs = answers.task_count();
  const auto offsets = answers.task_offsets();
  const auto codes = answers.codes();
  const auto workers = answers.workers();
  fit.pair_posterior.assign(pairs * 3, 0);
  const std::span posterior(fit.pair_posterior);
  const Blocks blocks{pairs, kPairsPerLabelBlock};
  const auto pin = [&](std::size_t t) {
    if (const auto known = data.gold_of(TaskId(t))) {
      for (std::size_t k = 0; k < 3; ++k) posterior[t * 3 + k] = k == static_cast<std::size_t>(*known) ? 1 : 0;
    }
  };
  double nu = has_ties(data) ? 1 : 0;
  for (std::size_t t = 0; t < pairs; ++t) {
    double* const q = posterior.data() + t * 3;
    for (std::size_t k = 0; k < 3; ++k) q[k] = k == 2 && nu == 0 ? 0 : 0.1;
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      q[static_cast<std::size_t>(ComparisonAnswers::outcome_of(codes[a]))] += 1;
    }
    normalise({q, 3});
    pin(t);
  }
  for (std::size_t round = 0; round < kRounds && !context.cancelled(); ++round) {
    const std::vector<Rates> logs = log_rates(worker_counts(answers, posterior, context));
    std::vector<double> found(blocks.count(), 0), expected(blocks.count(), 0);
    context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
      for (std::size_t t = blocks.begin(b); t < blocks.end(b); ++t) {
        const ItemPair pair = answers.pairs()[t];
        const double half = (fit.score[index(pair.first)] - fit.score[index(pair.second)]) / 2;
        std::array<double, 3> q{half, -half, math::log(nu)};
        std::array<double, 3> before = q;
        softmax(before);
        expected[b] += before[2];
        for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
          const Rates& own = logs[index(workers[a])];
          const Outcome said = ComparisonAnswers::outcome_of(codes[a]);
          if (said == Outcome::tie) {
            q[0] += own[tied];
            q[1] += own[tied];
            q[2] += own[tie_found];
          } else {
            const std::size_t winner = said == Outcome::left ? 0 : 1;
            q[winner] += own[right];
            q[1 - winner] += own[wrong];
            q[2] += own[tie_missed];
          }
        }
        softmax(q);
        std::copy(q.begin(), q.end(), posterior.begin() + static_cast<std::ptrdiff_t>(t * 3));
        pin(t);
        found[b] += posterior[t * 3 + 2];
      }
    });
    double all_found = 0, all_expected = 0;
    for (std::size_t b = 0; b < blocks.count(); ++b) {
      all_found += found[b];
      all_expected += expected[b];
    }
    if (all_expected > 0 && all_found > 0) nu = std::clamp(nu * all_found / all_expected, 1e-6, 1e6);
  }
}

}  // namespace wisecrowd::comparisons
