#include "data/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

/// Per bucket: enough that the first few in file order are among them.
constexpr std::size_t kMostRepeatsListed = 1024;

/// Tasks are sorted in two steps: first into buckets of neighbouring tasks (few enough that each write stream has
/// its own cache lines), then within a bucket, whose tables fit in the cache.
struct Buckets {
  unsigned shift;
  std::size_t count;

  explicit Buckets(std::size_t tasks) {
    constexpr std::size_t kMostBuckets = 512;
    shift = 12;
    while ((tasks >> shift) >= kMostBuckets) ++shift;
    count = (tasks >> shift) + 1;
  }
  [[nodiscard]] std::size_t of(std::uint32_t task) const noexcept { return task >> shift; }
};

/// One answer on its way: its position in file order decides which of two repeats is the later one.
struct Columns {
  HugeVector<std::uint32_t> tasks;
  HugeVector<std::uint32_t> workers;
  HugeVector<std::uint16_t> labels;
};

struct BucketOutcome {
  std::uint64_t dropped = 0;
  std::uint64_t contradicting = 0;
  std::uint64_t repeats = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> repeated_pairs;  // (task, worker), up to the limit
};

/// Sorts one task's answers by worker, keeping file order among equals.
void sort_by_worker(std::span<WorkerId> workers, std::span<ClassId> labels,
                    std::vector<std::pair<WorkerId, ClassId>>& scratch) {
  if (std::is_sorted(workers.begin(), workers.end())) return;
  if (workers.size() <= 24) {
    for (std::size_t i = 1; i < workers.size(); ++i) {
      const WorkerId worker = workers[i];
      const ClassId label = labels[i];
      std::size_t at = i;
      for (; at > 0 && workers[at - 1] > worker; --at) {
        workers[at] = workers[at - 1];
        labels[at] = labels[at - 1];
      }
      workers[at] = worker;
      labels[at] = label;
    }
    return;
  }
  scratch.clear();
  for (std::size_t i = 0; i < workers.size(); ++i) scratch.emplace_back(workers[i], labels[i]);
  std::stable_sort(scratch.begin(), scratch.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < workers.size(); ++i) std::tie(workers[i], labels[i]) = scratch[i];
}

/// File positions of the pairs listed in `outcomes`, for messages that name lines.
std::vector<RepeatedPair> locate_repeats(const std::vector<AnswerPiece>& pieces,
                                         std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs) {
  std::sort(pairs.begin(), pairs.end());
  constexpr auto kNone = ~std::uint64_t{0};
  std::vector<std::uint64_t> earlier(pairs.size(), kNone);
  std::vector<RepeatedPair> found;
  std::uint64_t position = 0;
  for (const auto& piece : pieces) {
    for (std::size_t i = 0; i < piece.size(); ++i, ++position) {
      const std::pair key(piece.tasks[i], piece.workers[i]);
      const auto at = std::lower_bound(pairs.begin(), pairs.end(), key);
      if (at == pairs.end() || *at != key) continue;
      auto& previous = earlier[static_cast<std::size_t>(at - pairs.begin())];
      if (previous != kNone) found.push_back({previous, position, key.first, key.second});
      previous = position;
    }
  }
  return found;
}

/// Removes all but the last of each run of equal workers. Returns the number kept.
std::size_t keep_last(std::span<WorkerId> workers, std::span<ClassId> labels, BucketOutcome& outcome) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (kept > 0 && workers[kept - 1] == workers[i]) {
      ++outcome.dropped;
      outcome.contradicting += labels[kept - 1] != labels[i] ? 1 : 0;
      labels[kept - 1] = labels[i];
      continue;
    }
    workers[kept] = workers[i];
    labels[kept] = labels[i];
    ++kept;
  }
  return kept;
}

}  // namespace

