#include "trust/shared/crowd_sample.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::trust {
namespace {

constexpr std::size_t kWorkersPerBlock = 16;

/// A number for an id that has nothing to do with its neighbours' (SplitMix64's last steps).
std::uint64_t scattered(std::uint64_t id) {
  id += 0x9E3779B97F4A7C15ULL;
  id = (id ^ (id >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  id = (id ^ (id >> 27U)) * 0x94D049BB133111EBULL;
  return id ^ (id >> 31U);
}

/// Classes by how often they are said, dealt out to the bins in turn.
std::vector<std::uint16_t> bins_of_classes(const CategoryAnswers& answers, std::size_t bins) {
  const std::size_t classes = answers.class_count();
  std::vector<std::uint16_t> bin(classes);
  std::iota(bin.begin(), bin.end(), std::uint16_t{0});
  if (bins == classes) return bin;
  std::vector<std::size_t> said(classes, 0), order(classes);
  for (const ClassId label : answers.labels()) ++said[index(label)];
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return said[a] > said[b]; });
  for (std::size_t r = 0; r < classes; ++r) bin[order[r]] = static_cast<std::uint16_t>(r % bins);
  return bin;
}

void order_by_worker(CrowdSample& sample) {
  if (sample.answers() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorCode::unsupported, "more than 4,294,967,295 answers cannot be looked at for groups of workers");
  }
  sample.worker_offsets.assign(sample.workers + 1, 0);
  for (const std::uint32_t w : sample.who) ++sample.worker_offsets[w + 1];
  std::partial_sum(sample.worker_offsets.begin(), sample.worker_offsets.end(), sample.worker_offsets.begin());
  std::vector<std::uint64_t> next(sample.worker_offsets.begin(), sample.worker_offsets.end() - 1);
  sample.answer_of.resize(sample.answers());
  sample.task_of.resize(sample.answers());
  for (std::size_t t = 0; t < sample.tasks; ++t) {
    for (std::uint64_t a = sample.offsets[t]; a < sample.offsets[t + 1]; ++a) {
      const std::uint64_t place = next[sample.who[a]]++;
      sample.answer_of[place] = static_cast<std::uint32_t>(a);
      sample.task_of[place] = static_cast<std::uint32_t>(t);
    }
  }
}

/// What one thread counts of the worker at hand and every other.
struct Tally {
  std::vector<std::uint32_t> common, agreed, touched;
};

}  // namespace

double CrowdSample::pairs_of_answers() const noexcept {
  double pairs = 0;
  for (std::size_t t = 0; t < tasks; ++t) {
    const auto m = static_cast<double>(offsets[t + 1] - offsets[t]);
    pairs += m * (m - 1) / 2;
  }
  return pairs;
}

SampleLimits SampleLimits::in_time(const CategoryAnswers& answers, double share, std::size_t most_answers) {
  constexpr double kCheapBins = 4;
  SampleLimits limits;
  const double cost =
      std::max(1.0, static_cast<double>(std::min(answers.class_count(), limits.bins)) / kCheapBins) / share;
  limits.pairs /= cost;
  limits.answers = static_cast<std::size_t>(static_cast<double>(most_answers) / cost);
  return limits;
}

CrowdSample sample_of(const CategoryAnswers& answers, const SampleLimits& limits) {
  const auto offsets = answers.task_offsets();
  const auto who = answers.workers();
  const auto labels = answers.labels();
  double pairs = 0;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto m = static_cast<double>(std::min<std::size_t>(offsets[t + 1] - offsets[t], limits.per_task));
    pairs += m * (m - 1) / 2;
  }
  const double share = std::min(
      {1.0, limits.pairs / std::max(pairs, 1.0),
       static_cast<double>(limits.answers) / static_cast<double>(std::max<std::size_t>(answers.answer_count(), 1))});
  const auto below = static_cast<std::uint64_t>(share * 0x1p53);
  CrowdSample sample;
  sample.workers = answers.worker_count();
  const double room = static_cast<double>(limits.cells) / static_cast<double>(std::max<std::size_t>(sample.workers, 1));
  sample.bins = std::min(
      {answers.class_count(), limits.bins, std::max<std::size_t>(2, static_cast<std::size_t>(std::sqrt(room)))});
  const auto bin = bins_of_classes(answers, sample.bins);
  const bool binned = sample.bins < answers.class_count();
  if (share == 1) {
    sample.who.reserve(answers.answer_count());
    sample.bin.reserve(answers.answer_count());
    sample.task.reserve(answers.task_count());
    sample.offsets.reserve(answers.task_count() + 1);
  }
  sample.offsets.push_back(0);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> chosen;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    if (share < 1 && (scattered(t) >> 11U) >= below) continue;
    chosen.clear();
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      // The last answer of a worker who answered twice: repeats are no agreement of two.
      if (!limits.repeats && a + 1 < offsets[t + 1] && who[a + 1] == who[a]) continue;
      chosen.emplace_back(0, a);
    }
    if (chosen.size() > limits.per_task) {
      for (auto& [key, a] : chosen) key = scattered(index(who[a]));
      std::nth_element(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(limits.per_task), chosen.end());
      chosen.resize(limits.per_task);
      std::sort(chosen.begin(), chosen.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
    }
    for (const auto& [key, a] : chosen) {
      sample.who.push_back(static_cast<std::uint32_t>(index(who[a])));
      if (binned) sample.label.push_back(static_cast<std::uint16_t>(index(labels[a])));
      sample.bin.push_back(bin[index(labels[a])]);
    }
    sample.task.push_back(static_cast<std::uint32_t>(t));
    sample.offsets.push_back(sample.who.size());
  }
  sample.tasks = sample.offsets.size() - 1;
  order_by_worker(sample);
  return sample;
}

