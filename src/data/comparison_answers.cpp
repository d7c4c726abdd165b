#include "wisecrowd/comparison_answers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "data/comparison_column.hpp"
#include "data/content_hash.hpp"
#include "data/graph_build.hpp"
#include "data/interner.hpp"
#include "data/name_order.hpp"
#include "wisecrowd/comparison_data.hpp"

namespace wisecrowd {
namespace {

/// An answer within its bucket, in one word: place of the pair, worker, code.
struct ComparisonPacking {
  using Payload = std::uint8_t;
  using Word = std::uint64_t;
  using Entry = std::uint8_t;

  static constexpr Word pack(std::uint32_t place, std::uint32_t worker, Payload code) noexcept {
    return (std::uint64_t{place} << 48) | (std::uint64_t{worker} << 16) | code;
  }
  static constexpr std::size_t place_of(Word answer) noexcept { return answer >> 48; }
  static constexpr std::uint32_t worker_of(Word answer) noexcept { return static_cast<std::uint32_t>(answer >> 16); }
  static constexpr Entry entry_of(Word answer) noexcept { return static_cast<Entry>(answer); }
  static constexpr bool before(Word a, Word b) noexcept { return a < b; }
  static constexpr bool same(Word a, Word b) noexcept {
    return ComparisonAnswers::outcome_of(entry_of(a)) == ComparisonAnswers::outcome_of(entry_of(b));
  }
};

NameTable unnamed(std::size_t count) { return NameTable("", std::vector<std::uint64_t>(count + 1, 0)); }

/// The pairs that occur, in the order of their items.
class PairIndex {
 public:
  /// Replaces `tasks` of the pieces by the pair of each answer, and the payload by its code.
  PairIndex(std::vector<ComparisonPiece>& pieces, std::size_t items, ThreadPool& pool) : begin_(items + 1, 0) {
    std::size_t total = 0;
    for (ComparisonPiece& piece : pieces) {
      turn_towards_first(piece, pool);
      for (const std::uint32_t first : piece.tasks) ++begin_[first + 1];
      total += piece.size();
    }
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    seconds_.resize(total);
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (const ComparisonPiece& piece : pieces) {
      for (std::size_t i = 0; i < piece.size(); ++i) seconds_[next[piece.tasks[i]]++] = piece.rights[i];
    }
    // By first item: the second items in order, each once.
    std::vector<std::uint32_t> distinct(items + 1, 0);
    const Blocks blocks{items, 256};
    pool.for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
      for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i) {
        std::uint32_t* const own = seconds_.data() + begin_[i];
        std::uint32_t* const end = seconds_.data() + begin_[i + 1];
        if (!std::is_sorted(own, end)) std::sort(own, end);
        distinct[i + 1] = static_cast<std::uint32_t>(std::unique(own, end) - own);
      }
    });
    std::partial_sum(distinct.begin(), distinct.end(), distinct.begin());
    pairs.resize(distinct[items]);
    pool.for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
      for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i) {
        for (std::uint32_t p = distinct[i]; p < distinct[i + 1]; ++p) {
          pairs[p] = {ItemId(i), ItemId{seconds_[begin_[i] + (p - distinct[i])]}};
        }
      }
    });
    for (ComparisonPiece& piece : pieces) {
      const Blocks rows{piece.size(), kAnswersPerBlock};
      pool.for_each_block(rows.count(), [&](std::size_t b, unsigned) {
        for (std::size_t i = rows.begin(b); i < rows.end(b); ++i) {
          const std::uint32_t first = piece.tasks[i];
          const ItemPair* const own = pairs.data() + distinct[first];
          const ItemPair* const end = pairs.data() + distinct[first + 1];
          const ItemPair* const at =
              std::lower_bound(own, end, piece.rights[i],
                               [](const ItemPair& pair, std::uint32_t second) { return index(pair.second) < second; });
          piece.tasks[i] = static_cast<std::uint32_t>(at - pairs.data());
        }
      });
      piece.rights = {};
    }
  }

  HugeVector<ItemPair> pairs;

 private:
  /// Lower items first; the code says how it was shown.
  static void turn_towards_first(ComparisonPiece& piece, ThreadPool& pool) {
    const Blocks rows{piece.size(), kAnswersPerBlock};
    pool.for_each_block(rows.count(), [&](std::size_t b, unsigned) {
      for (std::size_t i = rows.begin(b); i < rows.end(b); ++i) {
        if (piece.tasks[i] < piece.rights[i]) continue;
        std::swap(piece.tasks[i], piece.rights[i]);
        piece.payload[i] = static_cast<std::uint8_t>(
            static_cast<std::uint8_t>(mirrored(static_cast<Outcome>(piece.payload[i]))) | ComparisonAnswers::kSwapped);
      }
    });
  }

  std::vector<std::uint32_t> begin_;
  HugeVector<std::uint32_t> seconds_;
};

