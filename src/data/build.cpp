#include "data/build.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>
#include <utility>

#include "data/name_order.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kMostRepeatsLocated = 20;
constexpr std::size_t kAnswersPerBlock = std::size_t{1} << 17;

/// Tasks are sorted in two steps: first into buckets of neighbouring tasks (few enough that each write stream keeps its
/// cache line), then within a bucket, which fits in the cache.
struct Buckets {
  unsigned shift;
  std::size_t count;

  explicit Buckets(std::size_t tasks) {
    constexpr std::size_t kMostBuckets = 1024;
    constexpr unsigned kPlaceBits = 16;
    shift = 10;
    while (shift < kPlaceBits && (tasks >> shift) >= kMostBuckets) ++shift;
    count = (tasks >> shift) + 1;
  }
  [[nodiscard]] std::size_t of(std::uint32_t task) const noexcept { return task >> shift; }
};

/// An answer within its bucket, in one word: place of the task, worker, label.
constexpr std::uint64_t pack(std::uint32_t place, std::uint32_t worker, std::uint16_t label) noexcept {
  return (std::uint64_t{place} << 48) | (std::uint64_t{worker} << 16) | label;
}
constexpr std::size_t place_of(std::uint64_t answer) noexcept { return answer >> 48; }
constexpr std::uint32_t worker_of(std::uint64_t answer) noexcept { return static_cast<std::uint32_t>(answer >> 16); }
constexpr std::uint16_t label_of(std::uint64_t answer) noexcept { return static_cast<std::uint16_t>(answer); }

/// A stretch of a piece: the unit of work of the first step.
struct Stretch {
  std::size_t piece;
  std::size_t begin, end;
};

std::vector<Stretch> stretches_of(const std::vector<AnswerPiece>& pieces) {
  std::vector<Stretch> stretches;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const Blocks blocks{pieces[p].size(), kAnswersPerBlock};
    for (std::size_t b = 0; b < blocks.count(); ++b) stretches.push_back({p, blocks.begin(b), blocks.end(b)});
  }
  return stretches;
}

struct BucketOutcome {
  std::uint64_t kept = 0;
  std::uint64_t dropped = 0;
  std::uint64_t contradicting = 0;
  std::uint64_t repeats = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> repeated_pairs;  // (task, worker), only to reject them
};

/// Sorts one task's answers by worker. Where the last of a worker's answers counts, they keep the order of the file,
/// else they are sorted by label: no result may depend on the order of rows.
template <class Before>
void sort_answers(std::span<std::uint64_t> answers, const Before& before) {
  constexpr std::size_t kFew = 24;
  if (answers.size() > kFew) {
    if (!std::is_sorted(answers.begin(), answers.end(), before)) {
      std::stable_sort(answers.begin(), answers.end(), before);
    }
    return;
  }
  for (std::size_t i = 1; i < answers.size(); ++i) {
    const std::uint64_t answer = answers[i];
    std::size_t at = i;
    for (; at > 0 && before(answer, answers[at - 1]); --at) answers[at] = answers[at - 1];
    answers[at] = answer;
  }
}

/// Removes all but the last of each run of equal workers. Returns the number kept.
std::size_t keep_last(std::span<std::uint64_t> answers, BucketOutcome& outcome) {
  std::size_t kept = 0;
  for (const std::uint64_t answer : answers) {
    if (kept > 0 && worker_of(answers[kept - 1]) == worker_of(answer)) {
      ++outcome.dropped;
      outcome.contradicting += label_of(answers[kept - 1]) != label_of(answer) ? 1 : 0;
      --kept;
    }
    answers[kept++] = answer;
  }
  return kept;
}

/// File positions of the first repeats of the pairs listed, for messages that name lines.
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
      if (found.size() == kMostRepeatsLocated) return found;
      previous = position;
    }
  }
  return found;
}

