#include "data/build.hpp"

#include "data/graph_build.hpp"
#include "data/name_order.hpp"
#include "data/number_column.hpp"

namespace wisecrowd {
namespace {

/// An answer within its bucket, in one word: place of the task, worker, class.
struct CategoryPacking {
  using Payload = std::uint16_t;
  using Word = std::uint64_t;
  using Entry = ClassId;

  static constexpr Word pack(std::uint32_t place, std::uint32_t worker, Payload label) noexcept {
    return (std::uint64_t{place} << 48) | (std::uint64_t{worker} << 16) | label;
  }
  static constexpr std::size_t place_of(Word answer) noexcept { return answer >> 48; }
  static constexpr std::uint32_t worker_of(Word answer) noexcept { return static_cast<std::uint32_t>(answer >> 16); }
  static constexpr Entry entry_of(Word answer) noexcept { return ClassId{static_cast<std::uint16_t>(answer)}; }
  static constexpr bool before(Word a, Word b) noexcept { return a < b; }
  static constexpr bool same(Word a, Word b) noexcept {
    return static_cast<std::uint16_t>(a) == static_cast<std::uint16_t>(b);
  }
};

/// An answer within its bucket; what was said, and when, stays in its list until the end.
class TimedPacking {
 public:
  using Payload = std::uint32_t;
  struct Word {
    std::uint32_t place, worker, row;
  };
  using Entry = std::uint32_t;

  explicit TimedPacking(const TimedLabels& said) : said_(said) {}

  static Word pack(std::uint32_t place, std::uint32_t worker, std::uint32_t row) noexcept {
    return {place, worker, row};
  }
  static std::size_t place_of(const Word& answer) noexcept { return answer.place; }
  static std::uint32_t worker_of(const Word& answer) noexcept { return answer.worker; }
  static Entry entry_of(const Word& answer) noexcept { return answer.row; }
  [[nodiscard]] bool before(const Word& a, const Word& b) const {
    if (a.worker != b.worker) return a.worker < b.worker;
    if (said_.labels[a.row] != said_.labels[b.row]) return said_.labels[a.row] < said_.labels[b.row];
    return said_.times[a.row] < said_.times[b.row];
  }
  [[nodiscard]] bool same(const Word& a, const Word& b) const { return said_.labels[a.row] == said_.labels[b.row]; }

 private:
  const TimedLabels& said_;
};

}  // namespace

void require_index(std::size_t answer, std::size_t value, std::size_t size, const char* what) {
  if (value < size) return;
  throw Error(ErrorCode::bad_input,
              fmt::format("answer {}: {} index {} is out of range: there are {} of them", answer, what, value, size));
}

template <class Payload>
NewIds put_in_order(NameTable& tasks, NameTable& workers, std::vector<AnswerPiece<Payload>>& pieces, ThreadPool& pool) {
  NewIds ids{ranks_in_order(tasks, pool), ranks_in_order(workers, pool)};
  if (ids.tasks.empty() && ids.workers.empty()) return ids;
  tasks = reordered(std::move(tasks), ids.tasks, pool);
  workers = reordered(std::move(workers), ids.workers, pool);
  const auto stretches = stretches_of(pieces);
  pool.for_each_block(stretches.size(), [&](std::size_t s, unsigned) {
    const auto [p, begin, end] = stretches[s];
    auto& piece = pieces[p];
    for (std::size_t i = begin; i < end && !ids.tasks.empty(); ++i) piece.tasks[i] = ids.tasks[piece.tasks[i]];
    for (std::size_t i = begin; i < end && !ids.workers.empty(); ++i) {
      piece.workers[i] = ids.workers[piece.workers[i]];
    }
  });
  return ids;
}
template NewIds put_in_order(NameTable&, NameTable&, std::vector<CategoryPiece>&, ThreadPool&);
template NewIds put_in_order(NameTable&, NameTable&, std::vector<NumberPiece>&, ThreadPool&);

CategoryAnswers build_category_answers(std::vector<CategoryPiece> pieces, CategoryAnswerNames names,
                                       DuplicatePolicy policy, ThreadPool& pool, BuildReport* report,
                                       std::vector<RepeatedPair>* repeated) {
  const CategoryPacking packing;
  GraphBuild<CategoryPacking> build(packing, std::move(pieces), names.tasks.size(), policy, pool);
  build.graph->task_names = std::move(names.tasks);
  build.graph->worker_names = std::move(names.workers);
  build.run();
  build.refuse_repeats(repeated);
  if (report != nullptr) *report = build.report;
  auto column = std::make_shared<CategoryAnswers::Column>();
  column->classes = ColumnNames(std::move(names.classes));
  column->labels = std::move(build.column);
  return {AnswerGraph(std::move(build.graph)), std::move(column)};
}

std::vector<ListedPiece> listed_pieces(std::vector<CategoryPiece> pieces, TimedLabels& said) {
  std::vector<ListedPiece> listed(pieces.size());
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const auto begin = static_cast<std::uint32_t>(said.labels.size());
    said.labels.insert(said.labels.end(), pieces[p].payload.begin(), pieces[p].payload.end());
    listed[p].tasks = std::move(pieces[p].tasks);
    listed[p].workers = std::move(pieces[p].workers);
    listed[p].payload.resize(listed[p].tasks.size());
    std::iota(listed[p].payload.begin(), listed[p].payload.end(), begin);
    pieces[p] = {};
  }
  return listed;
}

CategoryAnswers build_timed_answers(std::vector<ListedPiece> pieces, TimedLabels& said, CategoryAnswerNames names,
                                    DuplicatePolicy policy, ThreadPool& pool, BuildReport* report,
                                    std::vector<RepeatedPair>* repeated) {
  const TimedPacking packing(said);
  GraphBuild<TimedPacking> build(packing, std::move(pieces), names.tasks.size(), policy, pool);
  build.graph->task_names = std::move(names.tasks);
  build.graph->worker_names = std::move(names.workers);
  build.run();
  build.refuse_repeats(repeated);
  if (report != nullptr) *report = build.report;
  auto column = std::make_shared<CategoryAnswers::Column>();
  column->classes = ColumnNames(std::move(names.classes));
  column->labels.resize(build.column.size());
  std::vector<double> times(build.column.size());
  const Blocks blocks{build.column.size(), kAnswersPerBlock};
  pool.for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t a = blocks.begin(b); a < blocks.end(b); ++a) {
      column->labels[a] = ClassId{said.labels[build.column[a]]};
      times[a] = said.times[build.column[a]];
    }
  });
  said.times = std::move(times);
  return {AnswerGraph(std::move(build.graph)), std::move(column)};
}

}  // namespace wisecrowd
