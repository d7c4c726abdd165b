#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/dataset.hpp"

namespace wisecrowd {

/// A measured value with a bootstrap interval.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct EvaluateOptions {
  TieRule tie_rule = TieRule::lowest;  ///< fractional gives credit 1/t to a gold class among t tied ones
  std::size_t bootstrap = 1000;        ///< resamples of tasks; 0 for no intervals
  double confidence_level = 0.95;
  std::size_t calibration_bins = 15;  ///< equal-width bins of the top probability, for ECE
};

struct Evaluation {
  std::size_t tasks = 0;  ///< tasks with both a prediction and gold
  Estimate accuracy;
  Estimate macro_f1;  ///< over classes that occur in gold or prediction
  // Only with probabilities.
  std::optional<Estimate> log_loss;
  std::optional<Estimate> brier;  ///< Σ_k (p_k − 1[k = gold])², mean over tasks
  std::optional<Estimate> ece;
};

/// Scores predictions against gold. `gold` has kNoClass where unknown; `posterior` is tasks × classes or empty.
[[nodiscard]] Evaluation evaluate(std::span<const ClassId> predicted, std::span<const double> posterior,
                                  std::span<const ClassId> gold, std::size_t class_count,
                                  const EvaluateOptions& options, const RunContext& context);

/// min, quartiles, mean and max of a count.
struct Distribution {
  double minimum = 0, lower_quartile = 0, median = 0, mean = 0, upper_quartile = 0, maximum = 0;
};

/// What the answers look like before any method is run.
struct Description {
  std::size_t tasks = 0, workers = 0, classes = 0, answers = 0;
  std::size_t unanswered_tasks = 0, silent_workers = 0;
  Distribution answers_per_task;
  Distribution answers_per_worker;
  std::vector<std::uint64_t> answers_per_class;
  // Agreement; NaN where undefined (no task with two answers).
  double krippendorff_alpha = 0;  ///< nominal; any number of answers per task
  double fleiss_kappa = 0;        ///< generalised to varying numbers of answers
  double pairwise_agreement = 0;  ///< share of agreeing pairs of answers to the same task, all pairs pooled
  double unanimous_share = 0;     ///< of tasks with at least two answers
  // The worker–task graph, unanswered tasks and silent workers left out.
  std::size_t components = 0;
  std::size_t largest_component_tasks = 0, largest_component_workers = 0;
  std::vector<Warning> warnings;
};

[[nodiscard]] Description describe(const Annotations& answers);

/// Warnings about the data that hold for any method: one answer per task, disconnected parts, classes never used, ….
[[nodiscard]] std::vector<Warning> identifiability_warnings(const Description& description, const Annotations& answers);

}  // namespace wisecrowd
