#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/enum_names.hpp"
#include "wisecrowd/ids.hpp"

namespace wisecrowd {

/// Names of tasks, workers or classes, kept once in one block of characters.
class NameTable {
 public:
  NameTable() = default;
  explicit NameTable(std::span<const std::string> names);
  /// `offsets` has one entry more than there are names; name i is bytes [offsets[i], offsets[i+1]).
  NameTable(std::string characters, std::vector<std::uint64_t> offsets);

  [[nodiscard]] std::size_t size() const noexcept { return offsets_.size() - 1; }
  [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
    return std::string_view(characters_).substr(offsets_[i], offsets_[i + 1] - offsets_[i]);
  }

 private:
  std::string characters_;
  std::vector<std::uint64_t> offsets_{0};
};

/// What to do when one worker answered one task more than once.
enum class DuplicatePolicy {
  keep_last,  ///< the later answer replaces the earlier one
  reject,     ///< refuse the data
  repeat,     ///< every answer counts; only for methods whose per-answer terms are additive
};
/// Python and state files write '_' for '-'; either is understood everywhere.
inline constexpr auto kDuplicatePolicyNames = enum_names<DuplicatePolicy>({{DuplicatePolicy::keep_last, "keep-last"},
                                                                           {DuplicatePolicy::reject, "reject"},
                                                                           {DuplicatePolicy::repeat, "repeat"}});
[[nodiscard]] constexpr std::string_view to_string(DuplicatePolicy policy) noexcept {
  return name_in(kDuplicatePolicyNames, policy);
}

struct BuildReport {
  std::uint64_t duplicates_dropped = 0;        ///< answers replaced by a later one (keep_last)
  std::uint64_t duplicates_contradicting = 0;  ///< of those, how many said something else
  std::uint64_t repeats = 0;                   ///< answers beyond the first of their worker and task (reject, repeat)
};

/// Who answered what: a sparse bipartite multigraph of tasks and workers, whatever the answers are. Each kind of
/// answers adds a column with one entry per edge. Immutable and validated; copies share the same storage, so passing by
/// value is cheap.
///
/// Answers are stored in task order (CSR): those of task t are the indices [task_offsets()[t], task_offsets()[t+1]) of
/// workers() and of the kind's own column, sorted by worker.
class AnswerGraph {
 public:
  AnswerGraph();

  [[nodiscard]] std::size_t task_count() const noexcept;
  [[nodiscard]] std::size_t worker_count() const noexcept;
  [[nodiscard]] std::size_t answer_count() const noexcept;

  [[nodiscard]] const NameTable& task_names() const noexcept;
  [[nodiscard]] const NameTable& worker_names() const noexcept;

  // By task.
  [[nodiscard]] std::span<const AnswerIndex> task_offsets() const noexcept;
  [[nodiscard]] std::span<const WorkerId> workers() const noexcept;
  [[nodiscard]] std::span<const WorkerId> workers_of(TaskId task) const noexcept;

  // By worker. Built on first use (8 bytes per answer) and then shared by all copies; thread-safe.
  // Within a worker, answers are in task order.
  [[nodiscard]] std::span<const AnswerIndex> worker_offsets() const;
  [[nodiscard]] std::span<const TaskId> tasks_of(WorkerId worker) const;
  /// Indices into workers() and the kind's column, parallel to tasks_of().
  [[nodiscard]] std::span<const AnswerIndex> answers_of(WorkerId worker) const;

  /// True when the data hold a repeated (task, worker) pair, which needs DuplicatePolicy::repeat.
  [[nodiscard]] bool has_repeats() const noexcept;

  struct Storage;
  explicit AnswerGraph(std::shared_ptr<const Storage> storage);

 protected:
  std::shared_ptr<const Storage> graph_;
};

}  // namespace wisecrowd
