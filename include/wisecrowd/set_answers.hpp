#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/answer_graph.hpp"

namespace wisecrowd {

/// One answer by index; `classes` are those that the worker chose, in ascending order and each once, and refer to
/// storage of somebody else. None at all is an answer, too: none of these.
struct SetAnswer {
  TaskId task;
  WorkerId worker;
  std::span<const ClassId> classes;
};

/// The crowd's answers where each is a set of classes (tags, diagnoses): the graph, and the chosen classes of every
/// edge, one after the other.
class SetAnswers : public AnswerGraph {
 public:
  SetAnswers();

  [[nodiscard]] std::size_t class_count() const noexcept;
  [[nodiscard]] const NameTable& class_names() const noexcept;

  /// The classes of answer a are [set_offsets()[a], set_offsets()[a + 1]) of members(), in ascending order.
  [[nodiscard]] std::span<const std::uint64_t> set_offsets() const noexcept;
  [[nodiscard]] std::span<const ClassId> members() const noexcept;
  [[nodiscard]] std::span<const ClassId> set(AnswerIndex answer) const noexcept {
    const auto offsets = set_offsets();
    return members().subspan(offsets[answer], offsets[answer + 1] - offsets[answer]);
  }

  /// A 64-bit fingerprint of answers and names, the same on every machine, for any number of threads and whatever the
  /// order of rows. Computed on first use.
  [[nodiscard]] std::uint64_t content_hash() const;

  struct Column;
  SetAnswers(AnswerGraph graph, std::shared_ptr<const Column> column);

 private:
  std::shared_ptr<const Column> column_;
};

/// Names that go with the indices of a list of answers.
struct SetAnswerNames {
  NameTable tasks;
  NameTable workers;
  NameTable classes;
};

/// Builds them from answers in file order; ids stay as given. Throws bad_input when an index is out of range, when the
/// classes of an answer do not ascend, or when `policy` is reject and a pair is repeated.
[[nodiscard]] SetAnswers make_set_answers(std::span<const SetAnswer> answers, SetAnswerNames names,
                                          DuplicatePolicy policy = DuplicatePolicy::keep_last,
                                          BuildReport* report = nullptr);

/// Collects answers by name, for programs that read no file. Ids follow the order of names ("t2" before "t10").
class SetAnswersBuilder {
 public:
  /// The classes in their order; empty: those that answers name, in the order of classes (numbers as numbers).
  explicit SetAnswersBuilder(std::vector<std::string> classes = {});
  ~SetAnswersBuilder();
  SetAnswersBuilder(SetAnswersBuilder&&) noexcept;
  SetAnswersBuilder& operator=(SetAnswersBuilder&&) noexcept;

  /// A class that is named twice counts once. Throws bad_input at a class that is not in the list.
  SetAnswersBuilder& add(std::string_view task, std::string_view worker, const std::vector<std::string>& classes);
  /// Makes a task known that nobody has answered.
  SetAnswersBuilder& add_task(std::string_view task);
  /// Makes a worker known who has not answered.
  SetAnswersBuilder& add_worker(std::string_view worker);
  [[nodiscard]] SetAnswers build(DuplicatePolicy policy = DuplicatePolicy::keep_last,
                                 BuildReport* report = nullptr) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wisecrowd
