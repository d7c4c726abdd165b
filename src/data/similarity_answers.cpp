#include "wisecrowd/similarity_answers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "data/content_hash.hpp"
#include "data/graph_build.hpp"
#include "data/interner.hpp"
#include "data/name_order.hpp"
#include "data/similarity_column.hpp"
#include "wisecrowd/similarity_fit.hpp"

namespace wisecrowd {
namespace {

/// An answer within its bucket.
class SimilarityPacking {
 public:
  using Payload = std::uint8_t;
  struct Word {
    std::uint32_t place, worker;
    std::uint8_t same;
  };
  using Entry = std::uint8_t;

  static Word pack(std::uint32_t place, std::uint32_t worker, std::uint8_t same) noexcept {
    return {place, worker, same};
  }
  static std::size_t place_of(const Word& answer) noexcept { return answer.place; }
  static std::uint32_t worker_of(const Word& answer) noexcept { return answer.worker; }
  static Entry entry_of(const Word& answer) noexcept { return answer.same; }
  static bool before(const Word& a, const Word& b) noexcept {
    return a.worker != b.worker ? a.worker < b.worker : a.same < b.same;
  }
  static bool same(const Word& a, const Word& b) noexcept { return a.same == b.same; }
};
using SimilarityPieces = std::vector<AnswerPiece<std::uint8_t>>;

/// Names of pairs are made of their items' where they are wanted.
NameTable nameless_pairs(std::size_t count) { return NameTable("", std::vector<std::uint64_t>(count + 1, 0)); }

std::uint64_t key_of(SimilarPair pair) noexcept { return (std::uint64_t{pair.left} << 32) | pair.right; }
SimilarPair pair_of(std::uint64_t key) noexcept {
  return {static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key)};
}
std::uint64_t key_of(const SimilarityRow& row) noexcept {
  return key_of(SimilarPair{std::min(row.left, row.right), std::max(row.left, row.right)});
}

/// Sorts by byte after byte: linear, and a key has few bytes that differ.
void radix_sort(std::vector<std::uint64_t>& keys) {
  std::uint64_t differ = 0;
  for (const std::uint64_t key : keys) differ |= key ^ keys.front();
  std::vector<std::uint64_t> other(keys.size());
  for (unsigned shift = 0; shift < 64; shift += 8) {
    if (((differ >> shift) & 0xFF) == 0) continue;
    std::size_t at[257] = {};
    for (const std::uint64_t key : keys) ++at[((key >> shift) & 0xFF) + 1];
    std::partial_sum(at, at + 257, at);
    for (const std::uint64_t key : keys) other[at[(key >> shift) & 0xFF]++] = key;
    keys.swap(other);
  }
}

SimilarityAnswers built_similarities(SimilarityPieces pieces, std::shared_ptr<SimilarityAnswers::Column> column,
                                     NameTable workers, DuplicatePolicy policy, ThreadPool& pool, BuildReport* report,
                                     std::vector<RepeatedPair>* repeated) {
  const SimilarityPacking packing;
  GraphBuild<SimilarityPacking> build(packing, std::move(pieces), column->pairs.size(), policy, pool);
  build.graph->task_names = nameless_pairs(column->pairs.size());
  build.graph->worker_names = std::move(workers);
  build.run();
  if (policy == DuplicatePolicy::reject && repeated == nullptr && build.graph->has_repeats) {
    throw Error(ErrorCode::bad_input,
                "a worker answered a pair of items more than once; remove the repeat, or choose "
                "another duplicate policy");
  }
  build.refuse_repeats(repeated);
  if (report != nullptr) *report = build.report;
  column->same = std::move(build.column);
  return {AnswerGraph(std::move(build.graph)), std::move(column)};
}

}  // namespace

SimilarityAnswers::SimilarityAnswers() {
  static const auto empty = std::make_shared<Column>();
  column_ = empty;
}
SimilarityAnswers::SimilarityAnswers(AnswerGraph graph, std::shared_ptr<const Column> column)
    : AnswerGraph(std::move(graph)), column_(std::move(column)) {}

std::size_t SimilarityAnswers::item_count() const noexcept { return column_->items.size(); }
const NameTable& SimilarityAnswers::item_names() const noexcept { return column_->items; }
std::span<const SimilarPair> SimilarityAnswers::pairs() const noexcept { return column_->pairs; }
std::span<const std::uint8_t> SimilarityAnswers::same() const noexcept { return column_->same; }

