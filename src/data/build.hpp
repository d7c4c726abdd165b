#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/huge_vector.hpp"
#include "base/parallel.hpp"
#include "wisecrowd/category_answers.hpp"

namespace wisecrowd {

struct AnswerGraph::Storage {
  NameTable task_names;
  NameTable worker_names;
  HugeVector<AnswerIndex> task_offsets;
  HugeVector<WorkerId> workers;
  bool has_repeats = false;

  // By worker, on demand.
  mutable std::once_flag by_worker_once;
  mutable HugeVector<AnswerIndex> worker_offsets;
  mutable HugeVector<TaskId> worker_tasks;
  mutable HugeVector<AnswerIndex> worker_answers;
};

struct TaskGraph;

/// The names of classes with what else is known of classes and tasks. Those of any CategoryAnswers are of this type.
struct ColumnNames : NameTable {
  ColumnNames() = default;
  explicit ColumnNames(NameTable names) : NameTable(std::move(names)) {}
  bool ordered = false;                         ///< see ordered_classes.hpp
  std::shared_ptr<const TaskGraph> task_graph;  ///< see task_graph.hpp
};
[[nodiscard]] inline const ColumnNames& column_names(const CategoryAnswers& answers) noexcept {
  return static_cast<const ColumnNames&>(answers.class_names());
}

struct CategoryAnswers::Column {
  ColumnNames classes;
  HugeVector<ClassId> labels;

  mutable std::once_flag hash_once;
  mutable std::uint64_t hash = 0;
};

/// Answers in file order as columns; a reader hands over one piece per stretch of its input.
template <class Payload>
struct AnswerPiece {
  HugeVector<std::uint32_t> tasks;
  HugeVector<std::uint32_t> workers;
  HugeVector<Payload> payload;  ///< what was said

  [[nodiscard]] std::size_t size() const noexcept { return tasks.size(); }
  void reserve(std::size_t answers) {
    tasks.reserve(answers);
    workers.reserve(answers);
    payload.reserve(answers);
  }
};
/// The payload is a class.
using CategoryPiece = AnswerPiece<std::uint16_t>;

/// Tasks and workers of a graph in its order, as the first columns of a piece.
template <class Payload>
void copy_edges(const AnswerGraph& graph, AnswerPiece<Payload>& piece) {
  piece.reserve(graph.answer_count());
  const auto offsets = graph.task_offsets();
  for (std::uint32_t t = 0; t + 1 < offsets.size(); ++t) piece.tasks.resize(offsets[t + 1], t);
  for (const WorkerId worker : graph.workers()) piece.workers.push_back(static_cast<std::uint32_t>(worker));
}

/// Throws bad_input unless value < size: the index of a task, worker or class of one answer.
void require_index(std::size_t answer, std::size_t value, std::size_t size, const char* what);

/// Where a repeated pair stands: positions in file order, counted over all pieces.
struct RepeatedPair {
  std::uint64_t earlier;
  std::uint64_t later;
  std::uint32_t task;
  std::uint32_t worker;
};

/// The new id of each task and worker; empty lists: they keep theirs.
struct NewIds {
  std::vector<std::uint32_t> tasks;
  std::vector<std::uint32_t> workers;
};

/// Gives tasks and workers their ids in the order of their names (data/name_order.hpp). The same answers get the same
/// ids so, whatever the order of their rows, and every method the same result.
template <class Payload>
NewIds put_in_order(NameTable& tasks, NameTable& workers, std::vector<AnswerPiece<Payload>>& pieces, ThreadPool& pool);

/// Sorts answers into task order, in parallel, freeing each piece as it goes. Indices must be in range.
/// With DuplicatePolicy::reject the first repeated pairs in file order are collected into `repeated` (if given) and
/// bad_input is thrown by the caller's choice: this function throws only if `repeated` is null.
[[nodiscard]] CategoryAnswers build_category_answers(std::vector<CategoryPiece> pieces, CategoryAnswerNames names,
                                                     DuplicatePolicy policy, ThreadPool& pool, BuildReport* report,
                                                     std::vector<RepeatedPair>* repeated = nullptr);

/// The payload is the place of an answer in a list.
using ListedPiece = AnswerPiece<std::uint32_t>;

/// What was said, and when, in the order of a list; and after building, when in task order.
struct TimedLabels {
  std::vector<std::uint16_t> labels;
  std::vector<double> times;
};
/// Moves what was said from the pieces to a list; the pieces say where it stands there.
[[nodiscard]] std::vector<ListedPiece> listed_pieces(std::vector<CategoryPiece> pieces, TimedLabels& said);

/// The same for answers whose times are to be kept: those of `said` are put in the order of the answers.
[[nodiscard]] CategoryAnswers build_timed_answers(std::vector<ListedPiece> pieces, TimedLabels& said,
                                                  CategoryAnswerNames names, DuplicatePolicy policy, ThreadPool& pool,
                                                  BuildReport* report, std::vector<RepeatedPair>* repeated = nullptr);

}  // namespace wisecrowd
