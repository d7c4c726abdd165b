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

/// What each worker says when the votes of the others say k: workers × votes × label, one answer spread over each row.
std::vector<double> habits(const Annotations& answers, std::span<const float> votes, const RunContext& context) {
  const std::size_t workers = answers.worker_count(), classes = answers.class_count();
  std::vector<double> tables(workers * classes * classes, 1 / static_cast<double>(classes));
  const auto offsets = answers.task_offsets();
  const auto labels = answers.labels();
  const Blocks blocks{workers, kWorkersPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) {
      double* const table = tables.data() + j * classes * classes;
      const WorkerId self{static_cast<std::uint32_t>(j)};
      const auto tasks = answers.tasks_of(self);
      const auto own = answers.answers_of(self);
      for (std::size_t i = 0; i < own.size(); ++i) {
        const std::size_t t = index(tasks[i]), label = index(labels[own[i]]);
        const auto others = static_cast<double>(offsets[t + 1] - offsets[t]) - 1;
        for (std::size_t k = 0; k < classes && others > 0; ++k) {
          const double share = (static_cast<double>(votes[t * classes + k]) - (k == label ? 1 : 0)) / others;
          table[k * classes + label] += share;
        }
      }
      for (std::size_t k = 0; k < classes; ++k) normalise({table + k * classes, classes});
    }
  });
  return tables;
}

/// A name in a sentence: not longer than a few words, and never cut within a character.
std::string in_words(std::string_view name) {
  constexpr std::size_t kMost = 40;
  if (name.size() <= kMost) return std::string(name);
  std::size_t end = kMost - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  return std::string(name.substr(0, end)) + "…";
}

}  // namespace

std::vector<CopiedPair> copied_workers(const Dataset& data, const RunContext& context) {
  const Annotations& answers = data.answers;
  const std::size_t workers = answers.worker_count(), classes = answers.class_count(),
                    task_count = answers.task_count();
  if (answers.answer_count() == 0 || classes < 2) return {};
  const auto offsets = answers.task_offsets();
  const auto who = answers.workers();
  const auto labels = answers.labels();
  std::vector<float> votes(task_count * classes, 0.0F);
  for (std::size_t t = 0; t < task_count; ++t) {
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) votes[t * classes + index(labels[a])] += 1;
  }
  static_cast<void>(answers.worker_offsets());  // built here, not by the threads
  const std::vector<double> tables = habits(answers, votes, context);
  double pairs_of_answers = 0;
  for (std::size_t t = 0; t < task_count; ++t) {
    const auto m = static_cast<double>(offsets[t + 1] - offsets[t]);
    pairs_of_answers += m * (m - 1) / 2;
  }
  std::vector<bool> looked_at(task_count, true);
  if (pairs_of_answers > kMostPairsOfAnswers) {
    Rng rng = context.rng("copied workers");
    for (std::size_t t = 0; t < task_count; ++t) {
      looked_at[t] = rng.bernoulli(kMostPairsOfAnswers / pairs_of_answers);
    }
  }

  const Blocks blocks{workers, kWorkersPerBlock};
  std::vector<Tally> tallies(context.threads());
  std::vector<std::vector<Suspect>> found(blocks.count());
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned thread) {
    if (context.cancelled()) return;
    Tally& tally = tallies[thread];
    tally.make_room(workers, classes);
    for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) {
      const WorkerId self{static_cast<std::uint32_t>(j)};
      const double* const table = tables.data() + j * classes * classes;
      const auto tasks = answers.tasks_of(self);
      const auto own = answers.answers_of(self);
      for (std::size_t i = 0; i < own.size(); ++i) {
        const std::size_t t = index(tasks[i]);
        if (!looked_at[t]) continue;
        const std::size_t label = index(labels[own[i]]);
        for (AnswerIndex b = own[i] + 1; b < offsets[t + 1]; ++b) {  // sorted by worker: the later ones
          const std::size_t other = index(who[b]);
          if (other == j) continue;
          const double* const other_table = tables.data() + other * classes * classes;
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
          const auto rest = static_cast<double>(offsets[t + 1] - offsets[t]) - 2;
          double probability = 0;
          for (std::size_t k = 0; k < classes; ++k) {
            const double own_votes = (k == label ? 1 : 0) + (k == other_label ? 1 : 0);
            const double share = rest > 0 ? (static_cast<double>(votes[t * classes + k]) - own_votes) / rest
                                          : 1 / static_cast<double>(classes);
            probability += share * same[k];
          }
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
  const double most = std::sqrt(2 * std::log(static_cast<double>(all.size()))) + 2;
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
                  in_words(names[first.first]), in_words(names[first.second]), 100 * first.agreement, first.common,
                  100 * first.expected, more)};
}

}  // namespace wisecrowd
