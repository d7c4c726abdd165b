#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "base/huge_vector.hpp"
#include "base/parallel.hpp"
#include "wisecrowd/category_answers.hpp"

namespace wisecrowd {

struct CategoryAnswers::Storage {
  CategoryAnswerNames names;
  HugeVector<AnswerIndex> task_offsets;
  HugeVector<WorkerId> workers;
  HugeVector<ClassId> labels;
  bool has_repeats = false;

  // By worker, on demand.
  mutable std::once_flag by_worker_once;
  mutable HugeVector<AnswerIndex> worker_offsets;
  mutable HugeVector<TaskId> worker_tasks;
  mutable HugeVector<AnswerIndex> worker_answers;

  mutable std::once_flag hash_once;
  mutable std::uint64_t hash = 0;
};

/// Answers in file order as columns; a reader hands over one piece per stretch of its input.
struct AnswerPiece {
  HugeVector<std::uint32_t> tasks;
  HugeVector<std::uint32_t> workers;
  HugeVector<std::uint16_t> labels;
  [[nodiscard]] std::size_t size() const noexcept { return tasks.size(); }
};

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
NewIds put_in_order(CategoryAnswerNames& names, std::vector<AnswerPiece>& pieces, ThreadPool& pool);

/// Sorts answers into task order, in parallel, freeing each piece as it goes. Indices must be in range.
/// With DuplicatePolicy::reject the first repeated pairs in file order are collected into `repeated` (if given) and
/// bad_input is thrown by the caller's choice: this function throws only if `repeated` is null.
[[nodiscard]] CategoryAnswers build_annotations(std::vector<AnswerPiece> pieces, CategoryAnswerNames names,
                                                DuplicatePolicy policy, ThreadPool& pool, BuildReport* report,
                                                std::vector<RepeatedPair>* repeated = nullptr);

}  // namespace wisecrowd
