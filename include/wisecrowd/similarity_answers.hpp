#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/answer_graph.hpp"

namespace wisecrowd {

/// Two different items by index, the lower one first: a pair has no direction.
struct SimilarPair {
  std::uint32_t left = 0, right = 0;
  auto operator<=>(const SimilarPair&) const = default;
};

/// One answer by index: whether the items of a pair are the same.
struct SimilarityAnswer {
  TaskId task;  ///< the pair
  WorkerId worker;
  bool same = false;
};

/// The crowd's answers where each says whether two items are the same or different. The tasks of the graph are the
/// pairs, in the order of their items; they have no names of their own.
class SimilarityAnswers : public AnswerGraph {
 public:
  SimilarityAnswers();

  [[nodiscard]] std::size_t item_count() const noexcept;
  [[nodiscard]] const NameTable& item_names() const noexcept;
  /// One per task, sorted.
  [[nodiscard]] std::span<const SimilarPair> pairs() const noexcept;
  /// One per answer, in task order: 1 for the same, 0 for different.
  [[nodiscard]] std::span<const std::uint8_t> same() const noexcept;

  /// A 64-bit fingerprint of answers and names, the same on every machine, for any number of threads and whatever the
  /// order of rows or of the items in a pair. Computed on first use.
  [[nodiscard]] std::uint64_t content_hash() const;

  struct Column;
  SimilarityAnswers(AnswerGraph graph, std::shared_ptr<const Column> column);

 private:
  std::shared_ptr<const Column> column_;
};

/// The same pairs, items and workers with other answers to them: for those who hide some.
[[nodiscard]] SimilarityAnswers with_answers(const SimilarityAnswers& all, std::span<const SimilarityAnswer> answers);

/// Collects answers by name, for programs that read no file. Ids follow the order of names ("t2" before "t10").
class SimilarityAnswersBuilder {
 public:
  SimilarityAnswersBuilder();
  ~SimilarityAnswersBuilder();
  SimilarityAnswersBuilder(SimilarityAnswersBuilder&&) noexcept;
  SimilarityAnswersBuilder& operator=(SimilarityAnswersBuilder&&) noexcept;

  /// Throws bad_input when both items are the same one.
  SimilarityAnswersBuilder& add(std::string_view worker, std::string_view left, std::string_view right, bool same);
  /// Makes an item known that nobody has compared.
  SimilarityAnswersBuilder& add_item(std::string_view item);
  /// Makes a worker known who has not answered.
  SimilarityAnswersBuilder& add_worker(std::string_view worker);
  [[nodiscard]] SimilarityAnswers build(DuplicatePolicy policy = DuplicatePolicy::keep_last,
                                        BuildReport* report = nullptr) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wisecrowd