Annotations build_annotations(std::vector<AnswerPiece> pieces, AnnotationNames names, DuplicatePolicy policy,
                              ThreadPool& pool, BuildReport* report, std::vector<RepeatedPair>* repeated) {
  const std::size_t tasks = names.tasks.size();
  const std::uint64_t total = std::accumulate(pieces.begin(), pieces.end(), std::uint64_t{0},
                                              [](std::uint64_t sum, const auto& p) { return sum + p.size(); });
  if (total >= 0xFFFFFFFFULL) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} answers are more than the 4,294,967,294 that one data set can hold: split it", total));
  }
  const Buckets buckets(tasks);

  // Where each piece writes in each bucket.
  std::vector<std::vector<std::uint64_t>> cursor(pieces.size());
  pool.for_each_block(pieces.size(), [&](std::size_t p, unsigned) {
    auto& counts = cursor[p];
    counts.assign(buckets.count, 0);
    for (const std::uint32_t task : pieces[p].tasks) ++counts[buckets.of(task)];
  });
  std::vector<std::uint64_t> bucket_begin(buckets.count + 1, 0);
  std::uint64_t running = 0;
  for (std::size_t b = 0; b < buckets.count; ++b) {
    bucket_begin[b] = running;
    for (auto& counts : cursor) running += std::exchange(counts[b], running);
  }
  bucket_begin[buckets.count] = running;

  const bool may_need_positions = policy == DuplicatePolicy::reject;
  Columns sorted;
  sorted.tasks.resize(total);
  sorted.workers.resize(total);
  sorted.labels.resize(total);
  pool.for_each_block(pieces.size(), [&](std::size_t p, unsigned) {
    AnswerPiece& piece = pieces[p];
    auto& at = cursor[p];
    for (std::size_t i = 0; i < piece.size(); ++i) {
      const std::uint64_t to = at[buckets.of(piece.tasks[i])]++;
      sorted.tasks[to] = piece.tasks[i];
      sorted.workers[to] = piece.workers[i];
      sorted.labels[to] = piece.labels[i];
    }
    if (!may_need_positions) piece = AnswerPiece{};
  });

  auto storage = std::make_shared<Annotations::Storage>();
  storage->task_offsets.resize(tasks + 1);
  storage->workers.resize(total);
  storage->labels.resize(total);
  std::vector<BucketOutcome> outcomes(buckets.count);
  HugeVector<std::uint32_t> kept_count(policy == DuplicatePolicy::keep_last ? tasks : 0);

  pool.for_each_block(buckets.count, [&](std::size_t b, unsigned) {
    const std::size_t first_task = b << buckets.shift;
    const std::size_t last_task = std::min(tasks, (b + 1) << buckets.shift);
    if (first_task >= last_task) return;
    std::vector<std::uint32_t> at(last_task - first_task + 1, 0);
    for (std::uint64_t i = bucket_begin[b]; i < bucket_begin[b + 1]; ++i) ++at[sorted.tasks[i] - first_task + 1];
    at[0] = static_cast<std::uint32_t>(bucket_begin[b]);
    for (std::size_t t = 1; t < at.size(); ++t) at[t] += at[t - 1];
    for (std::size_t t = first_task; t < last_task; ++t) storage->task_offsets[t] = at[t - first_task];
    for (std::uint64_t i = bucket_begin[b]; i < bucket_begin[b + 1]; ++i) {
      const std::uint32_t to = at[sorted.tasks[i] - first_task]++;
      storage->workers[to] = WorkerId{sorted.workers[i]};
      storage->labels[to] = ClassId{sorted.labels[i]};
    }
    std::vector<std::pair<WorkerId, ClassId>> scratch;
    BucketOutcome& outcome = outcomes[b];
    for (std::size_t t = first_task; t < last_task; ++t) {
      const std::size_t begin = storage->task_offsets[t];
      const std::size_t length = at[t - first_task] - begin;
      const std::span workers(storage->workers.data() + begin, length);
      const std::span labels(storage->labels.data() + begin, length);
      sort_by_worker(workers, labels, scratch);
      if (policy == DuplicatePolicy::keep_last) {
        kept_count[t] = static_cast<std::uint32_t>(keep_last(workers, labels, outcome));
        continue;
      }
      for (std::size_t i = 1; i < length; ++i) {
        if (workers[i] != workers[i - 1]) continue;
        ++outcome.repeats;
        if (outcome.repeated_pairs.size() < kMostRepeatsListed) {
          outcome.repeated_pairs.emplace_back(static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(workers[i]));
        }
      }
    }
  });
  storage->task_offsets[tasks] = static_cast<AnswerIndex>(total);
  sorted = Columns{};

  BuildReport sums;
  for (const auto& outcome : outcomes) {
    sums.duplicates_dropped += outcome.dropped;
    sums.duplicates_contradicting += outcome.contradicting;
    sums.repeats += outcome.repeats;
  }
  storage->has_repeats = sums.repeats > 0;
  if (policy == DuplicatePolicy::reject && storage->has_repeats) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (const auto& outcome : outcomes) {
      pairs.insert(pairs.end(), outcome.repeated_pairs.begin(), outcome.repeated_pairs.end());
    }
    if (repeated == nullptr) {
      const auto [task, worker] = pairs.front();
      throw Error(ErrorCode::bad_input,
                  fmt::format("worker '{}' answered task '{}' more than once; remove the repeat, or choose the "
                              "duplicate policy keep_last or repeat",
                              names.workers[worker], names.tasks[task]));
    }
    *repeated = locate_repeats(pieces, std::move(pairs));
  }
  if (sums.duplicates_dropped > 0) {
    // Rare: close the gaps.
    AnswerIndex to = 0;
    for (std::size_t t = 0; t < tasks; ++t) {
      const AnswerIndex from = std::exchange(storage->task_offsets[t], to);
      for (std::uint32_t i = 0; i < kept_count[t]; ++i, ++to) {
        storage->workers[to] = storage->workers[from + i];
        storage->labels[to] = storage->labels[from + i];
      }
    }
    storage->task_offsets[tasks] = to;
    storage->workers.resize(to);
    storage->labels.resize(to);
  }
  storage->names = std::move(names);
  if (report != nullptr) *report = sums;
  return Annotations(std::move(storage));
}

}  // namespace wisecrowd
