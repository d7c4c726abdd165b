#include "wisecrowd/set_answers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "data/content_hash.hpp"
#include "data/graph_build.hpp"
#include "data/interner.hpp"
#include "data/name_order.hpp"
#include "data/set_column.hpp"
#include "wisecrowd/category_answers.hpp"
#include "wisecrowd/set_data.hpp"
#include "wisecrowd/set_fit.hpp"

namespace wisecrowd {
namespace {

/// An answer within its bucket; its classes stay where they are until the end.
class SetPacking {
 public:
  using Payload = std::uint32_t;
  struct Word {
    std::uint32_t place, worker, row;
  };
  using Entry = std::uint32_t;

  explicit SetPacking(const SetRows& rows) : rows_(rows) {}

  static Word pack(std::uint32_t place, std::uint32_t worker, std::uint32_t row) noexcept {
    return {place, worker, row};
  }
  static std::size_t place_of(const Word& answer) noexcept { return answer.place; }
  static std::uint32_t worker_of(const Word& answer) noexcept { return answer.worker; }
  static Entry entry_of(const Word& answer) noexcept { return answer.row; }
  [[nodiscard]] bool before(const Word& a, const Word& b) const {
    if (a.worker != b.worker) return a.worker < b.worker;
    const auto left = rows_[a.row], right = rows_[b.row];
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
  }
  [[nodiscard]] bool same(const Word& a, const Word& b) const {
    const auto left = rows_[a.row], right = rows_[b.row];
    return std::equal(left.begin(), left.end(), right.begin(), right.end());
  }

 private:
  const SetRows& rows_;
};

/// The sets of `entries`, in that order.
std::shared_ptr<SetAnswers::Column> gathered_sets(const SetRows& rows, std::span<const std::uint32_t> entries,
                                                  NameTable classes, ThreadPool& pool) {
  auto column = std::make_shared<SetAnswers::Column>();
  column->classes = std::move(classes);
  column->offsets.resize(entries.size() + 1);
  column->offsets[0] = 0;
  for (std::size_t a = 0; a < entries.size(); ++a) {
    column->offsets[a + 1] = column->offsets[a] + rows[entries[a]].size();
  }
  column->members.resize(column->offsets[entries.size()]);
  const Blocks blocks{entries.size(), kAnswersPerBlock};
  pool.for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t a = blocks.begin(b); a < blocks.end(b); ++a) {
      const auto set = rows[entries[a]];
      std::copy(set.begin(), set.end(), column->members.begin() + static_cast<std::ptrdiff_t>(column->offsets[a]));
    }
  });
  return column;
}

bool ascends(std::span<const ClassId> classes) {
  return std::adjacent_find(classes.begin(), classes.end(), std::greater_equal<>()) == classes.end();
}

}  // namespace

void SetRows::end_row() {
  const auto begin = members.begin() + static_cast<std::ptrdiff_t>(offsets.back());
  std::sort(begin, members.end());
  members.erase(std::unique(begin, members.end()), members.end());
  offsets.push_back(members.size());
}

SetAnswers::SetAnswers() {
  static const auto empty = [] {
    auto column = std::make_shared<Column>();
    column->offsets.resize(1);
    column->offsets[0] = 0;
    return column;
  }();
  column_ = empty;
}
SetAnswers::SetAnswers(AnswerGraph graph, std::shared_ptr<const Column> column)
    : AnswerGraph(std::move(graph)), column_(std::move(column)) {}

std::size_t SetAnswers::class_count() const noexcept { return column_->classes.size(); }
const NameTable& SetAnswers::class_names() const noexcept { return column_->classes; }
std::span<const std::uint64_t> SetAnswers::set_offsets() const noexcept { return column_->offsets; }
std::span<const ClassId> SetAnswers::members() const noexcept { return column_->members; }

std::uint64_t SetAnswers::content_hash() const {
  std::call_once(column_->hash_once, [this] {
    const auto hash_of = [](const SetAnswers& answers) {
      ContentHash hash;
      hash.add_graph(answers);
      hash.add(answers.set_offsets().data(), answers.set_offsets().size_bytes());
      hash.add(answers.members().data(), answers.members().size_bytes());
      hash.add_names(answers.task_names());
      hash.add_names(answers.worker_names());
      hash.add_names(answers.class_names());
      return hash.value();
    };
    ThreadPool pool(1);
    if (ranks_in_order(task_names(), pool).empty() && ranks_in_order(worker_names(), pool).empty()) {
      column_->hash = hash_of(*this);
      return;
    }
    SetAnswerNames names{task_names(), worker_names(), class_names()};
    std::vector<SetPiece> pieces(1);
    copy_edges(*this, pieces[0]);
    for (std::uint32_t a = 0; a < answer_count(); ++a) pieces[0].payload.push_back(a);
    put_in_order(names.tasks, names.workers, pieces, pool);
    const SetRows rows{{set_offsets().begin(), set_offsets().end()}, {members().begin(), members().end()}};
    column_->hash =
        hash_of(build_set_answers(std::move(pieces), rows, std::move(names), DuplicatePolicy::repeat, pool, nullptr));
  });
  return column_->hash;
}

