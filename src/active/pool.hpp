#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.hpp"
#include "wisecrowd/category_answers.hpp"

namespace wisecrowd::dalc_loop {

/// Recorded answers that can be bought, each once.
class Pool {
 public:
  /// `order` is where each task stands in lists (its row), so that they do not depend on the order of the record.
  Pool(const CategoryAnswers& answers, std::span<const TaskId> tasks, std::span<const std::uint32_t> order);

  /// From now on these workers and tasks are unknown, until they appear.
  void hide(std::vector<bool> workers, std::vector<bool> tasks);
  void show_all();
  [[nodiscard]] bool hides() const noexcept { return !hidden_workers_.empty() || !hidden_tasks_.empty(); }

  /// Tasks of the pool that may be asked about: with an answer left and, unless repeats are allowed, none bought.
  [[nodiscard]] std::vector<TaskId> open_tasks(bool repeats) const;
  /// Workers whose answer to the task is left, in the order of their names.
  void askable(TaskId task, std::vector<WorkerId>& workers) const;
  /// The answer, which is taken out; `bought`: it counts as an answer to the task. Of a worker who does not answer it
  /// is lost.
  CategoryAnswer take(TaskId task, WorkerId worker, bool bought);
  [[nodiscard]] std::size_t answers_left() const noexcept { return left_count_; }
  /// Everything that is left.
  [[nodiscard]] std::vector<CategoryAnswer> rest() const;

 private:
  [[nodiscard]] CategoryAnswer answer(std::size_t task, std::uint64_t place) const;

  CategoryAnswers answers_;
  std::vector<TaskId> tasks_;
  std::vector<std::vector<std::uint64_t>> left_;  // per task of tasks_: places in the answers, by names of workers
  std::vector<bool> bought_;
  std::vector<std::uint32_t> number_;  // of a task in tasks_
  std::vector<bool> hidden_workers_, hidden_tasks_;
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