ComparisonAnswers build_from_pairs(std::vector<AnswerPiece<std::uint8_t>> pieces, HugeVector<ItemPair> pairs,
                                   ComparisonAnswerNames names, bool sides_known, DuplicatePolicy policy,
                                   ThreadPool& pool, BuildReport* report, std::vector<RepeatedPair>* repeated) {
  const ComparisonPacking packing;
  GraphBuild<ComparisonPacking> build(packing, std::move(pieces), pairs.size(), policy, pool);
  build.graph->task_names = unnamed(pairs.size());
  build.graph->worker_names = std::move(names.workers);
  build.run();
  build.refuse_repeats(repeated);
  if (report != nullptr) *report = build.report;
  auto column = std::make_shared<ComparisonAnswers::Column>();
  column->items = std::move(names.items);
  column->pairs = std::move(pairs);
  column->codes = std::move(build.column);
  column->sides_known = sides_known;
  return {AnswerGraph(std::move(build.graph)), std::move(column)};
}

}  // namespace

ComparisonAnswers::ComparisonAnswers() {
  static const auto empty = std::make_shared<Column>();
  column_ = empty;
}
ComparisonAnswers::ComparisonAnswers(AnswerGraph graph, std::shared_ptr<const Column> column)
    : AnswerGraph(std::move(graph)), column_(std::move(column)) {}

std::size_t ComparisonAnswers::item_count() const noexcept { return column_->items.size(); }
const NameTable& ComparisonAnswers::item_names() const noexcept { return column_->items; }
std::span<const ItemPair> ComparisonAnswers::pairs() const noexcept { return column_->pairs; }
std::span<const std::uint8_t> ComparisonAnswers::codes() const noexcept { return column_->codes; }
bool ComparisonAnswers::sides_known() const noexcept { return column_->sides_known; }

ComparisonAnswer ComparisonAnswers::answer(TaskId task, AnswerIndex answer) const noexcept {
  const ItemPair& items = pair(task);
  const std::uint8_t code = codes()[answer];
  const WorkerId worker = workers()[answer];
  if (swapped(code)) return {task, worker, items.second, items.first, mirrored(outcome_of(code))};
  return {task, worker, items.first, items.second, outcome_of(code)};
}

std::uint64_t ComparisonAnswers::content_hash() const {
  std::call_once(column_->hash_once, [this] {
    const auto hash_of = [](const ComparisonAnswers& answers) {
      ContentHash hash;
      hash.add_graph(answers);
      hash.add(answers.pairs().data(), answers.pairs().size_bytes());
      hash.add(answers.codes().data(), answers.codes().size_bytes());
      hash.add_names(answers.item_names());
      hash.add_names(answers.worker_names());
      return hash.value();
    };
    ThreadPool pool(1);
    if (ranks_in_order(item_names(), pool).empty() && ranks_in_order(worker_names(), pool).empty()) {
      column_->hash = hash_of(*this);
      return;
    }
    ComparisonAnswerNames names{item_names(), worker_names()};
    std::vector<ComparisonPiece> pieces(1);
    copy_edges(*this, pieces[0]);
    for (std::size_t t = 0; t < task_count(); ++t) {
      for (AnswerIndex a = task_offsets()[t]; a < task_offsets()[t + 1]; ++a) {
        const ComparisonAnswer shown = answer(TaskId(t), a);
        pieces[0].tasks[a] = static_cast<std::uint32_t>(shown.left);
        pieces[0].rights.push_back(static_cast<std::uint32_t>(shown.right));
        pieces[0].payload.push_back(static_cast<std::uint8_t>(shown.outcome));
      }
    }
    put_in_order(names, pieces, pool);
    column_->hash = hash_of(build_comparison_answers(std::move(pieces), std::move(names), sides_known(),
                                                     DuplicatePolicy::repeat, pool, nullptr));
  });
  return column_->hash;
}

