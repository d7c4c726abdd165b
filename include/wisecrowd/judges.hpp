#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/enum_names.hpp"
#include "wisecrowd/estimate.hpp"
#include "wisecrowd/fit_summary.hpp"
#include "wisecrowd/judge_data.hpp"
#include "wisecrowd/run_context.hpp"

// How far machines that judge can be believed, measured by people: src/judges/METHOD.md.

namespace wisecrowd {

/// The truth that people and machines make out together. An answer of a machine is its family's with some probability,
/// and otherwise its own; probabilities count as far as the judge's calibration says.
struct MixedCrowdOptions {
  bool families = true;  ///< false: every worker is on its own
  double strength = 4;   ///< of the tables of a kind as prior of each of its workers, in answers per class
  std::size_t max_iterations = 1000;
  double tolerance = 1e-8;  ///< of the objective, relative
};
struct MixedCrowdFit : FitSummary {
  std::size_t class_count = 0;
  std::vector<double> posterior;    ///< tasks × classes
  std::vector<double> class_prior;  ///< shares of the truth
  std::vector<double> tables;       ///< workers × truth × said, with what comes from the family
  std::vector<double> copying;      ///< per worker: how much of what it says is its family's
  std::vector<double> temperature;  ///< per worker: by which its logarithms of probabilities are divided; NaN if none
  std::vector<double> calibration_bias;  ///< workers × classes: what is added then

