#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wisecrowd/category_data.hpp"
#include "wisecrowd/category_fit.hpp"
#include "wisecrowd/enum_names.hpp"
#include "wisecrowd/estimate.hpp"
#include "wisecrowd/run_context.hpp"
#include "wisecrowd/task_groups.hpp"

// Whether workers, and the labels made of their answers, treat groups of tasks alike. A rate of something is the share
// of tasks that it happens to; a gap is the difference of a rate between groups. With more than two classes, one of
// them is the positive one and all others are negative.

namespace wisecrowd {

struct GroupTableOptions {
  /// How firmly a worker's table of a group is held to the worker's own: worth so many answers to each truth. Infinite:
  /// one table for all groups.
  double kappa = 10;
  bool choose_kappa = false;   ///< among 5, 10, 20 and 50, by the probability of hidden answers
  double pseudo_count = 0.01;  ///< answers added to every cell of a worker's own table
  double prior_count = 1;      ///< tasks of each class added to every group's class shares
  bool shared_prior = false;   ///< one set of class shares for all groups
  double tolerance = 1e-5;     ///< stop when no probability changes by more
  std::size_t max_iterations = 300;
};

/// A table per worker and group that the worker has answered tasks of.
struct GroupTables {
  struct Block {
    WorkerId worker{};
    GroupId group = kNoGroup;
    std::uint64_t answers = 0;
  };
  std::size_t class_count = 0;
  std::vector<Block> blocks;               ///< by worker, then by group; those of tasks without a group last
  std::vector<std::uint32_t> first_block;  ///< per worker, and one more
  std::vector<double> counts;              ///< blocks × truth × label: expected answers
  std::vector<double> tables;              ///< the same as probabilities, rows sum to 1

