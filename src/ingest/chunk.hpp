#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ingest/arena.hpp"
#include "ingest/class_column.hpp"
#include "ingest/columns.hpp"
#include "ingest/key_table.hpp"
#include "ingest/problems.hpp"
#include "ingest/recent_names.hpp"

namespace wisecrowd::ingest {

/// The text of one field, or why it cannot be had.
struct Field {
  enum class State { ok, text_after_quote, absent, null, nested, nul };
  std::string_view text;
  State state = State::ok;
};

/// Answers whose lines follow one another from `line` on, starting with `row`.
struct LineRun {
  std::uint64_t row;
  std::uint64_t line;
};

/// What the labels of pairs mean.
struct PairWords {
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFF;
  /// A code for the answer, or kUnknown.
  std::uint32_t (*code)(std::string_view left, std::string_view right, std::string_view label) = nullptr;
  std::string_view expected;        ///< for messages: "the winner's name, left, right or tie"
  std::uint32_t without_label = 0;  ///< the code where the table has no label column
};

/// What all chunks of a table need to know; the same for the whole file.
struct TableContext {
  const ColumnPlan& plan;
  const ClassColumn& classes;
  const KeyTable& tasks;
  const KeyTable& workers;
  std::vector<std::uint64_t> column_hashes;  ///< wide tables: hash of each column's name as a worker
  PairWords pair_words = {};
};

/// One stretch of whole rows and what was found in it. The objects stay and are used again for the next window.
/// Aligned, so that two threads never write to the same cache line.
struct alignas(128) Chunk {
  explicit Chunk(std::uint64_t hash_seed) : classes(hash_seed) {}

  // Set before parsing.
  std::string_view text;
  bool quotes = false;  ///< there may be a quote in it
  RecentNames* recent_workers = nullptr;

  /// Where the ids of the last window's entries are, until the next clear().
  const std::uint32_t* last_worker_ids = nullptr;

  // Found.
  std::uint64_t lines = 0;       ///< line ends in the text
  std::uint64_t rows = 0;        ///< data rows seen
  std::uint64_t dropped = 0;     ///< of these, rows with a problem
  std::uint64_t no_answers = 0;  ///< labels that are none
  std::uint32_t entries = 0;     ///< of `labels`: answers, and tasks that got none
  std::uint32_t answers = 0;
  ShardedKeys task_keys;
  ShardedKeys worker_keys;                ///< of those who were not met lately
  std::vector<std::uint32_t> worker_ids;  ///< per entry, kAbsent for those in worker_keys
  std::vector<std::uint32_t> labels;      ///< codes of `classes`; kBareTask for none
  std::vector<double> numbers;            ///< the number columns, row by row
  std::vector<std::uint32_t> members;     ///< codes of the classes of sets, whose sizes are `labels` then
  bool lists = false;                     ///< some set has more than one class
  bool dates = false;                     ///< a time was a date
  std::vector<LineRun> line_runs;         ///< of the answers, counted from the start of the chunk
  ProblemList problems;

  ChunkClasses classes;
  Arena text_store;
  std::vector<const char*> field_ends;

  static constexpr std::uint32_t kBareTask = 0xFFFFFFFF;

  void clear() {
    lines = rows = dropped = no_answers = 0;
    entries = answers = 0;
    task_keys.clear();
    worker_keys.clear();
    worker_ids.clear();
    recent_workers = nullptr;
    labels.clear();
    numbers.clear();
    members.clear();
    lists = false;
    dates = false;
    line_runs.clear();
    problems.clear();
    text_store.reset();
    next_line_ = ~std::uint64_t{0};
  }

  void add_worker(std::string_view name, std::uint64_t hash, std::uint32_t entry) {
    const std::uint32_t known = recent_workers->find(KeyEntry(name, hash, entry));
    worker_ids.push_back(known);
    if (known == RecentNames::kAbsent) worker_keys.add(name, hash, entry);
  }
  /// Adds an entry that stands in `line`; keys are dealt by the caller, with the row that is returned.
  std::uint32_t add_answer(std::uint32_t label, std::uint64_t line) {
    if (line != next_line_) line_runs.push_back({answers, line});
    next_line_ = line + 1;
    ++answers;
    labels.push_back(label);
    return entries++;
  }
  std::uint32_t add_bare_task() {
    worker_ids.push_back(0);
    labels.push_back(kBareTask);
    return entries++;
  }

 private:
  std::uint64_t next_line_ = ~std::uint64_t{0};
};

}  // namespace wisecrowd::ingest
