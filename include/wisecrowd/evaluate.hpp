#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/category_data.hpp"
#include "wisecrowd/category_fit.hpp"
#include "wisecrowd/estimate.hpp"

namespace wisecrowd {

struct EvaluateOptions {
  TieRule tie_rule = TieRule::lowest;  ///< fractional gives credit 1/t to a gold class among t tied ones
  std::size_t bootstrap = 1000;        ///< resamples of tasks; 0 for no intervals at all
  double confidence_level = 0.95;
  std::size_t calibration_bins = 15;  ///< equal-width bins of the top probability, for ECE
};

/// What labels would be worth if only the surest were kept.
struct CoveragePoint {
  double coverage = 0;   ///< share of the scored tasks that is kept
  double accuracy = 0;   ///< on those
  double threshold = 0;  ///< the least probability among them
};

struct Evaluation {
  std::size_t tasks = 0;      ///< tasks with both a prediction and gold; all measures are over them
  std::size_t abstained = 0;  ///< tasks with gold but without a prediction
  [[nodiscard]] double coverage() const noexcept {
    return static_cast<double>(tasks) / static_cast<double>(tasks + abstained);
  }
  Estimate accuracy;
  /// Mean over the classes that occur in gold or prediction of F1 = 2·TP / (predicted + gold); a class that is never
  /// right counts 0.
  Estimate macro_f1;
  // Only with probabilities.
  std::optional<Estimate>
      log_loss;  ///< mean of −ln p(gold) in nats; p is floored at 1e-12, so that one 0 is not infinite
  std::optional<Estimate> brier;     ///< Σ_k (p_k − 1[k = gold])², mean over tasks
  std::optional<Estimate> ece;       ///< Σ over bins of their share of tasks × |accuracy − mean top probability|
  std::vector<CoveragePoint> curve;  ///< for the surest 50, 70, 80, 90, 95 and 100 % of the tasks
};

/// Scores predictions against gold. Both have one entry per task, kNoClass where unknown; `posterior` is tasks ×
/// classes or empty. With the fractional tie rule (it needs the posterior) the top classes, within 1e-9, share the
/// prediction.
///
/// The interval of accuracy is Wilson's, the others are percentiles of a bootstrap over tasks. Beyond 16384 tasks,
/// random groups of tasks of (nearly) equal size are resampled instead of single ones: the same width up to about half
/// a percent, at a cost that no longer grows. The same seed gives the same intervals for any number of threads.
/// Cancelled, it leaves the intervals NaN.
[[nodiscard]] Evaluation evaluate(std::span<const ClassId> predicted, std::span<const double> posterior,
                                  std::span<const ClassId> gold, std::size_t class_count,
                                  const EvaluateOptions& options, const RunContext& context);

/// min, quartiles (linear between neighbours), mean and max of a count.
struct Distribution {
  double minimum = 0, lower_quartile = 0, median = 0, mean = 0, upper_quartile = 0, maximum = 0;
};

/// Who answered how much, whatever the answers are.
struct GraphDescription {
  std::size_t tasks = 0, workers = 0, answers = 0;
  std::size_t unanswered_tasks = 0, silent_workers = 0;
  std::size_t single_answer_tasks = 0;          ///< tasks with exactly one answer
  std::size_t workers_below_three_answers = 0;  ///< of those who answered at all
  Distribution answers_per_task;                ///< over all tasks, unanswered ones too
  Distribution answers_per_worker;              ///< over all workers, silent ones too
  // Parts of the worker–task graph, unanswered tasks and silent workers left out.
  std::size_t components = 0;
  std::size_t largest_component_tasks = 0, largest_component_workers = 0;  ///< the one with most tasks
};
[[nodiscard]] GraphDescription describe_graph(const AnswerGraph& answers);

/// What the answers look like before any method is run.
struct Description : GraphDescription {
  std::size_t classes = 0;
  std::vector<std::uint64_t> answers_per_class;
  // Agreement over tasks with at least two answers; NaN where undefined (there is none, or only one class is ever
  // said).
  double krippendorff_alpha = 0;  ///< nominal; any number of answers per task
  /// Generalised to varying numbers of answers: observed agreement is the mean over tasks of their agreeing pairs'
  /// share, chance agreement comes from the pooled class shares. With equal numbers it is Fleiss' own.
  double fleiss_kappa = 0;
  double pairwise_agreement = 0;  ///< share of agreeing pairs of answers to the same task, all pairs pooled
  double unanimous_share = 0;     ///< of tasks with at least two answers
  std::vector<Warning> warnings;
};

/// One pass over the answers.
[[nodiscard]] Description describe(const CategoryAnswers& answers);

/// Warnings about the data that hold for any method: one answer per task, disconnected parts, classes never used, ….
[[nodiscard]] std::vector<Warning> identifiability_warnings(const Description& description,
                                                            const CategoryAnswers& answers);

}  // namespace wisecrowd