  /// The block of a worker and group; blocks.size() if the worker has answered none of its tasks.
  [[nodiscard]] std::size_t find(WorkerId worker, GroupId group) const noexcept;
  [[nodiscard]] std::span<const double> table(std::size_t block) const noexcept {
    return std::span(tables).subspan(block * class_count * class_count, class_count * class_count);
  }
  [[nodiscard]] std::span<const double> counts_of(std::size_t block) const noexcept {
    return std::span(counts).subspan(block * class_count * class_count, class_count * class_count);
  }
};

/// What EM finds when each worker may treat groups differently. `confusion` holds the workers' own tables, over all
/// groups.
struct GroupFit : CategoryFit {
  double kappa = 10;
  GroupTables by_group;
  std::vector<double> group_prior;  ///< groups × classes: class shares in each group
  /// When kappa was chosen: each candidate and the mean log probability of a hidden answer.
  std::vector<std::pair<double, double>> kappa_scores;
};

/// Starts from `start` (tasks × classes), or from vote shares when that is empty. Gold is kept; priors of tasks are not
/// looked at. Tasks without a group are answered by the workers' own tables.
[[nodiscard]] GroupFit fit_group_tables(const CategoryData& data, const TaskGroups& groups,
                                        const GroupTableOptions& options, const RunContext& context,
                                        const CategoryStart& start = {});

/// How a worker treats one group against the reference group, as far as one class is concerned. Gaps are rates in the
/// group minus rates in the reference group, NaN when the worker has answered none of either, with 95 % intervals.
struct WorkerBias {
  WorkerId worker{};
  GroupId group{};
  ClassId positive{};
  std::uint64_t answers = 0;            ///< to tasks of the group
  std::uint64_t reference_answers = 0;  ///< to tasks of the reference group
  Estimate positive_rate;               ///< says the class more often of this group, whatever the truth
  Estimate false_positive_rate;         ///< says the class more often where it is not the truth
  Estimate true_positive_rate;          ///< says the class more often where it is
  Estimate accuracy;                    ///< is right more often, at the same class shares
  double tail = 1;                      ///< how probable answers that differ so much are without bias
  bool biased = false;                  ///< `tail` is small even among so many workers (Benjamini and Hochberg, 5 %)
};

struct WorkerBiasOptions {
  GroupId reference = kNoGroup;   ///< kNoGroup: the group with the most tasks
  std::vector<ClassId> positive;  ///< empty: the second class of two, or else every class
  std::size_t draws = 1000;       ///< of tables, for the intervals
  double false_discovery_rate = 0.05;
};

/// The group with the most tasks; the first of several.
[[nodiscard]] GroupId largest_group(const TaskGroups& groups);
/// What `positive` means when it is empty.
[[nodiscard]] std::vector<ClassId> positive_classes(std::span<const ClassId> positive, std::size_t classes);

/// By worker, then group, then class; tables are drawn from their Dirichlet distributions.
[[nodiscard]] std::vector<WorkerBias> worker_biases(const GroupFit& fit, const CategoryAnswers& answers,
                                                    const TaskGroups& groups, const WorkerBiasOptions& options,
                                                    const RunContext& context);

enum class GapMeasure {
  demographic_parity,  ///< share of tasks with the positive label
  equal_opportunity,   ///< share of positive tasks with the positive label: true positive rate
  false_positive_rate,
  equalised_odds,  ///< the larger gap of the two before
  accuracy,
};
inline constexpr auto kGapMeasureNames =
    enum_names<GapMeasure>({{GapMeasure::demographic_parity, "demographic_parity"},
                            {GapMeasure::equal_opportunity, "equal_opportunity"},
                            {GapMeasure::false_positive_rate, "false_positive_rate"},
                            {GapMeasure::equalised_odds, "equalised_odds"},
                            {GapMeasure::accuracy, "accuracy"}});
[[nodiscard]] constexpr std::string_view to_string(GapMeasure measure) noexcept {
  return name_in(kGapMeasureNames, measure);
}

/// The largest difference of a rate between two groups.
struct Gap {
  GapMeasure measure = GapMeasure::demographic_parity;
  ClassId positive{};
  Estimate gap;  ///< highest minus lowest, ≥ 0; NaN when fewer than two groups have a rate
  GroupId highest = kNoGroup, lowest = kNoGroup;
  std::vector<Estimate> rates;       ///< per group; NaN where it has no such task; empty for equalised_odds
  std::vector<std::uint64_t> tasks;  ///< per group: those that the rate is over, known or expected; likewise
  bool by_gold = false;              ///< the truth is gold, and tasks without are left out; else the posterior
};

/// What to measure. Tasks without group or label are left out.
struct LabelledTasks {
  std::span<const ClassId> labels;    ///< per task
  std::span<const double> posterior;  ///< tasks × classes: what is thought of the truth; empty: only gold counts
  std::span<const ClassId> gold;      ///< per task, or empty
  std::size_t class_count = 0;
  std::vector<char> compared;  ///< per group: whether gaps look at it; empty: all of them
};
/// Where at least two groups have gold, measures that need the truth are taken over tasks with gold alone; else the
/// truth is what the posterior expects.
[[nodiscard]] std::vector<Gap> measure_gaps(const LabelledTasks& tasks, const TaskGroups& groups, ClassId positive,
                                            const RunContext& context, std::size_t draws = 2000);
/// The same for the answers of all workers, before any aggregation; tasks are what is drawn anew.
[[nodiscard]] std::vector<Gap> measure_answer_gaps(const CategoryAnswers& answers, const LabelledTasks& tasks,
                                                   const TaskGroups& groups, ClassId positive);

struct GapLimit {
  GapMeasure measure = GapMeasure::demographic_parity;  ///< or equal_opportunity
  double limit = 0.05;
  ClassId positive{};
  /// Labels the task at the boundary of a group by a draw, so that the expected rates keep the limit exactly.
  bool randomise = false;
};

/// Labels that keep a gap, and what that costs.
struct LimitedLabels {
  std::vector<ClassId> labels;  ///< per task; tasks without a group keep theirs
  double gap = 0;               ///< of these labels, by the posterior
  double gap_before = 0;
  double expected_error = 0;  ///< share of tasks with a group that are wrong, by the posterior
  double expected_error_before = 0;
  std::uint64_t changed = 0;
  std::vector<double> rates;  ///< per group, of these labels; NaN for groups without tasks
  /// Groups in which a single task moves the rate by more than the limit: they come as near as whole tasks can.
  std::vector<GroupId> coarse;
};

/// The labels with the fewest expected errors among those whose rates differ by no more than the limit between any two
/// groups. Gold among the posterior is as changeable as other tasks: leave it out of the fit.
[[nodiscard]] LimitedLabels limit_gap(const CategoryFit& fit, const TaskGroups& groups, const GapLimit& limit,
                                      const RunContext& context);

/// Who should answer tasks of which group.
struct AssignmentRequest {
  std::vector<double> accuracy;            ///< workers × groups
  std::vector<std::uint64_t> capacity;     ///< per worker: answers in all
  std::vector<std::uint64_t> group_tasks;  ///< per group
  std::uint64_t answers_per_task = 1;
  double limit = std::numeric_limits<double>::infinity();  ///< of the gap in the share of wrong answers
};

struct AssignmentPlan {
  bool feasible = false;
  std::string reason;                  ///< why not, in a sentence
  double smallest_gap = 0;             ///< when the limit is what cannot be kept: what can; else NaN
  std::vector<std::uint64_t> answers;  ///< workers × groups
  double accuracy = 0;                 ///< expected share of right answers
  double gap = 0;                      ///< expected, of single answers, after rounding to whole ones
  std::vector<double> group_accuracy;
};
/// The most accurate assignment that keeps the limit, by a linear program. The gap is that of single answers, not of
/// labels made of them. Throws unsupported when there are too many workers with a capacity.
[[nodiscard]] AssignmentPlan plan_assignment(const AssignmentRequest& request, const RunContext& context);

/// Hands the tasks of each group out, in random order, so that nobody gets a task twice: a row per task and worker.
struct AssignedAnswer {
  std::uint32_t task = 0;  ///< position in the list of tasks that was given
  WorkerId worker{};
};
/// `groups`: that of each task to be handed out, as many of each as the plan was made for.
[[nodiscard]] std::vector<AssignedAnswer> hand_out(const AssignmentPlan& plan, std::span<const GroupId> groups,
                                                   std::size_t group_count, const RunContext& context);

/// The probability that a worker is right on tasks of a group, by the group's class shares: workers × groups.
[[nodiscard]] std::vector<double> group_accuracies(const GroupFit& fit, std::size_t groups);

/// Everything at once: what the command line and Python show.
struct FairnessOptions {
  /// Groups with fewer tasks are left out of gaps, which they would fill with chance, as long as two others remain.
  std::uint64_t least_tasks = 10;
  GroupTableOptions tables;
  WorkerBiasOptions workers;
  std::optional<GapLimit> limit;  ///< its class is set to the first of workers.positive
};

struct FairnessStudy {
  std::vector<ClassId> positive;
  GroupId reference{};
  /// With gold where there is any, and without: workers are judged by the first, labels by the second.
  GroupFit workers_fit, labels_fit;
  std::vector<WorkerBias> workers;
  struct Labelling {
    std::string name;  ///< "answers", "labels", "labels_by_group" or "limited"
    std::vector<Gap> gaps;
  };
  std::vector<Labelling> labellings;
  std::optional<LimitedLabels> limited;
  std::vector<std::uint64_t> group_tasks;  ///< answered tasks per group
  std::vector<std::uint64_t> group_gold;   ///< of these, with gold
  std::vector<char> compared;              ///< per group: whether gaps look at it
  std::uint64_t tasks_without_group = 0;
  std::vector<Warning> warnings;  ///< what cannot be known, above all
};

/// Tasks of groups that gaps do not look at have none.
[[nodiscard]] TaskGroups compared_groups(const TaskGroups& groups, std::span<const char> compared);

/// `fit` are the labels to be looked at, made without gold.
[[nodiscard]] FairnessStudy study_fairness(const CategoryData& data, const CategoryFit& fit, const TaskGroups& groups,
                                           const FairnessOptions& options, const RunContext& context);

}  // namespace wisecrowd
