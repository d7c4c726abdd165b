#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// One answer in file order, by index.
struct CategoryAnswer {
  TaskId task;
  WorkerId worker;
  ClassId label;
};

/// The crowd's answers: a sparse bipartite multigraph of tasks and workers whose edges carry a
/// label. Immutable and validated; copies share the same storage, so passing by value is cheap.
///
/// Answers are stored in task order (CSR): those of task t are the indices
/// [task_offsets()[t], task_offsets()[t+1]) of workers() and labels(), sorted by worker.
class CategoryAnswers {
 public:
  CategoryAnswers();

  [[nodiscard]] std::size_t task_count() const noexcept;
  [[nodiscard]] std::size_t worker_count() const noexcept;
  [[nodiscard]] std::size_t class_count() const noexcept;
  [[nodiscard]] std::size_t answer_count() const noexcept;

  [[nodiscard]] const NameTable& task_names() const noexcept;
  [[nodiscard]] const NameTable& worker_names() const noexcept;
  [[nodiscard]] const NameTable& class_names() const noexcept;

  // By task.
  [[nodiscard]] std::span<const AnswerIndex> task_offsets() const noexcept;
  [[nodiscard]] std::span<const WorkerId> workers() const noexcept;
  [[nodiscard]] std::span<const ClassId> labels() const noexcept;
  [[nodiscard]] std::span<const WorkerId> workers_of(TaskId task) const noexcept;
  [[nodiscard]] std::span<const ClassId> labels_of(TaskId task) const noexcept;

  // By worker. Built on first use (8 bytes per answer) and then shared by all copies; thread-safe.
  // Within a worker, answers are in task order.
  [[nodiscard]] std::span<const AnswerIndex> worker_offsets() const;
  [[nodiscard]] std::span<const TaskId> tasks_of(WorkerId worker) const;
  /// Indices into workers() and labels(), parallel to tasks_of().
  [[nodiscard]] std::span<const AnswerIndex> answers_of(WorkerId worker) const;

  /// True when the data hold a repeated (task, worker) pair, which needs DuplicatePolicy::repeat.
  [[nodiscard]] bool has_repeats() const noexcept;

  /// A 64-bit fingerprint of answers, names and classes, the same on every machine, for any number
  /// of threads and whatever the order of rows. Computed on first use.
  [[nodiscard]] std::uint64_t content_hash() const;

  struct Storage;
  explicit CategoryAnswers(std::shared_ptr<const Storage> storage);

 private:
  std::shared_ptr<const Storage> storage_;
};

/// Names that go with the indices of a list of answers.
struct CategoryAnswerNames {
  NameTable tasks;
  NameTable workers;
  NameTable classes;
};

struct BuildReport {
  std::uint64_t duplicates_dropped = 0;        ///< answers replaced by a later one (keep_last)
  std::uint64_t duplicates_contradicting = 0;  ///< of those, how many said something else
  std::uint64_t repeats = 0;                   ///< answers beyond the first of their worker and task (reject, repeat)
};

/// Builds annotations from answers in file order; ids stay as given. Throws bad_input when an index is
/// out of range, or when `policy` is reject and a pair is repeated.
[[nodiscard]] CategoryAnswers make_category_answers(std::span<const CategoryAnswer> answers, CategoryAnswerNames names,
                                                    DuplicatePolicy policy = DuplicatePolicy::keep_last,
                                                    BuildReport* report = nullptr);

/// Collects answers by name, for programs that read no file. Ids follow the order of names ("t2" before "t10").
class CategoryAnswersBuilder {
 public:
  CategoryAnswersBuilder();
  /// With a class list, a label outside of it is refused; without, classes are taken from the
  /// answers and sorted (numerically if all are integers, else alphabetically).
  explicit CategoryAnswersBuilder(std::vector<std::string> classes);
  ~CategoryAnswersBuilder();
  CategoryAnswersBuilder(CategoryAnswersBuilder&&) noexcept;
  CategoryAnswersBuilder& operator=(CategoryAnswersBuilder&&) noexcept;

  CategoryAnswersBuilder& add(std::string_view task, std::string_view worker, std::string_view label);
  /// Makes a task known that nobody has answered.
  CategoryAnswersBuilder& add_task(std::string_view task);
  /// Makes a worker known who has not answered.
  CategoryAnswersBuilder& add_worker(std::string_view worker);
  [[nodiscard]] CategoryAnswers build(DuplicatePolicy policy = DuplicatePolicy::keep_last,
                                      BuildReport* report = nullptr) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The order in which classes get their ids: numeric if all are integers, else by bytes.
[[nodiscard]] std::vector<std::uint32_t> class_order(std::span<const std::string_view> names);

}  // namespace wisecrowd
