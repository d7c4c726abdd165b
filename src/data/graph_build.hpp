#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "data/build.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {

inline constexpr std::size_t kMostRepeatsLocated = 20;
inline constexpr std::size_t kAnswersPerBlock = std::size_t{1} << 17;

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

/// A stretch of a piece: the unit of work of the first step.
struct Stretch {
  std::size_t piece;
  std::size_t begin, end;
};

template <class Payload>
std::vector<Stretch> stretches_of(const std::vector<AnswerPiece<Payload>>& pieces) {
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

/// File positions of the first repeats of the pairs listed, for messages that name lines.
template <class Payload>
std::vector<RepeatedPair> locate_repeats(const std::vector<AnswerPiece<Payload>>& pieces,
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

/// Sorts answers into task order. `Packing` says how an answer travels: its types Payload (of a piece), Word (an answer
/// within its bucket: place of the task, worker, payload) and Entry (of the finished column), and the functions pack,
/// place_of, worker_of, entry_of, before (a total order by worker, then by what was said) and same (the same was said).
template <class Packing>
class GraphBuild {
 public:
  using Payload = typename Packing::Payload;
  using Word = typename Packing::Word;
  using Entry = typename Packing::Entry;
  using Pieces = std::vector<AnswerPiece<Payload>>;

  GraphBuild(const Packing& packing, Pieces pieces, std::size_t tasks, DuplicatePolicy policy, ThreadPool& pool)
      : packing_(packing), pieces_(std::move(pieces)), tasks_(tasks), policy_(policy), pool_(pool), buckets_(tasks) {
    for (const auto& piece : pieces_) total_ += piece.size();
    if (total_ >= 0xFFFFFFFFULL) {
      throw Error(
          ErrorCode::unsupported,
          fmt::format("{} answers are more than the 4,294,967,294 that one data set can hold: split it", total_));
    }
  }

  void run() {
    sort_into_buckets();
    graph->task_offsets.resize(tasks_ + 1);
    graph->workers.resize(total_);
    column.resize(total_);
    outcomes_.resize(buckets_.count);
    std::vector<HugeVector<Word>> scratch(pool_.size());
    pool_.for_each_block(buckets_.count, [&](std::size_t b, unsigned thread) {
      if (b << buckets_.shift < tasks_) finish_bucket(b, scratch[thread]);
    });
    graph->task_offsets[tasks_] = static_cast<AnswerIndex>(total_);
    HugeVector<Word>().swap(sorted_);
    for (const auto& outcome : outcomes_) {
      report.duplicates_dropped += outcome.dropped;
      report.duplicates_contradicting += outcome.contradicting;
      report.repeats += outcome.repeats;
    }
    graph->has_repeats = report.repeats > 0;
    if (report.duplicates_dropped > 0) close_gaps();
  }

  /// With DuplicatePolicy::reject: throws at a repeated pair, or lists the first ones in `repeated`.
  void refuse_repeats(std::vector<RepeatedPair>* repeated) const {
    if (policy_ != DuplicatePolicy::reject || !graph->has_repeats) return;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (const auto& outcome : outcomes_) {
      pairs.insert(pairs.end(), outcome.repeated_pairs.begin(), outcome.repeated_pairs.end());
    }
    if (repeated == nullptr) {
      const auto [task, worker] = pairs.front();
      throw Error(ErrorCode::bad_input,
                  fmt::format("worker '{}' answered task '{}' more than once; remove the repeat, or choose the "
                              "duplicate policy {} or {}",
                              graph->worker_names[worker], graph->task_names[task],
                              to_string(DuplicatePolicy::keep_last), to_string(DuplicatePolicy::repeat)));
    }
    *repeated = locate_repeats(pieces_, std::move(pairs));
  }

  // The result.
  std::shared_ptr<AnswerGraph::Storage> graph = std::make_shared<AnswerGraph::Storage>();
  HugeVector<Entry> column;
  BuildReport report;

 private:
  /// First step: buckets of neighbouring tasks, in file order within each.
  void sort_into_buckets() {
    const auto stretches = stretches_of(pieces_);
    std::vector<std::vector<std::uint64_t>> cursor(stretches.size());  // where each stretch writes in each bucket
    std::vector<std::atomic<std::size_t>> unread(pieces_.size());
    pool_.for_each_block(stretches.size(), [&](std::size_t s, unsigned) {
      const auto [p, begin, end] = stretches[s];
      auto& counts = cursor[s];
      counts.assign(buckets_.count, 0);
      for (std::size_t i = begin; i < end; ++i) ++counts[buckets_.of(pieces_[p].tasks[i])];
      unread[p].fetch_add(1);
    });
    bucket_begin_.assign(buckets_.count + 1, 0);
    std::uint64_t running = 0;
    for (std::size_t b = 0; b < buckets_.count; ++b) {
      bucket_begin_[b] = running;
      for (auto& counts : cursor) running += std::exchange(counts[b], running);
    }
    bucket_begin_[buckets_.count] = running;

    sorted_.resize(total_);
    const std::uint32_t place_mask = (std::uint32_t{1} << buckets_.shift) - 1;
    pool_.for_each_block(stretches.size(), [&](std::size_t s, unsigned) {
      const auto [p, begin, end] = stretches[s];
      auto& piece = pieces_[p];
      auto& at = cursor[s];
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t task = piece.tasks[i];
        sorted_[at[buckets_.of(task)]++] = packing_.pack(task & place_mask, piece.workers[i], piece.payload[i]);
      }
      // Positions in the file are looked up again only when repeats are rejected.
      if (unread[p].fetch_sub(1) == 1 && policy_ != DuplicatePolicy::reject) piece = {};
    });
  }

  /// Sorts one task's answers by worker. Where the last of a worker's answers counts, they keep the order of the file,
  /// else they are sorted by what was said: no result may depend on the order of rows.
  template <class Before>
  static void sort_answers(std::span<Word> answers, const Before& before) {
    constexpr std::size_t kFew = 24;
    if (answers.size() > kFew) {
      if (!std::is_sorted(answers.begin(), answers.end(), before)) {
        std::stable_sort(answers.begin(), answers.end(), before);
      }
      return;
    }
    for (std::size_t i = 1; i < answers.size(); ++i) {
      const Word answer = answers[i];
      std::size_t at = i;
      for (; at > 0 && before(answer, answers[at - 1]); --at) answers[at] = answers[at - 1];
      answers[at] = answer;
    }
  }

  /// Removes all but the last of each run of equal workers. Returns the number kept.
  std::size_t keep_last(std::span<Word> answers, BucketOutcome& outcome) const {
    std::size_t kept = 0;
    for (const Word answer : answers) {
      if (kept > 0 && packing_.worker_of(answers[kept - 1]) == packing_.worker_of(answer)) {
        ++outcome.dropped;
        outcome.contradicting += packing_.same(answers[kept - 1], answer) ? 0 : 1;
        --kept;
      }
      answers[kept++] = answer;
    }
    return kept;
  }

  void note_repeats(std::span<const Word> own, std::size_t task, BucketOutcome& outcome) const {
    for (std::size_t i = 1; i < own.size(); ++i) {
      const std::uint32_t worker = packing_.worker_of(own[i]);
      if (worker != packing_.worker_of(own[i - 1])) continue;
      ++outcome.repeats;
      const std::pair pair(static_cast<std::uint32_t>(task), worker);
      auto& pairs = outcome.repeated_pairs;
      if (policy_ == DuplicatePolicy::reject && (pairs.empty() || pairs.back() != pair)) pairs.push_back(pair);
    }
  }

  /// Second step: the answers of one bucket by task and worker, written to their place.
  void finish_bucket(std::size_t bucket, HugeVector<Word>& by_task) {
    const std::span answers(sorted_.data() + bucket_begin_[bucket], bucket_begin_[bucket + 1] - bucket_begin_[bucket]);
    const std::size_t first_task = bucket << buckets_.shift;
    const std::size_t last_task = std::min(tasks_, (bucket + 1) << buckets_.shift);
    BucketOutcome& outcome = outcomes_[bucket];
    if (by_task.size() < answers.size()) by_task.resize(answers.size());
    std::vector<std::uint32_t> at(last_task - first_task + 1, 0);
    for (const Word& answer : answers) ++at[packing_.place_of(answer) + 1];
    std::partial_sum(at.begin(), at.end(), at.begin());
    std::vector<std::uint32_t> next(at.begin(), at.end() - 1);
    for (const Word& answer : answers) by_task[next[packing_.place_of(answer)]++] = answer;

    std::size_t to = bucket_begin_[bucket];
    for (std::size_t t = first_task; t < last_task; ++t) {
      const std::size_t place = t - first_task;
      std::span<Word> own(by_task.data() + at[place], at[place + 1] - at[place]);
      if (policy_ == DuplicatePolicy::repeat) {
        sort_answers(own, [this](const Word& a, const Word& b) { return packing_.before(a, b); });
      } else {
        sort_answers(own,
                     [this](const Word& a, const Word& b) { return packing_.worker_of(a) < packing_.worker_of(b); });
      }
      if (policy_ == DuplicatePolicy::keep_last) own = own.first(keep_last(own, outcome));
      note_repeats(own, t, outcome);
      graph->task_offsets[t] = static_cast<AnswerIndex>(to);
      for (const Word& answer : own) {
        graph->workers[to] = WorkerId{packing_.worker_of(answer)};
        column[to] = packing_.entry_of(answer);
        ++to;
      }
    }
    outcome.kept = to - bucket_begin_[bucket];
  }

  /// Moves the buckets together where answers were dropped.
  void close_gaps() {
    std::uint64_t to = 0;
    for (std::size_t b = 0; b < buckets_.count; ++b) {
      const std::uint64_t from = bucket_begin_[b];
      const std::uint64_t kept = outcomes_[b].kept;
      if (to != from) {
        const auto begin = static_cast<std::ptrdiff_t>(from), target = static_cast<std::ptrdiff_t>(to);
        std::copy_n(graph->workers.begin() + begin, kept, graph->workers.begin() + target);
        std::copy_n(column.begin() + begin, kept, column.begin() + target);
        const std::size_t last_task = std::min(tasks_, (b + 1) << buckets_.shift);
        for (std::size_t t = b << buckets_.shift; t < last_task; ++t) {
          graph->task_offsets[t] -= static_cast<AnswerIndex>(from - to);
        }
      }
      to += kept;
    }
    graph->task_offsets[tasks_] = static_cast<AnswerIndex>(to);
    graph->workers.resize(to);
    column.resize(to);
  }

  const Packing& packing_;
  Pieces pieces_;
  std::size_t tasks_;
  DuplicatePolicy policy_;
  ThreadPool& pool_;
  Buckets buckets_;
  std::uint64_t total_ = 0;
  std::vector<std::uint64_t> bucket_begin_;
  HugeVector<Word> sorted_;
  std::vector<BucketOutcome> outcomes_;
};

}  // namespace wisecrowd
