#include "ingest/table.hpp"

#include <fmt/core.h>
#include <simdjson.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include "base/random_seed.hpp"
#include "ingest/delimited.hpp"
#include "ingest/first_row.hpp"
#include "ingest/json_array.hpp"
#include "ingest/json_lines.hpp"
#include "ingest/problems.hpp"
#include "ingest/recent_names.hpp"
#include "ingest/rows.hpp"
#include "ingest/set_rows.hpp"
#include "ingest/tag_rows.hpp"
#include "ingest/windows.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

constexpr std::uint16_t kNoLabel = 0xFFFF;
constexpr std::uint64_t kAnswersPerPiece = std::uint64_t{1} << 20;
/// Fewer entries than this are not worth waking the other threads.
constexpr std::uint32_t kFewEntries = 1024;
/// Text is searched so quickly that waking a thread for less takes longer.
constexpr std::size_t kQuoteSearchBytes = std::size_t{4} << 20;

/// Reads one table; one object per call of read_table.
class TableReader {
 public:
  TableReader(const Input& input, const TableRequest& request, const ReadOptions& options, const Tuning& tuning,
              const RunContext& context, DataReport& report)
      : request_(request),
        options_(options),
        tuning_(tuning),
        context_(context),
        report_(report),
        source_(without_array(open_input(input, context), display_name(input), options.format)),
        window_(*source_),
        hash_seed_(random_seed()),
        table_(options.classes, hash_seed_),
        window_bytes_(tuning.window_bytes * (tuning.window_per_thread ? context.pool().size() : 1)),
        recent_workers_(context.pool().size()) {
    table_.file = display_name(input);
  }

  Table read() {
    read_header();
    TableContext columns{table_.plan, table_.classes, table_.tasks, table_.workers, {}, request_.pair_words};
    if (table_.plan.layout == TableLayout::wide && table_.plan.format != TableFormat::jsonl)
      add_column_workers(columns);
    std::size_t wanted = window_bytes_;
    for (;;) {
      if (context_.cancelled()) throw Cancelled();
      window_.fill(wanted);
      const std::string_view bytes = window_.bytes();
      if (bytes.empty()) break;
      const bool quotes = delimited() && has_quote(bytes);
      const auto ends = cut_rows(bytes, window_.at_end(), tuning_.chunk_bytes, table_.plan.delimiter(), quotes);
      if (ends.empty()) {
        if (bytes.size() > tuning_.max_row_bytes) refuse_long_row(table_.file, line_, tuning_, quotes);
        wanted = bytes.size() * 2;
        continue;
      }
      wanted = window_bytes_;
      read_window(bytes, ends, quotes, columns);
      window_.consume(ends.back());
      context_.report({.stage = "reading",
                       .done = static_cast<double>(source_->position()),
                       .total = static_cast<double>(source_->size())});
    }
    if (report_.rows == 0) {
      throw Error(
          ErrorCode::bad_input,
          fmt::format("{}: there is no row after the header: name a file with rows, or export it again", table_.file));
    }
    table_.tasks.settle(context_.pool());
    table_.workers.settle(context_.pool());
    return std::move(table_);
  }

 private:
  [[nodiscard]] bool delimited() const noexcept { return table_.plan.format != TableFormat::jsonl; }
  [[nodiscard]] std::uint32_t keys_per_row() const noexcept { return request_.kind == TableKind::pairs ? 2 : 1; }
  [[nodiscard]] bool has_workers() const noexcept {
    return table_.plan.layout == TableLayout::wide || table_.plan.worker != kNoColumn;
  }

  [[nodiscard]] bool has_tags() const noexcept {
    return table_.plan.layout == TableLayout::wide || table_.plan.label != kNoColumn;
  }

  /// Lays out the columns and moves past the header.
  void read_header() {
    FirstRow first = read_first_row(window_, table_.file, options_.format, tuning_, line_);
    table_.plan = request_.plan(table_.file, first.format, std::move(first.names));
    table_.plan.separator = first.separator;
    if (table_.plan.format != TableFormat::jsonl && table_.plan.has_header)
      skip_first_row(window_, first, tuning_, line_);
  }

