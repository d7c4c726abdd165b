#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/evaluate.hpp"

namespace wisecrowd {

/// The sums from which every measure is computed; they add up over tasks, so a resample is a weighted sum of them.
///
/// Laid out in one array of slots: tasks, credit, log-loss, Brier, then (tasks, credit, top probability) per
/// calibration bin, then (right, predicted, gold) per class.
class ScoreLayout {
 public:
  ScoreLayout(std::size_t classes, std::size_t bins) : classes_(classes), bins_(bins) {}

  static constexpr std::size_t kTasks = 0, kCredit = 1, kLogLoss = 2, kBrier = 3;
  [[nodiscard]] std::size_t bin(std::size_t b) const noexcept { return 4 + 3 * b; }
  [[nodiscard]] std::size_t of_class(std::size_t k) const noexcept { return 4 + 3 * bins_ + 3 * k; }
  [[nodiscard]] std::size_t slots() const noexcept { return 4 + 3 * bins_ + 3 * classes_; }
  [[nodiscard]] std::size_t classes() const noexcept { return classes_; }
  [[nodiscard]] std::size_t bins() const noexcept { return bins_; }

 private:
  std::size_t classes_;
  std::size_t bins_;
};

/// What is added to one slot.
struct ScoreTerm {
  std::uint32_t slot;
  double value;
};

/// One point in the space of measures.
struct Measures {
  double accuracy = 0, macro_f1 = 0, log_loss = 0, brier = 0, ece = 0;
};

[[nodiscard]] Measures measures_of(const ScoreLayout& layout, std::span<const double> sums);

/// Predictions to be scored; see evaluate().
struct Predictions {
  std::span<const ClassId> predicted;
  std::span<const double> posterior;
  std::span<const ClassId> gold;
  bool fractional = false;
};

/// Appends what task t contributes. The task has a prediction and gold.
void score_task(const ScoreLayout& layout, const Predictions& predictions, std::size_t task,
                std::vector<ScoreTerm>& terms);

}  // namespace wisecrowd