std::vector<std::uint32_t> put_in_order(ComparisonAnswerNames& names, std::vector<ComparisonPiece>& pieces,
                                        ThreadPool& pool) {
  std::vector<std::uint32_t> items = ranks_in_order(names.items, pool);
  const std::vector<std::uint32_t> workers = ranks_in_order(names.workers, pool);
  names.items = reordered(std::move(names.items), items, pool);
  names.workers = reordered(std::move(names.workers), workers, pool);
  for (ComparisonPiece& piece : pieces) {
    const Blocks rows{piece.size(), kAnswersPerBlock};
    pool.for_each_block(rows.count(), [&](std::size_t b, unsigned) {
      for (std::size_t i = rows.begin(b); i < rows.end(b) && !items.empty(); ++i) {
        piece.tasks[i] = items[piece.tasks[i]];
        piece.rights[i] = items[piece.rights[i]];
      }
      for (std::size_t i = rows.begin(b); i < rows.end(b) && !workers.empty(); ++i) {
        piece.workers[i] = workers[piece.workers[i]];
      }
    });
  }
  return items;
}

ComparisonAnswers build_comparison_answers(std::vector<ComparisonPiece> pieces, ComparisonAnswerNames names,
                                           bool sides_known, DuplicatePolicy policy, ThreadPool& pool,
                                           BuildReport* report, std::vector<RepeatedPair>* repeated) {
  PairIndex found(pieces, names.items.size(), pool);
  std::vector<AnswerPiece<std::uint8_t>> plain;
  for (ComparisonPiece& piece : pieces) plain.push_back(std::move(static_cast<AnswerPiece<std::uint8_t>&>(piece)));
  return build_from_pairs(std::move(plain), std::move(found.pairs), std::move(names), sides_known, policy, pool, report,
                          repeated);
}

ComparisonAnswers make_comparison_answers(std::span<const ComparisonAnswer> answers, ComparisonAnswerNames names,
                                          DuplicatePolicy policy, BuildReport* report, bool sides_known) {
  std::vector<ComparisonPiece> pieces(1);
  ComparisonPiece& piece = pieces[0];
  piece.reserve(answers.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const ComparisonAnswer& a = answers[i];
    require_index(i, index(a.left), names.items.size(), "left item");
    require_index(i, index(a.right), names.items.size(), "right item");
    require_index(i, index(a.worker), names.workers.size(), "worker");
    require_index(i, static_cast<std::size_t>(a.outcome), 3, "outcome");
    if (a.left == a.right) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("answer {}: item {} is compared with itself: leave it out", i, index(a.left)));
    }
    piece.tasks.push_back(static_cast<std::uint32_t>(a.left));
    piece.rights.push_back(static_cast<std::uint32_t>(a.right));
    piece.workers.push_back(static_cast<std::uint32_t>(a.worker));
    piece.payload.push_back(static_cast<std::uint8_t>(a.outcome));
  }
  ThreadPool pool(1);
  return build_comparison_answers(std::move(pieces), std::move(names), sides_known, policy, pool, report);
}

ComparisonAnswers with_answers(const ComparisonAnswers& answers, std::span<const ComparisonAnswer> others) {
  std::vector<AnswerPiece<std::uint8_t>> pieces(1);
  AnswerPiece<std::uint8_t>& piece = pieces[0];
  piece.reserve(others.size());
  for (std::size_t i = 0; i < others.size(); ++i) {
    const ComparisonAnswer& a = others[i];
    require_index(i, index(a.task), answers.task_count(), "pair");
    require_index(i, index(a.worker), answers.worker_count(), "worker");
    const bool swapped = a.left != answers.pair(a.task).first;
    piece.tasks.push_back(static_cast<std::uint32_t>(a.task));
    piece.workers.push_back(static_cast<std::uint32_t>(a.worker));
    piece.payload.push_back(
        static_cast<std::uint8_t>(static_cast<std::uint8_t>(swapped ? mirrored(a.outcome) : a.outcome) |
                                  (swapped ? ComparisonAnswers::kSwapped : 0U)));
  }
  ThreadPool pool(1);
  return build_from_pairs(std::move(pieces), {answers.pairs().begin(), answers.pairs().end()},
                          {answers.item_names(), unnamed(answers.worker_count())}, answers.sides_known(),
                          DuplicatePolicy::repeat, pool, nullptr, nullptr);
}