/// Sorts the answers of one bucket by task and worker and writes them to their place in `storage`.
void finish_bucket(std::span<const std::uint64_t> answers, std::size_t first_task, std::size_t last_task,
                   std::size_t to, DuplicatePolicy policy, HugeVector<std::uint64_t>& by_task,
                   CategoryAnswers::Storage& storage, BucketOutcome& outcome) {
  if (by_task.size() < answers.size()) by_task.resize(answers.size());
  std::vector<std::uint32_t> at(last_task - first_task + 1, 0);
  for (const std::uint64_t answer : answers) ++at[place_of(answer) + 1];
  std::partial_sum(at.begin(), at.end(), at.begin());
  std::vector<std::uint32_t> next(at.begin(), at.end() - 1);
  for (const std::uint64_t answer : answers) by_task[next[place_of(answer)]++] = answer;

  const std::size_t begin = to;
  for (std::size_t t = first_task; t < last_task; ++t) {
    const std::size_t place = t - first_task;
    std::span<std::uint64_t> own(by_task.data() + at[place], at[place + 1] - at[place]);
    if (policy == DuplicatePolicy::repeat) {
      sort_answers(own, [](std::uint64_t a, std::uint64_t b) { return a < b; });
    } else {
      sort_answers(own, [](std::uint64_t a, std::uint64_t b) { return worker_of(a) < worker_of(b); });
    }
    if (policy == DuplicatePolicy::keep_last) own = own.first(keep_last(own, outcome));
    for (std::size_t i = 1; i < own.size(); ++i) {
      const std::uint32_t worker = worker_of(own[i]);
      if (worker != worker_of(own[i - 1])) continue;
      ++outcome.repeats;
      const std::pair pair(static_cast<std::uint32_t>(t), worker);
      auto& pairs = outcome.repeated_pairs;
      if (policy == DuplicatePolicy::reject && (pairs.empty() || pairs.back() != pair)) pairs.push_back(pair);
    }
    storage.task_offsets[t] = static_cast<AnswerIndex>(to);
    for (const std::uint64_t answer : own) {
      storage.workers[to] = WorkerId{worker_of(answer)};
      storage.labels[to] = ClassId{label_of(answer)};
      ++to;
    }
  }
  outcome.kept = to - begin;
}

/// Moves the buckets together where answers were dropped.
void close_gaps(const Buckets& buckets, const std::vector<BucketOutcome>& outcomes,
                const std::vector<std::uint64_t>& bucket_begin, CategoryAnswers::Storage& storage) {
  std::uint64_t to = 0;
  const std::size_t tasks = storage.task_offsets.size() - 1;
  for (std::size_t b = 0; b < buckets.count; ++b) {
    const std::uint64_t from = bucket_begin[b];
    const std::uint64_t kept = outcomes[b].kept;
    if (to != from) {
      std::copy_n(storage.workers.begin() + static_cast<std::ptrdiff_t>(from), kept,
                  storage.workers.begin() + static_cast<std::ptrdiff_t>(to));
      std::copy_n(storage.labels.begin() + static_cast<std::ptrdiff_t>(from), kept,
                  storage.labels.begin() + static_cast<std::ptrdiff_t>(to));
      const std::size_t last_task = std::min(tasks, (b + 1) << buckets.shift);
      for (std::size_t t = b << buckets.shift; t < last_task; ++t) {
        storage.task_offsets[t] -= static_cast<AnswerIndex>(from - to);
      }
    }
    to += kept;
  }
  storage.task_offsets[tasks] = static_cast<AnswerIndex>(to);
  storage.workers.resize(to);
  storage.labels.resize(to);
}

}  // namespace

NewIds put_in_order(CategoryAnswerNames& names, std::vector<AnswerPiece>& pieces, ThreadPool& pool) {
  NewIds ids{ranks_in_order(names.tasks, pool), ranks_in_order(names.workers, pool)};
  if (ids.tasks.empty() && ids.workers.empty()) return ids;
  names.tasks = reordered(std::move(names.tasks), ids.tasks, pool);
  names.workers = reordered(std::move(names.workers), ids.workers, pool);
  const auto stretches = stretches_of(pieces);
  pool.for_each_block(stretches.size(), [&](std::size_t s, unsigned) {
    const auto [p, begin, end] = stretches[s];
    AnswerPiece& piece = pieces[p];
    for (std::size_t i = begin; i < end && !ids.tasks.empty(); ++i) piece.tasks[i] = ids.tasks[piece.tasks[i]];
    for (std::size_t i = begin; i < end && !ids.workers.empty(); ++i) {
      piece.workers[i] = ids.workers[piece.workers[i]];
    }
  });
  return ids;
}

