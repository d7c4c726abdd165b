#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/answer_graph.hpp"

namespace wisecrowd {

/// One answer by index; `value` has a number per dimension and refers to storage of somebody else.
struct NumberAnswer {
  TaskId task;
  WorkerId worker;
  std::span<const double> value;
};

/// The crowd's answers where each is a number, or a few of them (a point has two dimensions, a box four): the graph,
/// and as many numbers per edge as there are dimensions. All are finite.
class NumberAnswers : public AnswerGraph {
 public:
  NumberAnswers();

  [[nodiscard]] std::size_t dimensions() const noexcept;
  [[nodiscard]] const NameTable& dimension_names() const noexcept;

  /// answers × dimensions, in task order.
  [[nodiscard]] std::span<const double> values() const noexcept;
  [[nodiscard]] std::span<const double> value(AnswerIndex answer) const noexcept;

  /// A 64-bit fingerprint of answers and names, the same on every machine, for any number of threads and whatever the
  /// order of rows. Computed on first use.
  [[nodiscard]] std::uint64_t content_hash() const;

  struct Column;
  NumberAnswers(AnswerGraph graph, std::shared_ptr<const Column> column);

 private:
  std::shared_ptr<const Column> column_;
};

/// Names that go with the indices of a list of answers.
struct NumberAnswerNames {
  NameTable tasks;
  NameTable workers;
  NameTable dimensions;
};

/// Builds them from answers in file order; ids stay as given. Throws bad_input when an index is out of range, a value
/// has another number of dimensions or is not finite, or when `policy` is reject and a pair is repeated.
[[nodiscard]] NumberAnswers make_number_answers(std::span<const NumberAnswer> answers, NumberAnswerNames names,
                                                DuplicatePolicy policy = DuplicatePolicy::keep_last,
                                                BuildReport* report = nullptr);

/// Collects answers by name, for programs that read no file. Ids follow the order of names ("t2" before "t10").
class NumberAnswersBuilder {
 public:
  /// One name per dimension.
  explicit NumberAnswersBuilder(std::vector<std::string> dimensions = {"value"});
  ~NumberAnswersBuilder();
  NumberAnswersBuilder(NumberAnswersBuilder&&) noexcept;
  NumberAnswersBuilder& operator=(NumberAnswersBuilder&&) noexcept;

  NumberAnswersBuilder& add(std::string_view task, std::string_view worker, double value);
  NumberAnswersBuilder& add(std::string_view task, std::string_view worker, std::span<const double> value);
  /// Makes a task known that nobody has answered.
  NumberAnswersBuilder& add_task(std::string_view task);
  /// Makes a worker known who has not answered.
  NumberAnswersBuilder& add_worker(std::string_view worker);
  [[nodiscard]] NumberAnswers build(DuplicatePolicy policy = DuplicatePolicy::keep_last,
                                    BuildReport* report = nullptr) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wisecrowd