std::uint64_t SimilarityAnswers::content_hash() const {
  // Builder and reader put items and workers in the order of their names, so there is nothing to sort here.
  std::call_once(column_->hash_once, [this] {
    ContentHash hash;
    hash.add_graph(*this);
    hash.add(pairs().data(), pairs().size_bytes());
    hash.add(same().data(), same().size_bytes());
    hash.add_names(item_names());
    hash.add_names(worker_names());
    column_->hash = hash.value();
  });
  return column_->hash;
}

SimilarityAnswers build_similarity_answers(std::span<const SimilarityRow> rows, NameTable items, NameTable workers,
                                           DuplicatePolicy policy, ThreadPool& pool, BuildReport* report,
                                           std::vector<RepeatedPair>* repeated) {
  auto column = std::make_shared<SimilarityAnswers::Column>();
  std::vector<std::uint64_t> keys;
  keys.reserve(rows.size());
  for (const SimilarityRow& row : rows) keys.push_back(key_of(row));
  if (!keys.empty()) radix_sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  // Where the pairs of an item begin, so that a pair is looked for among few.
  std::vector<std::size_t> first(items.size() + 1, 0);
  column->pairs.reserve(keys.size());
  for (const std::uint64_t key : keys) {
    column->pairs.push_back(pair_of(key));
    ++first[column->pairs.back().left + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());

  SimilarityPieces pieces(1);
  auto& piece = pieces[0];
  piece.tasks.resize(rows.size());
  piece.workers.resize(rows.size());
  piece.payload.resize(rows.size());
  const Blocks blocks{rows.size(), kAnswersPerBlock};
  pool.for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i) {
      const std::uint64_t key = key_of(rows[i]);
      const SimilarPair pair = pair_of(key);
      const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(first[pair.left]);
      const auto end = keys.begin() + static_cast<std::ptrdiff_t>(first[pair.left + 1]);
      piece.tasks[i] = static_cast<std::uint32_t>(std::lower_bound(begin, end, key) - keys.begin());
      piece.workers[i] = rows[i].worker;
      piece.payload[i] = rows[i].same;
    }
  });
  column->items = std::move(items);
  return built_similarities(std::move(pieces), std::move(column), std::move(workers), policy, pool, report, repeated);
}

SimilarityAnswers with_answers(const SimilarityAnswers& all, std::span<const SimilarityAnswer> answers) {
  auto column = std::make_shared<SimilarityAnswers::Column>();
  column->items = all.item_names();
  column->pairs.assign(all.pairs().begin(), all.pairs().end());
  SimilarityPieces pieces(1);
  pieces[0].reserve(answers.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    require_index(i, index(answers[i].task), all.task_count(), "pair");
    require_index(i, index(answers[i].worker), all.worker_count(), "worker");
    pieces[0].tasks.push_back(static_cast<std::uint32_t>(answers[i].task));
    pieces[0].workers.push_back(static_cast<std::uint32_t>(answers[i].worker));
    pieces[0].payload.push_back(answers[i].same ? 1 : 0);
  }
  ThreadPool pool(1);
  return built_similarities(std::move(pieces), std::move(column), all.worker_names(), DuplicatePolicy::repeat, pool,
                            nullptr, nullptr);
}

struct SimilarityAnswersBuilder::State {
  Interner items, workers;
  std::vector<SimilarityRow> rows;
};

SimilarityAnswersBuilder::SimilarityAnswersBuilder() : state_(std::make_unique<State>()) {}
SimilarityAnswersBuilder::~SimilarityAnswersBuilder() = default;
SimilarityAnswersBuilder::SimilarityAnswersBuilder(SimilarityAnswersBuilder&&) noexcept = default;
SimilarityAnswersBuilder& SimilarityAnswersBuilder::operator=(SimilarityAnswersBuilder&&) noexcept = default;

SimilarityAnswersBuilder& SimilarityAnswersBuilder::add(std::string_view worker, std::string_view left,
                                                        std::string_view right, bool same) {
  if (left == right) {
    throw Error(ErrorCode::bad_input,
                fmt::format("worker '{}' compared '{}' with itself: a pair has two different items", worker, left));
  }
  state_->rows.push_back({state_->items.intern(left), state_->items.intern(right), state_->workers.intern(worker),
                          static_cast<std::uint8_t>(same ? 1 : 0)});
  return *this;
}
SimilarityAnswersBuilder& SimilarityAnswersBuilder::add_item(std::string_view item) {
  state_->items.intern(item);
  return *this;
}
SimilarityAnswersBuilder& SimilarityAnswersBuilder::add_worker(std::string_view worker) {
  state_->workers.intern(worker);
  return *this;
}