struct ComparisonAnswersBuilder::State {
  Interner items, workers;
  std::vector<ComparisonAnswer> answers;
};

ComparisonAnswersBuilder::ComparisonAnswersBuilder() : state_(std::make_unique<State>()) {}
ComparisonAnswersBuilder::~ComparisonAnswersBuilder() = default;
ComparisonAnswersBuilder::ComparisonAnswersBuilder(ComparisonAnswersBuilder&&) noexcept = default;
ComparisonAnswersBuilder& ComparisonAnswersBuilder::operator=(ComparisonAnswersBuilder&&) noexcept = default;

ComparisonAnswersBuilder& ComparisonAnswersBuilder::add(std::string_view worker, std::string_view left,
                                                        std::string_view right, Outcome outcome) {
  if (left == right) {
    throw Error(ErrorCode::bad_input,
                fmt::format("worker '{}': '{}' is compared with itself: leave it out", worker, left));
  }
  const auto first = ItemId{state_->items.intern(left)}, second = ItemId{state_->items.intern(right)};
  state_->answers.push_back({TaskId{0}, WorkerId{state_->workers.intern(worker)}, first, second, outcome});
  return *this;
}

ComparisonAnswersBuilder& ComparisonAnswersBuilder::add_item(std::string_view item) {
  state_->items.intern(item);
  return *this;
}

ComparisonAnswers ComparisonAnswersBuilder::build(DuplicatePolicy policy, BuildReport* report) const {
  ComparisonAnswerNames names{state_->items.table(), state_->workers.table()};
  ThreadPool pool(1);
  const auto items = ranks_in_order(names.items, pool), workers = ranks_in_order(names.workers, pool);
  names.items = reordered(std::move(names.items), items, pool);
  names.workers = reordered(std::move(names.workers), workers, pool);
  std::vector<ComparisonAnswer> answers = state_->answers;
  for (ComparisonAnswer& a : answers) {
    if (!items.empty()) {
      a.left = ItemId{items[index(a.left)]};
      a.right = ItemId{items[index(a.right)]};
    }
    if (!workers.empty()) a.worker = WorkerId{workers[index(a.worker)]};
  }
  return make_comparison_answers(answers, std::move(names), policy, report);
}

std::size_t gold_count(const ComparisonData& data) noexcept {
  const auto pairs =
      std::count_if(data.gold.begin(), data.gold.end(), [](const auto& known) { return known.has_value(); });
  const auto items =
      std::count_if(data.gold_scores.begin(), data.gold_scores.end(), [](double known) { return !std::isnan(known); });
  return static_cast<std::size_t>(pairs + items);
}

void validate(const ComparisonData& data) {
  const auto require_size = [](std::size_t has, std::size_t needs, const char* what, const char* of) {
    if (has == 0 || has == needs) return;
    throw Error(ErrorCode::bad_input, fmt::format("{} has {} entries: there are {} {}", what, has, needs, of));
  };
  require_size(data.gold.size(), data.answers.task_count(), "gold", "pairs");
  require_size(data.gold_scores.size(), data.answers.item_count(), "the gold of items", "items");
  const std::size_t columns = data.features.names.size();
  if (data.features.values.size() != columns * data.answers.item_count()) {
    throw Error(ErrorCode::bad_input,
                fmt::format("features have {} values: {} items with {} features need {}", data.features.values.size(),
                            data.answers.item_count(), columns, columns * data.answers.item_count()));
  }
  for (const double value : data.features.values) {
    if (!std::isfinite(value)) throw Error(ErrorCode::bad_input, "a feature of an item is not a finite number");
  }
}

}  // namespace wisecrowd