SetAnswers build_set_answers(std::vector<SetPiece> pieces, const SetRows& rows, SetAnswerNames names,
                             DuplicatePolicy policy, ThreadPool& pool, BuildReport* report,
                             std::vector<RepeatedPair>* repeated) {
  const SetPacking packing(rows);
  GraphBuild<SetPacking> build(packing, std::move(pieces), names.tasks.size(), policy, pool);
  build.graph->task_names = std::move(names.tasks);
  build.graph->worker_names = std::move(names.workers);
  build.run();
  build.refuse_repeats(repeated);
  if (report != nullptr) *report = build.report;
  auto column = gathered_sets(rows, build.column, std::move(names.classes), pool);
  return {AnswerGraph(std::move(build.graph)), std::move(column)};
}

SetAnswers build_united_answers(std::vector<SetPiece> pieces, const SetRows& rows, SetAnswerNames names,
                                ThreadPool& pool) {
  const SetPacking packing(rows);
  GraphBuild<SetPacking> build(packing, std::move(pieces), names.tasks.size(), DuplicatePolicy::repeat, pool);
  build.run();
  // Rows of one task and worker stand side by side now.
  auto graph = std::make_shared<AnswerGraph::Storage>();
  graph->task_offsets.resize(names.tasks.size() + 1);
  SetRows united;
  std::size_t kept = 0;
  for (std::size_t t = 0; t < names.tasks.size(); ++t) {
    graph->task_offsets[t] = static_cast<AnswerIndex>(kept);
    for (AnswerIndex a = build.graph->task_offsets[t]; a < build.graph->task_offsets[t + 1];) {
      const WorkerId worker = build.graph->workers[a];
      for (; a < build.graph->task_offsets[t + 1] && build.graph->workers[a] == worker; ++a) {
        const auto set = rows[build.column[a]];
        united.members.insert(united.members.end(), set.begin(), set.end());
      }
      united.end_row();
      build.graph->workers[kept++] = worker;
    }
  }
  graph->task_offsets[names.tasks.size()] = static_cast<AnswerIndex>(kept);
  graph->workers.assign(build.graph->workers.begin(), build.graph->workers.begin() + static_cast<std::ptrdiff_t>(kept));
  graph->task_names = std::move(names.tasks);
  graph->worker_names = std::move(names.workers);
  auto column = std::make_shared<SetAnswers::Column>();
  column->classes = std::move(names.classes);
  column->offsets.assign(united.offsets.begin(), united.offsets.end());
  column->members.assign(united.members.begin(), united.members.end());
  return {AnswerGraph(std::move(graph)), std::move(column)};
}

SetAnswers make_set_answers(std::span<const SetAnswer> answers, SetAnswerNames names, DuplicatePolicy policy,
                            BuildReport* report) {
  std::vector<SetPiece> pieces(1);
  SetPiece& piece = pieces[0];
  piece.reserve(answers.size());
  SetRows rows;
  rows.offsets.reserve(answers.size() + 1);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const SetAnswer& a = answers[i];
    require_index(i, index(a.task), names.tasks.size(), "task");
    require_index(i, index(a.worker), names.workers.size(), "worker");
    for (const ClassId label : a.classes) require_index(i, index(label), names.classes.size(), "class");
    if (!ascends(a.classes)) {
      throw Error(ErrorCode::bad_input, fmt::format("answer {}: its classes must ascend, each named once", i));
    }
    rows.members.insert(rows.members.end(), a.classes.begin(), a.classes.end());
    rows.offsets.push_back(rows.members.size());
    piece.tasks.push_back(static_cast<std::uint32_t>(a.task));
    piece.workers.push_back(static_cast<std::uint32_t>(a.worker));
    piece.payload.push_back(static_cast<std::uint32_t>(i));
  }
  ThreadPool pool(1);
  return build_set_answers(std::move(pieces), rows, std::move(names), policy, pool, report);
}

struct SetAnswersBuilder::State {
  bool given = false;
  Interner tasks, workers, classes;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  SetRows rows;  ///< by the order in which classes came
};

