#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wisecrowd/category_data.hpp"
#include "wisecrowd/category_fit.hpp"
#include "wisecrowd/parameters.hpp"
#include "wisecrowd/select.hpp"
#include "wisecrowd/worker_tables.hpp"

namespace wisecrowd {

/// Whom a replay asks.
struct ReplayWorld {
  /// Recorded answers: only these pairs can be asked. For a simulated world the names of tasks, workers and classes
  /// alone count.
  CategoryAnswers answers;
  std::vector<ClassId> truth;  ///< one per task, kNoClass where unknown: accuracy is measured on the others
  /// Workers × truth × label: with tables every worker can be asked on every task, and answers by its table. Then the
  /// truth of every task must be known.
  std::vector<double> tables;
  [[nodiscard]] bool is_simulated() const noexcept { return !tables.empty(); }
};

/// Labels from the answers so far: an aggregator chosen by the caller. `start` is the posterior of the round before.
using Refit =
    std::function<CategoryFit(const CategoryData& data, const CategoryStart& start, const RunContext& context)>;

/// A selector with its parameters, and the name under which its curve is shown.
struct Policy {
  std::string name;
  std::string selector;
  Parameters parameters;
};

struct ReplayOptions {
  std::size_t seeds = 10;  ///< repetitions with other chance
  /// Answers bought between two fits; 0: a fiftieth of all. They are asked in batches, between which posteriors follow
  /// the answers by the tables of the last fit.
  std::size_t answers_per_round = 0;
  double largest_batch = 0.1;  ///< as a share of the tasks
  /// Where to stop; 0: when everything recorded is bought, or, in a simulated world, at ten answers per task.
  std::size_t most_answers = 0;
  /// The first so many answers per task come from random workers, the same for all policies.
  std::size_t random_answers_per_task = 0;
  /// What a worker's table is worth before it has answered: so many answers per row, shaped like what the aggregator
  /// says of that worker.
  double prior_strength = TablePrior{}.answers;
  bool warm_start = false;          ///< give the last posterior to the aggregator
  std::vector<WorkerOffer> offers;  ///< one per worker, or empty
  /// How far below the accuracy of all answers still counts as the same; one saving is told for each.
  std::vector<double> slacks = {0, 0.005};
  double confidence_level = 0.95;  ///< of the intervals over seeds
  std::size_t bootstrap = 2000;    ///< resamples of seeds for the interval of a saving
};

/// One policy's way: accuracy after so many answers. Seeds whose policy stopped asking keep what they had.
struct ReplayCurve {
  std::string policy;
  std::vector<double> answers, cost;         ///< means over seeds
  std::vector<double> accuracy, low, high;   ///< mean over seeds and its interval
  std::vector<std::vector<double>> by_seed;  ///< accuracy, seeds × points
  std::vector<std::vector<double>> answers_by_seed;
  double area = 0;          ///< mean height of the curve
  std::size_t stopped = 0;  ///< seeds in which the policy stopped asking before everything was asked
};

/// "With this policy you would have reached the same accuracy with so many fewer answers."
struct Saving {
  std::string policy;
  double slack = 0;
  bool reached = false;  ///< on the mean curve; if not, `answers` is all that it bought, and nothing is known beyond
  double answers = 0;    ///< first crossing of target − slack by the mean curve, straight between points
  double low = 0, high = 0;                         ///< of the answers; bootstrap over seeds
  double saved = 0, saved_low = 0, saved_high = 0;  ///< 1 − answers / answers of the first policy, same seeds
};

struct Replay {
  /// Accuracy with all answers, mean over seeds; in a simulated world, that of the first policy at its end.
  double target = 0;
  std::size_t all_answers = 0;
  std::size_t scored_tasks = 0;
  std::size_t seeds = 0;
  std::size_t answers_per_round = 0;
  std::vector<ReplayCurve> curves;    ///< in the order of the policies
  std::vector<Saving> savings;        ///< by slack, then in the order of the policies; against the first policy
  Status status = Status::converged;  ///< or cancelled: then the curves hold the seeds that all policies finished
};

/// Plays the policies from nothing to all answers, several times with other chance. Policies see answers alone; the
/// truth is for the curves. Ties of the posterior share the credit. The same for any number of threads.
[[nodiscard]] Replay replay(const ReplayWorld& world, std::span<const Policy> policies, const ReplayOptions& options,
                            const Refit& refit, const RunContext& context);

/// What a selector sees of a fit: tables as Dirichlet parameters, whose means are the fit's own and whose rows weigh as
/// much as the answers that they rest on, plus `prior_strength`.
struct CrowdKnowledge {
  WorkerTables tables;  ///< Dirichlet parameters
  std::vector<std::uint32_t> task_answers, worker_answers;
};
[[nodiscard]] CrowdKnowledge knowledge_of(const CategoryAnswers& answers, const CategoryFit& fit,
                                          double prior_strength);

/// The curves as a picture.
[[nodiscard]] std::string replay_svg(const Replay& replay, const std::string& title);
/// The same picture in pixels, two for each of the SVG. Throws `unsupported` where wisecrowd cannot draw them: it needs
/// a plugin that is built where cairo is found.
[[nodiscard]] std::string replay_png(const Replay& replay, const std::string& title);

}  // namespace wisecrowd
