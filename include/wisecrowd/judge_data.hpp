#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/answer_graph.hpp"
#include "wisecrowd/comparison_answers.hpp"
#include "wisecrowd/enum_names.hpp"
#include "wisecrowd/ids.hpp"

// Answers of people and of machines to the same tasks, with what is known of those who gave them.

namespace wisecrowd {

enum class WorkerKind : std::uint8_t { human, machine };
inline constexpr auto kWorkerKindNames =
    enum_names<WorkerKind>({{WorkerKind::human, "human"}, {WorkerKind::machine, "machine"}});
[[nodiscard]] constexpr std::string_view to_string(WorkerKind kind) noexcept { return name_in(kWorkerKindNames, kind); }

/// What is said of a task.
enum class JudgedKind : std::uint8_t {
  categories,   ///< one of some classes
  ordered,      ///< the same, where the order of classes means something: scores
  comparisons,  ///< which of two items is better, or neither
};
inline constexpr auto kJudgedKindNames = enum_names<JudgedKind>({{JudgedKind::categories, "categories"},
                                                                 {JudgedKind::ordered, "ordered"},
                                                                 {JudgedKind::comparisons, "comparisons"}});
[[nodiscard]] constexpr std::string_view to_string(JudgedKind kind) noexcept { return name_in(kJudgedKindNames, kind); }

/// What is known of a worker beside its answers.
struct JudgeInfo {
  WorkerKind kind = WorkerKind::human;
  std::string family;                                       ///< those of one family may err together; empty: on its own
  std::string version;                                      ///< of a machine, by which its family is put in order
  bool family_found = false;                                ///< the family was found by how it answers, not named
  double price = std::numeric_limits<double>::quiet_NaN();  ///< of one answer
};

/// One answer, hard or as probabilities.
struct JudgeAnswer {
  static constexpr std::uint32_t kHard = 0xFFFFFFFF;
  TaskId task{};
  WorkerId worker{};
  ClassId said = kNoClass;              ///< with probabilities: the most probable class
  std::uint32_t probabilities = kHard;  ///< its row in JudgeData::log_probabilities
  bool swapped = false;                 ///< comparisons: the pair's first item was shown on the right
};

/// Of comparisons, a task is a question with two items. Its classes are, in this order: the first item is better, the
/// second is, neither; the first is the one whose name comes first.
struct JudgeData {
  JudgedKind kind = JudgedKind::categories;
  NameTable tasks, workers, classes;
  std::vector<JudgeInfo> judges;          ///< per worker
  std::vector<JudgeAnswer> answers;       ///< in the order of tasks, then workers, then rows
  std::vector<double> log_probabilities;  ///< rows × classes; each sums to 1 as probabilities
  std::vector<ClassId> gold;              ///< per task, kNoClass where unknown; or empty

  // Comparisons.
  NameTable items;
  std::vector<ItemPair> pairs;     ///< per task
  std::vector<std::string> asked;  ///< per task: the question; empty if there is only one
  bool sides_known = true;         ///< who was shown on which side

  // What judges may favour. Empty where it is not known.
  /// Per task; comparisons: first against second, as the binary logarithm of the ratio of lengths where all are
  /// positive, else as a difference in standard deviations. NaN where unknown.
  std::vector<double> length;
  bool length_is_ratio = false;
  std::vector<std::string> item_family;  ///< who made it: per item of comparisons, else per task

  [[nodiscard]] std::size_t class_count() const noexcept { return classes.size(); }
  [[nodiscard]] ClassId gold_of(TaskId task) const noexcept { return gold.empty() ? kNoClass : gold[index(task)]; }
  [[nodiscard]] bool is_machine(WorkerId worker) const { return judges[index(worker)].kind == WorkerKind::machine; }
};

/// Throws bad_input unless everything fits together: sizes, ranges, order of answers, probabilities.
void validate(const JudgeData& data);

}  // namespace wisecrowd