  /// Wide tables: the header names the workers, also those who answer nothing.
  void add_column_workers(TableContext& columns) {
    const auto& names = table_.plan.names;
    auto keys = std::make_unique<ShardedKeys>();
    std::uint32_t row = 0;
    for (std::size_t c = 0; c < names.size(); ++c) {
      columns.column_hashes.push_back(table_.workers.hash(names[c]));
      if (table_.plan.names_worker(c)) keys->add(names[c], columns.column_hashes.back(), row++);
    }
    std::vector<std::uint32_t> ids(row);
    const KeyTable::Chunk chunk{keys.get(), 0};
    intern(
        {}, {}, {&chunk, 1}, ids, 0, [](std::size_t) {}, context_.pool());
  }

  [[nodiscard]] bool has_quote(std::string_view bytes) const {
    const Blocks blocks{bytes.size(), kQuoteSearchBytes};
    std::atomic<bool> found{false};
    context_.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
      if (found.load(std::memory_order_relaxed)) return;
      if (std::memchr(bytes.data() + blocks.begin(b), '"', blocks.end(b) - blocks.begin(b)) != nullptr) found = true;
    });
    return found;
  }

  template <class Rows>
  void parse(Chunk& chunk, const TableContext& columns) {
    const bool suspicious = std::memchr(chunk.text.data(), 0, chunk.text.size()) != nullptr ||
                            !simdjson::validate_utf8(chunk.text.data(), chunk.text.size());
    Rows rows(columns, chunk, suspicious);
    const std::size_t fields = columns.plan.names.size();
    const char delimiter = columns.plan.delimiter();
    if (!delimited()) {
      parse_json_lines(columns, chunk, rows);
    } else if (chunk.quotes) {
      parse_delimited<true>(chunk.text, delimiter, fields, chunk.field_ends, chunk.text_store, chunk.lines, rows);
    } else {
      parse_delimited<false>(chunk.text, delimiter, fields, chunk.field_ends, chunk.text_store, chunk.lines, rows);
    }
  }

  void read_window(std::string_view bytes, const std::vector<std::size_t>& ends, bool quotes,
                   const TableContext& columns) {
    while (chunks_.size() < ends.size()) chunks_.push_back(std::make_unique<Chunk>(hash_seed_));
    ThreadPool& pool = bytes.size() < kFewEntries ? alone_ : context_.pool();
    pool.for_each_block(ends.size(), [&](std::size_t c, unsigned thread) {
      Chunk& chunk = *chunks_[c];
      const std::size_t begin = c == 0 ? 0 : ends[c - 1];
      remember_workers(chunk, recent_workers_[thread]);
      chunk.clear();
      chunk.recent_workers = &recent_workers_[thread];
      chunk.text = bytes.substr(begin, ends[c] - begin);
      chunk.quotes = quotes;
      if (request_.kind == TableKind::labels) {
        parse<LabelRows>(chunk, columns);
      } else if (request_.kind == TableKind::pairs) {
        parse<PairRows>(chunk, columns);
      } else if (request_.kind == TableKind::numbers) {
        if (columns.plan.layout == TableLayout::wide) {
          parse<WideRows<Cell::number>>(chunk, columns);
        } else {
          parse<NumberRows>(chunk, columns);
        }
      } else if (request_.kind == TableKind::sets) {
        if (columns.plan.layout == TableLayout::wide) {
          parse<WideSetRows>(chunk, columns);
        } else {
          parse<LongSetRows>(chunk, columns);
        }
      } else if (request_.kind == TableKind::tags) {
        if (columns.plan.layout == TableLayout::wide) {
          parse<WideTagRows>(chunk, columns);
        } else {
          parse<TagRows>(chunk, columns);
        }
      } else if (columns.plan.layout == TableLayout::wide) {
        parse<WideRows<Cell::label>>(chunk, columns);
      } else if (columns.plan.has_times) {
        parse<LongRows<true>>(chunk, columns);
      } else {
        parse<LongRows<false>>(chunk, columns);
      }
    });
    gather(std::span(chunks_).first(ends.size()));
  }

  /// The lists of the last window are still there, and by now their ids are final.
  static void remember_workers(Chunk& chunk, RecentNames& recent) {
    recent.review();
    if (chunk.last_worker_ids == nullptr) return;
    for (std::size_t s = 0; s < kShards; ++s) {
      for (const auto& entry : chunk.worker_keys[s]) recent.remember(entry, chunk.last_worker_ids[entry.row()]);
    }
    chunk.last_worker_ids = nullptr;
  }

  /// Puts together what the chunks of a window found, in file order.
  void gather(std::span<const std::unique_ptr<Chunk>> chunks) {
    std::vector<std::uint32_t> first_row;
    std::vector<KeyTable::Chunk> tasks, workers;
    std::uint32_t rows = 0;
    bool bare_tasks = false;
    for (const auto& chunk : chunks) {
      add_problems(chunk->problems, table_.file, line_, report_);
      report_.rows += chunk->rows;
      report_.rows_dropped += chunk->dropped;
      report_.no_answers += chunk->no_answers;
      if (request_.keep_lines) {
        for (const auto& run : chunk->line_runs) table_.lines.add(answers_ + run.row, line_ + run.line);
      }
      line_ += chunk->lines;
      table_.dates = table_.dates || chunk->dates;
      table_.lists = table_.lists || chunk->lists;
      chunk->classes.merge(table_.classes, table_.file);
      tasks.push_back({&chunk->task_keys, rows * keys_per_row()});
      workers.push_back({&chunk->worker_keys, rows});
      first_row.push_back(rows);
      rows += chunk->entries;
      answers_ += chunk->answers;
      bare_tasks = bare_tasks || chunk->answers != chunk->entries;
    }
    // A strict reader goes on only to list the other problems; repeats, which need lines, are found later.
    const bool hopeless = !options_.lenient && report_.problem_count > 0 && !request_.keep_lines;
    if (rows == 0 || hopeless) return;

    const bool has_workers = this->has_workers();
    CategoryPiece& piece = piece_with_room(rows);
    const std::size_t begin = piece.size();
    piece.tasks.resize(begin + rows);
    piece.payload.resize(begin + rows);
    if (has_workers) piece.workers.resize(begin + rows);
    const bool pairs = request_.kind == TableKind::pairs;
    if (pairs) both_items_.resize(std::size_t{2} * rows);
    const std::span task_ids = pairs ? std::span(both_items_) : std::span(piece.tasks.data() + begin, rows);
    const std::span worker_ids(piece.workers.data() + (has_workers ? begin : 0), has_workers ? rows : 0);
    // Beside the lookups, whose rows are others, so that the threads need not wait for each other once more.
    const auto copy_known = [&](std::size_t c) {
      const auto& codes = chunks[c]->classes.shared_codes();
      std::uint16_t* out = piece.payload.data() + begin + first_row[c];
      const bool classes = request_.kind == TableKind::answers || request_.kind == TableKind::labels ||
                           (request_.kind == TableKind::tags && has_tags());
      for (const std::uint32_t code : chunks[c]->labels) {
        *out++ = code == Chunk::kBareTask ? kNoLabel : classes ? codes[code] : static_cast<std::uint16_t>(code);
      }
      if (!has_workers) return;
      std::uint32_t* worker = worker_ids.data() + first_row[c];
      for (const std::uint32_t id : chunks[c]->worker_ids) {
        if (id != RecentNames::kAbsent) *worker = id;
        ++worker;
      }
    };
    if (!has_workers) workers.clear();
    intern(tasks, task_ids, workers, worker_ids, chunks.size(), copy_known,
           rows < kFewEntries ? alone_ : context_.pool());
    if (pairs) divide_items(piece, begin);
    for (const auto& chunk : chunks) {
      table_.numbers.insert(table_.numbers.end(), chunk->numbers.begin(), chunk->numbers.end());
      const auto& codes = chunk->classes.shared_codes();
      for (const std::uint32_t code : chunk->members) table_.members.push_back(codes[code]);
    }
    if (bare_tasks) {
      drop_bare_tasks(piece, begin);
      return;
    }
    for (std::size_t c = 0; c < chunks.size() && has_workers; ++c) {
      chunks[c]->last_worker_ids = worker_ids.data() + first_row[c];
    }
  }

  /// Left items are the tasks of the piece, right ones stand by themselves.
  void divide_items(CategoryPiece& piece, std::size_t begin) {
    const std::size_t rows = piece.size() - begin, known = table_.rights.size();
    table_.rights.resize(known + rows);
    for (std::size_t i = 0; i < rows; ++i) {
      piece.tasks[begin + i] = both_items_[2 * i];
      table_.rights[known + i] = both_items_[2 * i + 1];
    }
  }

  /// Ids for the names of a window; shards of both columns, and `beside` calls of other(i), are worked on side by side.
  template <class Other>
  void intern(std::span<const KeyTable::Chunk> tasks, std::span<std::uint32_t> task_ids,
              std::span<const KeyTable::Chunk> workers, std::span<std::uint32_t> worker_ids, std::size_t beside,
              const Other& other, ThreadPool& pool) {
    for (;; beside = 0) {
      pool.for_each_block(2 * kShards + beside, [&](std::size_t b, unsigned) {
        if (b < kShards) {
          table_.tasks.intern_shard(b, tasks, task_ids);
        } else if (b < 2 * kShards) {
          table_.workers.intern_shard(b - kShards, workers, worker_ids);
        } else {
          other(b - 2 * kShards);
        }
      });
      const bool more_tasks = table_.tasks.needs_room();
      const bool more_workers = table_.workers.needs_room();
      if (more_tasks) table_.tasks.grow(pool);
      if (more_workers) table_.workers.grow(pool);
      if (!more_tasks && !more_workers) break;
    }
    table_.tasks.number_new(task_ids, pool);
    table_.workers.number_new(worker_ids, pool);
  }

  /// Windows are small, so that they stay in the cache; several share a piece, so that it gets large pages.
  CategoryPiece& piece_with_room(std::uint32_t rows) {
    auto& pieces = table_.pieces;
    if (pieces.empty() || pieces.back().tasks.capacity() - pieces.back().size() < rows) {
      const std::size_t capacity = std::max<std::size_t>(rows, std::min<std::uint64_t>(answers_, kAnswersPerPiece));
      pieces.emplace_back();
      pieces.back().tasks.reserve(capacity);
      pieces.back().payload.reserve(capacity);
      if (has_workers()) pieces.back().workers.reserve(capacity);
    }
    return pieces.back();
  }

  /// They have made their task known; there is no answer in them.
  static void drop_bare_tasks(CategoryPiece& piece, std::size_t begin) {
    std::size_t kept = begin;
    for (std::size_t i = begin; i < piece.size(); ++i) {
      if (piece.payload[i] == kNoLabel) continue;
      piece.tasks[kept] = piece.tasks[i];
      piece.workers[kept] = piece.workers[i];
      piece.payload[kept] = piece.payload[i];
      ++kept;
    }
    piece.tasks.resize(kept);
    piece.workers.resize(kept);
    piece.payload.resize(kept);
  }

  const TableRequest& request_;
  const ReadOptions& options_;
  const Tuning& tuning_;
  const RunContext& context_;
  DataReport& report_;
  std::unique_ptr<ByteSource> source_;
  WindowReader window_;
  std::uint64_t hash_seed_;
  ThreadPool alone_{1};
  Table table_;
  std::uint64_t line_ = 1;     // of the first byte of the window
  std::uint64_t answers_ = 0;  // so far
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::size_t window_bytes_;
  std::vector<RecentNames> recent_workers_;  // by thread
  HugeVector<std::uint32_t> both_items_;     // of a window of pairs: left and right in turn
};

}  // namespace