CrowdSample whole_crowd(const CategoryData& data) {
  constexpr std::size_t kAll = ~std::size_t{0};
  CrowdSample sample = sample_of(data.answers, {.pairs = std::numeric_limits<double>::infinity(),
                                                .answers = kAll,
                                                .per_task = kAll,
                                                .bins = kAll,
                                                .repeats = true,
                                                .cells = kAll});
  for (const ClassId truth : data.gold) {
    sample.known.push_back(truth == kNoClass ? CrowdSample::kUnknown : static_cast<std::uint16_t>(index(truth)));
  }
  for (const double p : data.task_priors) sample.log_prior.push_back(math::log(std::max(p, kProbabilityFloor)));
  return sample;
}

namespace {

/// Visits the pairs of workers with a task in common: visit(thread, first, second, common, agreed). Pairs of the same
/// `first` come together, by rising `second`, in the same thread.
template <class Visit>
void for_each_pair(const CrowdSample& sample, const RunContext& context, const Visit& visit) {
  const Blocks blocks{sample.workers, kWorkersPerBlock};
  std::vector<Tally> tallies(context.threads());
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned thread) {
    if (context.cancelled()) return;
    Tally& tally = tallies[thread];
    tally.common.resize(sample.workers, 0);
    tally.agreed.resize(sample.workers, 0);
    for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) {
      for (std::uint64_t i = sample.worker_offsets[j]; i < sample.worker_offsets[j + 1]; ++i) {
        const std::uint64_t own = sample.answer_of[i], end = sample.offsets[sample.task_of[i] + 1];
        for (std::uint64_t b = own + 1; b < end; ++b) {  // sorted by worker: the later ones
          const std::uint32_t other = sample.who[b];
          if (tally.common[other]++ == 0) tally.touched.push_back(other);
          tally.agreed[other] += sample.bin[b] == sample.bin[own] ? 1 : 0;
        }
      }
      std::sort(tally.touched.begin(), tally.touched.end());
      for (const std::uint32_t other : tally.touched) {
        visit(thread, j, other, tally.common[other], tally.agreed[other]);
        tally.common[other] = tally.agreed[other] = 0;
      }
      tally.touched.clear();
    }
  });
}

/// The number of common tasks from which on there are at most `most` pairs; 0 if no pair has `needed`.
std::uint32_t fewest_common(const CrowdSample& sample, const RunContext& context, std::size_t most,
                            std::size_t needed) {
  const auto workers = static_cast<double>(sample.workers);
  if (std::min(sample.pairs_of_answers(), workers * (workers - 1) / 2) <= static_cast<double>(most)) return 1;
  constexpr std::size_t kDistinct = 64;  // pairs by the number of common tasks, the last: that many and more
  std::vector<std::array<std::size_t, kDistinct>> counts(context.threads(), std::array<std::size_t, kDistinct>{});
  for_each_pair(sample, context, [&](unsigned thread, std::size_t, std::uint32_t, std::uint32_t common, std::uint32_t) {
    ++counts[thread][std::min<std::size_t>(common, kDistinct - 1)];
  });
  const auto with = [&](std::size_t common) {
    std::size_t sum = 0;
    for (const auto& count : counts) sum += count[common];
    return sum;
  };
  std::size_t enough = 0;
  for (std::size_t common = std::min(needed, kDistinct - 1); common < kDistinct; ++common) enough += with(common);
  if (enough == 0) return 0;
  std::size_t fewest = kDistinct - 1, kept = with(fewest);
  while (fewest > 1 && kept + with(fewest - 1) <= most) kept += with(--fewest);
  return static_cast<std::uint32_t>(fewest);
}

}  // namespace

WorkerPairs pairs_of(const CrowdSample& sample, const RunContext& context, std::size_t needed, std::size_t most) {
  const std::uint32_t fewest = fewest_common(sample, context, most, needed);
  WorkerPairs pairs;
  pairs.row.assign(sample.workers + 1, 0);
  if (fewest == 0) return pairs;
  // Counted twice, so that each pair has its place at once: there may be millions.
  for_each_pair(sample, context, [&](unsigned, std::size_t first, std::uint32_t, std::uint32_t common, std::uint32_t) {
    if (common >= fewest) ++pairs.row[first + 1];
  });
  std::partial_sum(pairs.row.begin(), pairs.row.end(), pairs.row.begin());
  std::vector<std::size_t> next(pairs.row);
  for (auto* column : {&pairs.other, &pairs.common, &pairs.agreed}) column->resize(pairs.row.back());
  for_each_pair(sample, context,
                [&](unsigned, std::size_t first, std::uint32_t other, std::uint32_t common, std::uint32_t agreed) {
                  if (common < fewest) return;
                  const std::size_t place = next[first]++;
                  pairs.other[place] = other;
                  pairs.common[place] = common;
                  pairs.agreed[place] = agreed;
                });
  return pairs;
}

}  // namespace wisecrowd::trust
