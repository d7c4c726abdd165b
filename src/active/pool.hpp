#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/rng.hpp"
#include "wisecrowd/category_answers.hpp"

namespace wisecrowd::dalc_loop {

/// Recorded answers that can be bought, each once.
class Pool {
 public:
  Pool(const CategoryAnswers& answers, std::span<const TaskId> tasks);

  /// Tasks of the pool that may be asked about: with an answer left and, unless repeats are allowed, none bought.
  [[nodiscard]] std::vector<TaskId> open_tasks(bool repeats) const;
  [[nodiscard]] std::size_t answers_left() const noexcept { return left_count_; }

  /// Which of the answers left to a task is bought; candidates are never empty.
  using Choice = std::function<std::size_t(TaskId task, std::span<const WorkerId> candidates)>;
  /// Goes through the tasks in the given order and buys one answer to each, until there are `count`. No worker is asked
  /// more than `capacity` times (0: no limit); a task all of whose workers are busy is passed over.
  [[nodiscard]] std::vector<CategoryAnswer> buy(std::span<const TaskId> order, std::size_t count, std::size_t capacity,
                                                const Choice& choose);
  /// Everything that is left.
  [[nodiscard]] std::vector<CategoryAnswer> rest() const;

 private:
  [[nodiscard]] CategoryAnswer answer(std::size_t task, std::uint64_t place) const;

  CategoryAnswers answers_;
  std::vector<TaskId> tasks_;
  std::vector<std::vector<std::uint64_t>> left_;  // per task of tasks_: places in the answers
  std::vector<bool> bought_;
  std::vector<std::uint32_t> number_;  // of a task in tasks_
  std::size_t left_count_ = 0;
};

/// Picks `count` of the rows of `points` (rows × width) far from each other: k-means++, the first at random, each
/// further one with probability proportional to its squared distance from the nearest picked.
[[nodiscard]] std::vector<std::size_t> spread_out(std::span<const float> points, std::size_t rows, std::size_t count,
                                                  Rng rng);

/// Accuracy and area under the ROC curve of probabilities (rows × classes); with more than two classes the mean over
/// those that occur of one against the rest. Ties count half. NaN where only one class occurs.
struct Score {
  double accuracy = 0, auc = 0;
};
[[nodiscard]] Score score(std::span<const double> probabilities, std::span<const ClassId> truth, std::size_t classes);

}  // namespace wisecrowd::dalc_loop
