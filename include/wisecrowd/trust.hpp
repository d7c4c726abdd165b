#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/category_answers.hpp"
#include "wisecrowd/dependent_workers.hpp"
#include "wisecrowd/estimate.hpp"
#include "wisecrowd/ids.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// How far a worker's answers depend on the truth (Raykar and Yu): the mean squared distance of the rows of its table,
/// scaled to [0, 1]. 0 when all rows are equal, 1 for a worker who is always right or consistently swaps classes.
[[nodiscard]] double spammer_score(std::span<const double> table, std::size_t classes);

/// What a worker's answers could tell at most, in nats, and for which mix of truths (Blahut and Arimoto).
struct Capacity {
  double nats = 0;            ///< lower bound, within `gap` of the truth
  double gap = 0;             ///< upper minus lower bound when it stopped
  std::vector<double> input;  ///< the mix of truths that reaches it
};
[[nodiscard]] Capacity channel_capacity(std::span<const double> table, std::size_t classes, double tolerance = 1e-9,
                                        std::size_t max_iterations = 10000);

/// What to do with a worker.
enum class WorkerAdvice {
  keep,
  retrain,  ///< its answers tell something, but it takes one class for another as a rule, or is wrong too often
  recode,   ///< its answers tell much, but it swaps classes: read one for the other
  check,    ///< would be kept, but answers as one with others, or worse than before
  stop,     ///< its answers hardly depend on the truth
  unsure,   ///< too little is known: ask more
};
inline constexpr std::size_t kWorkerAdviceCount = 6;
[[nodiscard]] std::string_view to_string(WorkerAdvice advice) noexcept;

/// What decided over the advice.
enum class AdviceReason {
  better_than_guessing,   ///< keep
  takes_one_for_another,  ///< retrain: `said` as a rule where the truth is `truth`
  reliably_wrong,         ///< retrain: worse than guessing, beyond doubt
  swaps_classes,          ///< recode: by `recoding`
  answers_as_one,         ///< check: belongs to a group of copies, and would be kept but for that
  worse_lately,           ///< check: its later answers are worse (`before`, `lately`)
  colludes,               ///< contradicts the others as one with its group: stop if on most tasks, else check
  guesses,                ///< stop: its answers are explained better without the truth
  tells_little,           ///< stop: better than guessing at most by a little
  undecided,              ///< unsure: it may guess or not
  few_answers,            ///< unsure
  no_answers,             ///< unsure
};

/// What is thought of a worker. Intervals come from draws of its table.
struct WorkerAssessment {
  WorkerAdvice advice = WorkerAdvice::unsure;
  AdviceReason reason = AdviceReason::no_answers;
  std::uint64_t answers = 0;
  Estimate accuracy;  ///< at the class shares
  /// What guessing would give: the accuracy of one who says each class as often, without looking, or all alike.
  double chance = 0;
  double spammer = 0;    ///< probability that its answers do not depend on the truth
  Estimate score;        ///< spammer_score
  Estimate information;  ///< nats that one answer tells at the class shares
  double capacity = 0;   ///< nats, of the mean table
  /// takes_one_for_another: which class is taken for which other.
  ClassId truth = kNoClass, said = kNoClass;
  std::uint32_t copies = 0;  ///< others who answer as one with it
  double contradicts = 0;    ///< colludes: the share of tasks where its group contradicts what the others are sure of
  /// recode: what each label that it gives is to be read as.
  std::vector<ClassId> recoding;
  /// worse_lately: its accuracy before and since.
  double before = 0, lately = 0;
  /// What following the advice would change: labels of tasks if the worker were left out (an E-step without it), and
  /// labels by plain votes if its answers were read by `recoding`.
  std::uint64_t labels_without = 0, votes_recoded = 0;
};

struct JudgeOptions {
  double stop_from = 0.5;            ///< stop: probability of a spammer
  double keep_below = 0.05;          ///< keep: the same
  double spammer_below = 0.05;       ///< stop: the upper end of the score's interval is below this
  double confidence_level = 0.9;     ///< of the intervals
  double sure = 0.95;                ///< retrain: the probability that a row's largest cell is off the diagonal
  std::uint64_t least_answers = 10;  ///< unsure about workers with fewer
  std::size_t draws = 400;
};

/// Judges every worker from its expected counts: workers × truth × label, without any prior. They should come from what
/// is known of the tasks without the worker's own answers, or guessers look better than they are.
[[nodiscard]] std::vector<WorkerAssessment> judge_workers(std::span<const double> counts,
                                                          std::span<const double> class_shares,
                                                          std::span<const std::uint32_t> answers,
                                                          const JudgeOptions& options, const RunContext& context);

/// What a fit says of a crowd.
struct JudgedCrowd {
  const CategoryAnswers& answers;
  std::span<const double> tables;               ///< workers × truth × label, rows sum to 1
  std::span<const double> class_shares;         ///< of the truth; empty: even
  std::span<const DependentGroup> groups = {};  ///< that do not answer independently
  std::span<const ClassId> gold = {};           ///< the truth of tasks, kNoClass where it is unknown; or empty
  std::span<const double> times = {};           ///< when each answer was given, in the order of the answers; or empty
  bool everybody_grouped = false;               ///< nearly everybody is in one of the groups: nobody is the exception
};
/// Judges all workers of a crowd, by the other workers' answers to the same tasks; fellows of a group are not others,
/// and a group that is acted on has one voice. Those in `drawn` get intervals and
/// the advice that needs them; for the others of a large crowd only `answers`, `chance`, `spammer` and `copies` are
/// found.
[[nodiscard]] std::vector<WorkerAssessment> judge_workers(const JudgedCrowd& crowd,
                                                          std::span<const std::uint32_t> drawn,
                                                          const JudgeOptions& options, const RunContext& context);
[[nodiscard]] std::vector<WorkerAssessment> judge_workers(const JudgedCrowd& crowd, const JudgeOptions& options,
                                                          const RunContext& context);

/// Why a worker is judged as it is, in words without a full stop: what decided.
[[nodiscard]] std::string reason_of(const WorkerAssessment& judged, const NameTable& classes);
/// What following the advice would change in the labels of so many tasks, in words without a full stop.
[[nodiscard]] std::string effect_of(const WorkerAssessment& judged, std::size_t tasks);

}  // namespace wisecrowd
