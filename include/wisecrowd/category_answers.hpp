#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/answer_graph.hpp"

namespace wisecrowd {

/// One answer in file order, by index.
struct CategoryAnswer {
  TaskId task;
  WorkerId worker;
  ClassId label;
};

/// The crowd's answers where each is a class out of a list: the graph, and a class per edge.
class CategoryAnswers : public AnswerGraph {
 public:
  CategoryAnswers();

  [[nodiscard]] std::size_t class_count() const noexcept;
  [[nodiscard]] const NameTable& class_names() const noexcept;

  /// What was said, in task order.
  [[nodiscard]] std::span<const ClassId> labels() const noexcept;
  [[nodiscard]] std::span<const ClassId> labels_of(TaskId task) const noexcept;

  /// A 64-bit fingerprint of answers, names and classes, the same on every machine, for any number
  /// of threads and whatever the order of rows. Computed on first use.
  [[nodiscard]] std::uint64_t content_hash() const;

  struct Column;
  CategoryAnswers(AnswerGraph graph, std::shared_ptr<const Column> column);

 private:
  std::shared_ptr<const Column> column_;
};

/// Names that go with the indices of a list of answers.
struct CategoryAnswerNames {
  NameTable tasks;
  NameTable workers;
  NameTable classes;
};

/// Builds them from answers in file order; ids stay as given. Throws bad_input when an index is
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