  [[nodiscard]] std::span<const double> posterior_of(TaskId task) const {
    return std::span(posterior).subspan(index(task) * class_count, class_count);
  }
  [[nodiscard]] std::span<const double> table(WorkerId worker) const {
    return std::span(tables).subspan(index(worker) * class_count * class_count, class_count * class_count);
  }
  [[nodiscard]] ClassId label_of(TaskId task) const;
};
[[nodiscard]] MixedCrowdFit fit_mixed_crowd(const JudgeData& data, const MixedCrowdOptions& options,
                                            const RunContext& context);

/// The probabilities of a judge's answer after its temperature and bias.
[[nodiscard]] std::vector<double> calibrated(std::span<const double> log_probabilities, double temperature,
                                             std::span<const double> bias);

/// How good one judge is.
struct JudgeReliability {
  WorkerId worker{};
  std::uint64_t tasks = 0, answers = 0;  ///< repeats make the difference
  Estimate accuracy;                     ///< share of right answers by the truth of all together
  std::uint64_t people_tasks = 0;        ///< tasks that people answered, or whose truth is known
  std::uint64_t people_answers = 0;      ///< of people to these
  Estimate against_people;               ///< share of right answers by the truth that people alone make out
  Estimate agreement;                    ///< how often an answer is that of a person asked the same
  Estimate kappa;                        ///< the same beyond chance; by squared distance where classes are ordered
  double base_rate = 0;                  ///< agreement of whoever always says what people say most
  // Repeats of the same question.
  std::uint64_t repeated_tasks = 0;
  Estimate consistency;  ///< share of pairs of its answers to one task that are alike
  std::uint64_t swapped_tasks = 0;
  Estimate order_consistency;  ///< the same of pairs that were shown in both orders
  // Probabilities as answers.
  double temperature = 0;                        ///< NaN for hard answers
  double log_loss = 0, calibrated_log_loss = 0;  ///< by the truth of people, NaN without
  struct Bin {
    double confidence = 0, right = 0;
    std::uint64_t tasks = 0;
  };
  std::vector<Bin> raw_bins, calibrated_bins;
  // How many more answers of people until `against_people` is known to ±target.
  std::uint64_t more_answers = 0, more_tasks = 0;
  double half_width = 0;
  bool needs_known = false;  ///< false where too little is known to say
};

/// A leaning that has nothing to do with which answer is right.
enum class JudgeBias : std::uint8_t {
  position,         ///< towards what is shown first
  length,           ///< towards what is longer
  self_preference,  ///< towards what its own family wrote
  lean,             ///< of classes: towards the upper one
};
inline constexpr auto kJudgeBiasNames = enum_names<JudgeBias>({{JudgeBias::position, "position"},
                                                               {JudgeBias::length, "length"},
                                                               {JudgeBias::self_preference, "self_preference"},
                                                               {JudgeBias::lean, "lean"}});
[[nodiscard]] constexpr std::string_view to_string(JudgeBias bias) noexcept { return name_in(kJudgeBiasNames, bias); }
struct BiasEstimate {
  WorkerId worker{};
  JudgeBias bias{};
  /// In log odds, where 0 is none; of ordered classes in points of the score.
  Estimate effect;
  /// At equal quality, the share of verdicts for the favoured side (½ is fair): the one shown first, the one twice as
  /// long (or longer by a standard deviation), its own family's. NaN for ordered classes.
  Estimate share;
  std::uint64_t answers = 0;
  bool clear = false;  ///< the interval leaves 0 out
};

/// The share of a class as a judge says it, and corrected for its errors.
struct PrevalenceEstimate {
  WorkerId worker{};
  ClassId of{};
  double raw = 0;
  Estimate corrected;
  std::uint64_t tasks = 0;
};

/// Judges that may err together.
struct FamilySummary {
  std::string name;
  std::vector<WorkerId> members;
  std::uint64_t common_tasks = 0;  ///< that two of them at least answered
  Estimate error_correlation;      ///< of errors of two members
  double effective_voices = 0;     ///< as many independent judges would tell as much
  bool found = false;              ///< by how they answer, not named
};

/// What changed from one version of a judge to the next.
struct VersionChange {
  std::string family;
  WorkerId earlier{}, later{};
  std::uint64_t tasks = 0;  ///< that both answered, and people
  Estimate difference;      ///< of agreement with people, later minus earlier
  double alike = 0;         ///< share of the tasks where both say the same
};

struct LeaderboardRow {
  ItemId item{};
  Estimate score;  ///< log odds, mean 0
  double rank = 0;
  /// Items that are better beyond doubt, and one; items that nothing tells apart share it.
  double rank_low = 0, rank_high = 0;
  std::uint64_t tasks = 0;
};
struct Leaderboard {
  std::vector<LeaderboardRow> rows;  ///< from the best on
  double ties = 0;                   ///< how often equal items tie
};

/// A task to show to people next.
struct NextTask {
  TaskId task{};
  ClassId label{};         ///< as of now
  double probability = 0;  ///< of that
  std::uint64_t people = 0, machines = 0;
  double disagreement = 0;  ///< share of pairs of machines' answers that differ
};

struct AgreementSummary {
  double people = 0, machines = 0, everybody = 0;  ///< Krippendorff's alpha; ordinal where classes are ordered
  double people_agree = 0;                         ///< share of pairs of people's answers to one task that are alike
};

struct JudgeStudyOptions {
  MixedCrowdOptions crowd;
  double target_width = 0.05;   ///< ± of `against_people` that is asked for
  std::uint64_t next = 0;       ///< how many tasks to choose for people
  std::uint64_t draws = 600;    ///< of what is not known of people and judge
  ClassId positive = kNoClass;  ///< of classes without order: the one that leanings are about; of two the second
};

/// Everything at once: what the command line, Python and the report show.
struct JudgeStudy {
  MixedCrowdFit fit;
  std::vector<WorkerId> judges;               ///< the machines
  std::vector<JudgeReliability> reliability;  ///< of all workers, in the order of their ids
  AgreementSummary agreement;
  std::vector<BiasEstimate> biases;
  std::vector<PrevalenceEstimate> prevalence;
  std::vector<FamilySummary> families;
  std::vector<VersionChange> versions;
  std::optional<Leaderboard> everybody, people;  ///< of comparisons
  std::vector<NextTask> next;
  std::uint64_t people_tasks = 0;  ///< answered by people, or of known truth
  std::vector<Warning> warnings;
};
[[nodiscard]] JudgeStudy study_judges(const JudgeData& data, const JudgeStudyOptions& options,
                                      const RunContext& context);

// Its parts.

/// Draws of what people's answers say of one judge, people's own errors allowed for.
struct AgainstPeople {
  std::uint64_t tasks = 0, people_answers = 0;
  std::vector<double> accuracy;    ///< per draw
  std::vector<double> tables;      ///< draws × truth × said
  std::vector<double> prevalence;  ///< draws × classes: shares of the truth among all tasks of the judge
};
[[nodiscard]] AgainstPeople judge_against_people(const JudgeData& data, const MixedCrowdFit& fit, WorkerId judge,
                                                 std::uint64_t draws, const RunContext& context);
/// How many tasks with answers of people are wanted beyond those there are, so that ± falls to `target`.
[[nodiscard]] std::uint64_t tasks_until(double half_width, std::uint64_t tasks, double target);

[[nodiscard]] std::vector<BiasEstimate> judge_biases(const JudgeData& data, const MixedCrowdFit& fit, WorkerId judge,
                                                     ClassId positive);
[[nodiscard]] std::vector<FamilySummary> judge_families(const JudgeData& data, const MixedCrowdFit& fit);
[[nodiscard]] std::vector<VersionChange> version_changes(const JudgeData& data);
/// `people_only`: by the answers of people and what is known.
[[nodiscard]] Leaderboard rank_items(const JudgeData& data, const MixedCrowdFit& fit, bool people_only);
[[nodiscard]] std::vector<NextTask> next_tasks(const JudgeData& data, const MixedCrowdFit& fit, std::uint64_t count,
                                               const RunContext& context);
[[nodiscard]] AgreementSummary agreement_of(const JudgeData& data);

}  // namespace wisecrowd
