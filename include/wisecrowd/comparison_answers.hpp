#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/answer_graph.hpp"
#include "wisecrowd/enum_names.hpp"

namespace wisecrowd {

/// What is compared. Values are dense and start at 0.
enum class ItemId : std::uint32_t {};

/// What a worker said of the two items that it was shown.
enum class Outcome : std::uint8_t { left, right, tie };
inline constexpr auto kOutcomeNames =
    enum_names<Outcome>({{Outcome::left, "left"}, {Outcome::right, "right"}, {Outcome::tie, "tie"}});
[[nodiscard]] constexpr std::string_view to_string(Outcome outcome) noexcept { return name_in(kOutcomeNames, outcome); }
/// The same outcome seen from the other side.
[[nodiscard]] constexpr Outcome mirrored(Outcome outcome) noexcept {
  return outcome == Outcome::tie ? outcome : outcome == Outcome::left ? Outcome::right : Outcome::left;
}

/// One answer by index. The task is the pair {left, right}, whichever side each was shown on.
struct ComparisonAnswer {
  TaskId task;
  WorkerId worker;
  ItemId left, right;
  Outcome outcome;
};

/// Two items that were compared; `first` is the one with the lower id.
struct ItemPair {
  ItemId first, second;
  friend bool operator==(const ItemPair&, const ItemPair&) = default;
};

/// The crowd's answers where each says which of two items is better: a graph that joins workers to pairs of items, and
/// per edge the side on which each was shown and what was said. Pairs are in the order of their items; their names are
/// those of their items, so task_names() are blank.
class ComparisonAnswers : public AnswerGraph {
 public:
  ComparisonAnswers();

  [[nodiscard]] std::size_t item_count() const noexcept;
  [[nodiscard]] const NameTable& item_names() const noexcept;
  /// One per task.
  [[nodiscard]] std::span<const ItemPair> pairs() const noexcept;
  [[nodiscard]] const ItemPair& pair(TaskId task) const noexcept { return pairs()[index(task)]; }

  /// One code per answer, in task order: the outcome as if `first` had been shown on the left, and 4 where it was shown
  /// on the right.
  [[nodiscard]] std::span<const std::uint8_t> codes() const noexcept;
  static constexpr std::uint8_t kSwapped = 4;
  /// `left`: the pair's first item is better.
  [[nodiscard]] static constexpr Outcome outcome_of(std::uint8_t code) noexcept {
    return static_cast<Outcome>(code & 3U);
  }
  /// The first item was shown on the right.
  [[nodiscard]] static constexpr bool swapped(std::uint8_t code) noexcept { return (code & kSwapped) != 0; }

  /// As it was shown and said.
  [[nodiscard]] ComparisonAnswer answer(TaskId task, AnswerIndex answer) const noexcept;

  /// False for files that name the chosen and the rejected item: nobody knows on which side each was shown.
  [[nodiscard]] bool sides_known() const noexcept;

  /// A 64-bit fingerprint of answers and names, the same on every machine, for any number of threads and whatever the
  /// order of rows. Computed on first use.
  [[nodiscard]] std::uint64_t content_hash() const;

  struct Column;
  ComparisonAnswers(AnswerGraph graph, std::shared_ptr<const Column> column);

 private:
  std::shared_ptr<const Column> column_;
};

/// Names that go with the indices of a list of answers.
struct ComparisonAnswerNames {
  NameTable items;
  NameTable workers;
};

/// Builds them from answers in file order; ids of items and workers stay as given, tasks follow from the items. Throws
/// bad_input when an index is out of range or an item is compared with itself.
[[nodiscard]] ComparisonAnswers make_comparison_answers(std::span<const ComparisonAnswer> answers,
                                                        ComparisonAnswerNames names,
                                                        DuplicatePolicy policy = DuplicatePolicy::repeat,
                                                        BuildReport* report = nullptr, bool sides_known = true);

/// The pairs of `answers` with other answers to them: for those who hide answers, or draw new ones. Answers must be in
/// the order of tasks and name tasks of `answers`.
[[nodiscard]] ComparisonAnswers with_answers(const ComparisonAnswers& answers,
                                             std::span<const ComparisonAnswer> others);

/// Collects answers by name, for programs that read no file. Ids follow the order of names ("t2" before "t10").
class ComparisonAnswersBuilder {
 public:
  ComparisonAnswersBuilder();
  ~ComparisonAnswersBuilder();
  ComparisonAnswersBuilder(ComparisonAnswersBuilder&&) noexcept;
  ComparisonAnswersBuilder& operator=(ComparisonAnswersBuilder&&) noexcept;

  ComparisonAnswersBuilder& add(std::string_view worker, std::string_view left, std::string_view right,
                                Outcome outcome);
  /// Makes an item known that was compared with none.
  ComparisonAnswersBuilder& add_item(std::string_view item);
  /// Every answer of a worker to a pair counts by default: people see the same two items in several settings.
  [[nodiscard]] ComparisonAnswers build(DuplicatePolicy policy = DuplicatePolicy::repeat,
                                        BuildReport* report = nullptr) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wisecrowd
