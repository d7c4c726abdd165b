#include "aggregate/shared/copied_workers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"

namespace wisecrowd {
namespace {

constexpr double kLeastCommon = 20;
constexpr double kLeastAgreement = 0.9;
constexpr double kMostPairsOfAnswers = 1e8;
constexpr std::size_t kWorkersPerBlock = 16;

struct Suspect {
  std::uint32_t first, second;
  double common, agreed, expected, variance;
};

/// What one thread adds up about the worker at hand and every other.
struct Tally {
  std::vector<double> common, agreed, expected, variance;
  std::vector<double> agreement;  // workers × classes: P(both say the same | truth)
  std::vector<std::uint32_t> touched;

  void make_room(std::size_t workers, std::size_t classes) {
    if (common.size() == workers) return;
    for (auto* sums : {&common, &agreed, &expected, &variance}) sums->assign(workers, 0.0);
    agreement.resize(workers * classes);
  }
};

}  // namespace

std::vector<CopiedPair> copied_workers(const Dataset& data, const Aggregation& fit, const RunContext& context) {
  const Annotations& answers = data.answers;
  const std::size_t workers = fit.worker_count, classes = fit.class_count;
  if (fit.confusion.empty() || answers.answer_count() == 0 || classes < 2) return {};
  const auto offsets = answers.task_offsets();
  const auto who = answers.workers();
  const auto labels = answers.labels();
  double pairs_of_answers = 0;
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    const auto m = static_cast<double>(offsets[t + 1] - offsets[t]);
    pairs_of_answers += m * (m - 1) / 2;
  }
  std::vector<bool> looked_at(fit.task_count, true);
  if (pairs_of_answers > kMostPairsOfAnswers) {
    Rng rng = context.rng("copied workers");
    for (std::size_t t = 0; t < fit.task_count; ++t) {
      looked_at[t] = rng.bernoulli(kMostPairsOfAnswers / pairs_of_answers);
    }
  }

  static_cast<void>(answers.worker_offsets());  // built here, not by the threads
  const Blocks blocks{workers, kWorkersPerBlock};
  std::vector<Tally> tallies(context.threads());
  std::vector<std::vector<Suspect>> found(blocks.count());
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned thread) {
    if (context.cancelled()) return;
    Tally& tally = tallies[thread];
    tally.make_room(workers, classes);
    std::vector<double> truth(classes);
    for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) {
      const WorkerId self{static_cast<std::uint32_t>(j)};
      const double* const table = fit.confusion.data() + j * classes * classes;
      const auto tasks = answers.tasks_of(self);
      const auto own = answers.answers_of(self);
      for (std::size_t i = 0; i < own.size(); ++i) {
        const std::size_t t = index(tasks[i]);
        if (!looked_at[t]) continue;
        const std::size_t label = index(labels[own[i]]);
        for (AnswerIndex b = own[i] + 1; b < offsets[t + 1]; ++b) {  // sorted by worker: the later ones
          const std::size_t other = index(who[b]);
          if (other == j) continue;
          const double* const other_table = fit.confusion.data() + other * classes * classes;
          double* const same = tally.agreement.data() + other * classes;
          if (tally.common[other]++ == 0) {
            tally.touched.push_back(static_cast<std::uint32_t>(other));
            for (std::size_t k = 0; k < classes; ++k) {
              same[k] = 0;
              for (std::size_t l = 0; l < classes; ++l)
                same[k] += table[k * classes + l] * other_table[k * classes + l];
            }
          }
          const std::size_t other_label = index(labels[b]);
          double total = 0, probability = 0;
          for (std::size_t k = 0; k < classes; ++k) {
            const double said = table[k * classes + label] * other_table[k * classes + other_label];
            truth[k] = fit.posterior[t * classes + k] / std::max(said, kProbabilityFloor);
            total += truth[k];
          }
          for (std::size_t k = 0; k < classes; ++k) probability += truth[k] / total * same[k];
          tally.agreed[other] += label == other_label ? 1 : 0;
          tally.expected[other] += probability;
          tally.variance[other] += probability * (1 - probability);
        }
      }
      std::sort(tally.touched.begin(), tally.touched.end());
      for (const std::uint32_t other : tally.touched) {
        if (tally.common[other] >= kLeastCommon) {
          found[block].push_back({static_cast<std::uint32_t>(j), other, tally.common[other], tally.agreed[other],
                                  tally.expected[other], tally.variance[other]});
        }
        tally.common[other] = tally.agreed[other] = tally.expected[other] = tally.variance[other] = 0;
      }
      tally.touched.clear();
    }
  });

  std::vector<Suspect> all;
  for (auto& part : found) all.insert(all.end(), part.begin(), part.end());
  if (all.empty()) return {};
  std::vector<double> excess;
  excess.reserve(all.size());
  for (const Suspect& pair : all) excess.push_back((pair.agreed - pair.expected) / pair.common);
  std::nth_element(excess.begin(), excess.begin() + static_cast<std::ptrdiff_t>(excess.size() / 2), excess.end());
  const double usual = std::max(0.0, excess[excess.size() / 2]);
  const double most = std::sqrt(2 * std::log(static_cast<double>(all.size()))) + 3;
  std::vector<CopiedPair> copied;
  for (const Suspect& pair : all) {
    const double expected = std::min(pair.expected + usual * pair.common, pair.common);
    const double z = (pair.agreed - expected) / std::sqrt(std::max(pair.variance, 0.25));
    const double agreement = pair.agreed / pair.common;
    if (z > most && agreement >= kLeastAgreement) {
      copied.push_back({pair.first, pair.second, pair.common, agreement, expected / pair.common, z});
    }
  }
  std::stable_sort(copied.begin(), copied.end(), [](const CopiedPair& a, const CopiedPair& b) { return a.z > b.z; });
  return copied;
}

std::optional<Warning> copied_workers_warning(const Dataset& data, const std::vector<CopiedPair>& pairs) {
  if (pairs.empty()) return std::nullopt;
  const CopiedPair& first = pairs.front();
  const NameTable& names = data.answers.worker_names();
  const std::string more = pairs.size() == 1   ? ""
                           : pairs.size() == 2 ? " One more pair looks alike."
                                               : fmt::format(" {} more pairs look alike.", pairs.size() - 1);
  return Warning{
      "copied_workers",
      fmt::format("workers '{}' and '{}' give the same answer on {:.0f} % of {:.0f} common tasks, where {:.0f} "
                  "% would be expected of two who work apart: one may copy the other, or both are one person."
                  "{} Copies count as independent voices; keep one of each pair.",
                  names[first.first], names[first.second], 100 * first.agreement, first.common, 100 * first.expected,
                  more)};
}

}  // namespace wisecrowd