SimilarityAnswers SimilarityAnswersBuilder::build(DuplicatePolicy policy, BuildReport* report) const {
  ThreadPool pool(1);
  NameTable items = state_->items.table(), workers = state_->workers.table();
  const auto item_ranks = ranks_in_order(items, pool), worker_ranks = ranks_in_order(workers, pool);
  std::vector<SimilarityRow> rows = state_->rows;
  for (SimilarityRow& row : rows) {
    if (!item_ranks.empty()) row.left = item_ranks[row.left], row.right = item_ranks[row.right];
    if (!worker_ranks.empty()) row.worker = worker_ranks[row.worker];
  }
  return build_similarity_answers(rows, reordered(std::move(items), item_ranks, pool),
                                  reordered(std::move(workers), worker_ranks, pool), policy, pool, report);
}

void validate(const SimilarityData& data) {
  const std::size_t items = data.answers.item_count();
  if (!data.gold.empty() && data.gold.size() != items) {
    throw Error(ErrorCode::bad_input,
                fmt::format("gold has the clusters of {} items: there are {}", data.gold.size(), items));
  }
  for (std::size_t i = 0; i < data.gold.size(); ++i) {
    if (data.gold[i] != kNoCluster && data.gold[i] >= data.gold_clusters.size()) {
      throw Error(ErrorCode::bad_input, fmt::format("gold of item {} is cluster {}: there are {}", i, data.gold[i],
                                                    data.gold_clusters.size()));
    }
  }
  const auto sorted = [](const KnownPair& a, const KnownPair& b) { return a.items <= b.items; };
  if (std::adjacent_find(data.gold_pairs.begin(), data.gold_pairs.end(), std::not_fn(sorted)) !=
      data.gold_pairs.end()) {
    throw Error(ErrorCode::bad_input, "the pairs that gold knows must be in the order of their items");
  }
  for (const KnownPair& pair : data.gold_pairs) {
    if (pair.items.left >= pair.items.right || pair.items.right >= items) {
      throw Error(ErrorCode::bad_input, fmt::format("gold knows a pair of the items {} and {}: two different ones of "
                                                    "{}, the lower first, are wanted",
                                                    pair.items.left, pair.items.right, items));
    }
  }
}

int known_same(const SimilarityData& data, SimilarPair pair) noexcept {
  if (data.gold.empty()) {
    const auto at = std::lower_bound(data.gold_pairs.begin(), data.gold_pairs.end(), pair,
                                     [](const KnownPair& known, SimilarPair wanted) { return known.items < wanted; });
    return at == data.gold_pairs.end() || at->items != pair ? -1 : at->same ? 1 : 0;
  }
  const std::uint32_t left = data.gold[pair.left], right = data.gold[pair.right];
  if (left == kNoCluster || right == kNoCluster) return -1;
  return left == right ? 1 : 0;
}

std::uint64_t gold_count(const SimilarityData& data) noexcept {
  if (data.gold.empty()) return data.gold_pairs.size();
  return static_cast<std::uint64_t>(
      std::count_if(data.gold.begin(), data.gold.end(), [](std::uint32_t own) { return own != kNoCluster; }));
}

std::vector<std::uint32_t> cluster_places(std::span<const std::uint32_t> cluster) {
  std::uint32_t highest = 0;
  for (const std::uint32_t own : cluster) highest = std::max(highest, own + 1);
  std::vector<std::size_t> size(highest, 0), first(highest, cluster.size());
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    ++size[cluster[i]];
    first[cluster[i]] = std::min(first[cluster[i]], i);
  }
  std::vector<std::uint32_t> order(highest), places(highest, kNoCluster);
  std::iota(order.begin(), order.end(), 0U);
  std::erase_if(order, [&](std::uint32_t own) { return size[own] == 0; });
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return size[a] != size[b] ? size[a] > size[b] : first[a] < first[b];
  });
  for (std::uint32_t place = 0; place < order.size(); ++place) places[order[place]] = place;
  return places;
}

}  // namespace wisecrowd