CategoryAnswers build_annotations(std::vector<AnswerPiece> pieces, CategoryAnswerNames names, DuplicatePolicy policy,
                                  ThreadPool& pool, BuildReport* report, std::vector<RepeatedPair>* repeated) {
  const std::size_t tasks = names.tasks.size();
  const std::uint64_t total = std::accumulate(pieces.begin(), pieces.end(), std::uint64_t{0},
                                              [](std::uint64_t sum, const auto& p) { return sum + p.size(); });
  if (total >= 0xFFFFFFFFULL) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} answers are more than the 4,294,967,294 that one data set can hold: split it", total));
  }
  const Buckets buckets(tasks);

  // Where each stretch writes in each bucket.
  const auto stretches = stretches_of(pieces);
  std::vector<std::vector<std::uint64_t>> cursor(stretches.size());
  std::vector<std::atomic<std::size_t>> unread(pieces.size());
  pool.for_each_block(stretches.size(), [&](std::size_t s, unsigned) {
    const auto [p, begin, end] = stretches[s];
    auto& counts = cursor[s];
    counts.assign(buckets.count, 0);
    for (std::size_t i = begin; i < end; ++i) ++counts[buckets.of(pieces[p].tasks[i])];
    unread[p].fetch_add(1);
  });
  std::vector<std::uint64_t> bucket_begin(buckets.count + 1, 0);
  std::uint64_t running = 0;
  for (std::size_t b = 0; b < buckets.count; ++b) {
    bucket_begin[b] = running;
    for (auto& counts : cursor) running += std::exchange(counts[b], running);
  }
  bucket_begin[buckets.count] = running;

  HugeVector<std::uint64_t> sorted(total);
  const std::uint32_t place_mask = (std::uint32_t{1} << buckets.shift) - 1;
  pool.for_each_block(stretches.size(), [&](std::size_t s, unsigned) {
    const auto [p, begin, end] = stretches[s];
    AnswerPiece& piece = pieces[p];
    auto& at = cursor[s];
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t task = piece.tasks[i];
      sorted[at[buckets.of(task)]++] = pack(task & place_mask, piece.workers[i], piece.labels[i]);
    }
    // Positions in the file are looked up again only when repeats are rejected.
    if (unread[p].fetch_sub(1) == 1 && policy != DuplicatePolicy::reject) piece = AnswerPiece{};
  });

  auto storage = std::make_shared<CategoryAnswers::Storage>();
  storage->task_offsets.resize(tasks + 1);
  storage->workers.resize(total);
  storage->labels.resize(total);
  std::vector<BucketOutcome> outcomes(buckets.count);
  std::vector<HugeVector<std::uint64_t>> scratch(pool.size());
  pool.for_each_block(buckets.count, [&](std::size_t b, unsigned thread) {
    const std::span answers(sorted.data() + bucket_begin[b], bucket_begin[b + 1] - bucket_begin[b]);
    const std::size_t first_task = b << buckets.shift;
    if (first_task >= tasks) return;
    finish_bucket(answers, first_task, std::min(tasks, (b + 1) << buckets.shift), bucket_begin[b], policy,
                  scratch[thread], *storage, outcomes[b]);
  });
  storage->task_offsets[tasks] = static_cast<AnswerIndex>(total);
  HugeVector<std::uint64_t>().swap(sorted);

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
  if (sums.duplicates_dropped > 0) close_gaps(buckets, outcomes, bucket_begin, *storage);
  storage->names = std::move(names);
  if (report != nullptr) *report = sums;
  return CategoryAnswers(std::move(storage));
}

}  // namespace wisecrowd