Table::Table(const std::vector<std::string>& given_classes, std::uint64_t hash_seed)
    : tasks(hash_seed), workers(hash_seed), classes(given_classes) {}

void LineMap::add(std::uint64_t row, std::uint64_t line) {
  if (!runs_.empty() && line - runs_.back().line == row - runs_.back().row) return;
  runs_.push_back({row, line});
}

std::uint64_t LineMap::line_of(std::uint64_t row) const {
  auto after = std::upper_bound(runs_.begin(), runs_.end(), row,
                                [](std::uint64_t wanted, const LineRun& run) { return wanted < run.row; });
  const LineRun& run = *--after;
  return run.line + (row - run.row);
}

std::vector<AnswerPiece<std::uint32_t>> row_pieces(Table& table) {
  std::vector<AnswerPiece<std::uint32_t>> pieces;
  std::uint64_t answer = 0;
  for (CategoryPiece& piece : table.pieces) {
    auto& out = pieces.emplace_back();
    out.tasks = std::move(piece.tasks);
    out.workers = std::move(piece.workers);
    out.payload.resize(out.tasks.size());
    for (std::uint32_t& row : out.payload) row = static_cast<std::uint32_t>(table.row_of_answer(answer++));
  }
  table.pieces.clear();
  return pieces;
}

Table read_table(const Input& input, const TableRequest& request, const ReadOptions& options, const Tuning& tuning,
                 const RunContext& context, DataReport& report) {
  return TableReader(input, request, options, tuning, context, report).read();
}

}  // namespace wisecrowd::ingest