SetAnswersBuilder::SetAnswersBuilder(std::vector<std::string> classes) : state_(std::make_unique<State>()) {
  state_->given = !classes.empty();
  for (const std::string& name : classes) {
    if (state_->classes.find(name) != Interner::kAbsent) {
      throw Error(ErrorCode::bad_parameter, fmt::format("class '{}' is listed twice", name));
    }
    state_->classes.intern(name);
  }
}
SetAnswersBuilder::~SetAnswersBuilder() = default;
SetAnswersBuilder::SetAnswersBuilder(SetAnswersBuilder&&) noexcept = default;
SetAnswersBuilder& SetAnswersBuilder::operator=(SetAnswersBuilder&&) noexcept = default;

SetAnswersBuilder& SetAnswersBuilder::add(std::string_view task, std::string_view worker,
                                          const std::vector<std::string>& classes) {
  std::vector<ClassId> found;
  for (const std::string& name : classes) {
    if (state_->given && state_->classes.find(name) == Interner::kAbsent) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("worker '{}' on task '{}': '{}' is not in the class list", worker, task, name));
    }
    const std::uint32_t code = state_->classes.intern(name);
    if (code >= kMaxClasses) {
      throw Error(ErrorCode::bad_input, fmt::format("more than {} classes cannot be told apart", kMaxClasses));
    }
    found.push_back(ClassId{static_cast<std::uint16_t>(code)});
  }
  state_->edges.emplace_back(state_->tasks.intern(task), state_->workers.intern(worker));
  state_->rows.members.insert(state_->rows.members.end(), found.begin(), found.end());
  state_->rows.end_row();
  return *this;
}

SetAnswersBuilder& SetAnswersBuilder::add_task(std::string_view task) {
  state_->tasks.intern(task);
  return *this;
}
SetAnswersBuilder& SetAnswersBuilder::add_worker(std::string_view worker) {
  state_->workers.intern(worker);
  return *this;
}

SetAnswers SetAnswersBuilder::build(DuplicatePolicy policy, BuildReport* report) const {
  const Interner& known = state_->classes;
  std::vector<std::string_view> found;
  for (std::uint32_t k = 0; k < known.size(); ++k) found.push_back(known[k]);
  std::vector<std::string> classes;
  std::vector<std::uint16_t> id_of(known.size());
  const auto order = state_->given ? std::vector<std::uint32_t>{} : class_order(found);
  for (std::uint32_t rank = 0; rank < known.size(); ++rank) {
    const std::uint32_t code = state_->given ? rank : order[rank];
    classes.emplace_back(known[code]);
    id_of[code] = static_cast<std::uint16_t>(rank);
  }
  SetAnswerNames names{state_->tasks.table(), state_->workers.table(), NameTable(classes)};
  SetRows rows;
  std::vector<SetPiece> pieces(1);
  for (std::size_t i = 0; i < state_->edges.size(); ++i) {
    for (const ClassId code : state_->rows[i]) rows.members.push_back(ClassId{id_of[index(code)]});
    rows.end_row();
    pieces[0].tasks.push_back(state_->edges[i].first);
    pieces[0].workers.push_back(state_->edges[i].second);
    pieces[0].payload.push_back(static_cast<std::uint32_t>(i));
  }
  ThreadPool pool(1);
  put_in_order(names.tasks, names.workers, pieces, pool);
  return build_set_answers(std::move(pieces), rows, std::move(names), policy, pool, report);
}

void validate(const SetData& data) {
  if (data.gold.empty()) return;
  if (data.gold.size() != data.answers.task_count()) {
    throw Error(ErrorCode::bad_input,
                fmt::format("gold has {} entries: there are {} tasks", data.gold.size(), data.answers.task_count()));
  }
  for (std::size_t t = 0; t < data.gold.size(); ++t) {
    if (!data.gold[t]) continue;
    const std::span<const ClassId> classes(*data.gold[t]);
    if (!ascends(classes) || (!classes.empty() && index(classes.back()) >= data.answers.class_count())) {
      throw Error(ErrorCode::bad_input, fmt::format("gold of task {}: its classes must ascend, each named once, and be "
                                                    "among the {} that there are",
                                                    t, data.answers.class_count()));
    }
  }
}

double SetFit::probability_of(TaskId task, ClassId label) const {
  const auto own = candidates_of(task);
  const auto at = std::lower_bound(own.begin(), own.end(), label);
  if (at == own.end() || *at != label) return 0;
  return probabilities_of(task)[static_cast<std::size_t>(at - own.begin())];
}

std::vector<ClassId> SetFit::set_of(TaskId task) const {
  std::vector<ClassId> set;
  const auto own = candidates_of(task);
  const auto probabilities = probabilities_of(task);
  for (std::size_t c = 0; c < own.size(); ++c) {
    if (probabilities[c] > threshold) set.push_back(own[c]);
  }
  return set;
}

}  // namespace wisecrowd
