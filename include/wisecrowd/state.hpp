#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/category_data.hpp"
#include "wisecrowd/incremental.hpp"
#include "wisecrowd/parameters.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// How doubtful a task is, from its posterior q.
enum class Uncertainty {
  entropy,           ///< −Σ q log q
  margin,            ///< 1 − (largest − second largest)
  least_confidence,  ///< 1 − largest
};
[[nodiscard]] double uncertainty_of(std::span<const double> posterior, Uncertainty kind) noexcept;

/// A worker who answers worse than it used to, as its answers came in.
struct WorkerAlarm {
  std::string worker;
  std::uint64_t raised = 0;     ///< at which of its answers, counted from 1
  std::uint64_t began = 0;      ///< the first answer of the worse stretch
  double evidence = 0;          ///< ln of how much better a degraded worker explains that stretch
  double accuracy_before = 0;   ///< its share of right answers until then
  double accuracy_since = 0;    ///< and in the stretch, by what the others say
  std::uint64_t recovered = 0;  ///< the answer at which it was as before again; 0 while it lasts

  /// A sentence about it, without the worker's name.
  [[nodiscard]] std::string text() const;
};

/// What `CrowdState::add` did.
struct Absorbed {
  std::uint64_t answers = 0;        ///< new ones
  std::uint64_t replaced = 0;       ///< that took the place of an earlier one of the same worker to the same task
  std::uint64_t contradicting = 0;  ///< of those, how many say something else
  std::uint64_t withdrawn = 0;      ///< earlier ones that were taken back
  std::uint64_t new_tasks = 0;
  std::uint64_t new_workers = 0;
  std::vector<std::string> new_classes;
  std::uint64_t tasks_touched = 0;   ///< re-estimated
  std::uint64_t labels_changed = 0;  ///< of tasks that had answers before
  std::size_t sweeps = 0;
  std::vector<WorkerAlarm> alarms;  ///< raised by these answers
};

/// How far a state may be from the batch fit to the same answers, since its last refit.
struct Staleness {
  std::uint64_t answers_at_refit = 0;  ///< answers that the last batch fit has seen
  std::uint64_t answers_since = 0;     ///< absorbed since then
  std::uint64_t classes_since = 0;     ///< classes that appeared since then
  std::uint64_t truths_since = 0;      ///< answered tasks whose truth became known to the fit since then
  /// Tasks that were touched again since then. Before new answers entered, their posterior was computed afresh from
  /// what the workers are known to be by now: the mean distance (total variation) of the stored one, and how many
  /// labels it would have changed. A sample of how old the untouched ones have become.
  std::uint64_t probed_tasks = 0;
  double mean_shift = 0;
  std::uint64_t probed_labels_changed = 0;

  /// A sentence on why a refit is due, or nothing when it is not.
  [[nodiscard]] std::string advice() const;
};

/// What known truths are for.
enum class GoldUse {
  inference,   ///< the fit sees them: these tasks are certain, and workers are learned from them
  evaluation,  ///< the fit does not see them: the labels are scored on them
};

/// A task whose truth is known, by names.
struct KnownTruth {
  std::string task;
  std::string label;
};

/// An answer by the names of its task and its worker.
struct AnswerKey {
  std::string task;
  std::string worker;
};

/// A change of a state, which happens whole or not at all. Known truths go in first, then answers are taken back, then
/// those of the sources are absorbed one source after the other.
struct StateChange {
  std::span<const CategoryAnswers> sources;
  std::span<const std::vector<double>> times;  ///< of each source; see CrowdState::add
  std::span<const KnownTruth> gold;
  /// Answers to take back; those that the state does not hold are passed over. With stochastic updates the worker's
  /// table keeps what it learned from them.
  std::span<const AnswerKey> withdrawn;
  /// Stored with the change, for a caller who must know afterwards how far it came. Empty: the last one stays.
  std::string_view mark;
};

struct StateSummary {
  std::uint64_t tasks = 0;
  std::uint64_t answered_tasks = 0;
  std::uint64_t workers = 0;
  std::uint64_t answers = 0;
  std::vector<std::string> classes;
  bool classes_are_fixed = false;  ///< given by the user: a label outside of them is refused
  std::vector<double> class_prior;
  DuplicatePolicy duplicates = DuplicatePolicy::keep_last;
  int schema_version = 0;
  Staleness staleness;
  std::uint64_t gold_tasks = 0;  ///< known truths, also of tasks that nobody answered yet
  GoldUse gold_use = GoldUse::inference;
  std::uint64_t gold_answered = 0;  ///< of these, tasks that somebody answered
  /// Share of those whose label is the truth, with Wilson's 95 % interval; NaN unless gold is for evaluation.
  double gold_accuracy = 0, gold_accuracy_low = 0, gold_accuracy_high = 0;
  std::vector<Warning> warnings;  ///< of the last fit
  /// How tables were read when the first answers came, as reading_record() says it: later ones are read the same way.
  std::vector<std::pair<std::string, std::string>> reading;
};

struct TaskState {
  std::string name;
  std::vector<double> posterior;
  ClassId label = kNoClass;
  double probability = 0;
  double uncertainty = 0;    ///< entropy in nats
  ClassId truth = kNoClass;  ///< if it is known
  struct GivenAnswer {
    std::string worker;
    ClassId label;
  };
  std::vector<GivenAnswer> answers;
};

struct WorkerView {
  std::string name;
  std::uint64_t answers = 0;
  std::vector<double> counts;     ///< truth × label: expected counts without the prior
  std::vector<double> confusion;  ///< truth × label, rows sum to 1
  /// Expected share of right answers, of those that are remembered if the state forgets; NaN without answers.
  double accuracy = 0;
};

/// The most uncertain tasks, as a selector wants them: renumbered from 0, names kept.
struct Candidates {
  std::size_t class_count = 0;
  std::vector<std::string> names;
  std::vector<double> posterior;            ///< candidates × classes
  std::vector<std::uint32_t> task_answers;  ///< answers so far
  std::vector<AnswerIndex> answer_offsets;  ///< those of candidate t are [offsets[t], offsets[t+1]) of the next two
  std::vector<WorkerId> answer_workers;     ///< positions in KnownWorkers, sorted within a candidate
  std::vector<ClassId> answer_labels;

  [[nodiscard]] std::size_t size() const noexcept { return names.size(); }
  [[nodiscard]] bool asked(std::size_t task, WorkerId worker) const noexcept;
};

/// All workers.
struct KnownWorkers {
  std::vector<std::string> names;
  WorkerTables tables;                 ///< Dirichlet parameters: the prior and expected counts
  std::vector<std::uint32_t> answers;  ///< answers so far
  std::vector<double> accuracy;        ///< as in WorkerView
};

/// A task that is sure enough to ask no more about it.
struct SettledTask {
  std::string name;
  ClassId label = kNoClass;
  double probability = 0;
  std::uint64_t answers = 0;
};

/// Which labels to read, in the order in which their tasks became known.
struct LabelQuery {
  std::int64_t after = -1;  ///< from the task after the one with this number on
  std::size_t limit = 1000;
  double below = std::numeric_limits<double>::infinity();  ///< only labels with a smaller probability
  std::string label;                                       ///< only tasks with this label; empty: any
};

/// What a state says of a task, without who said what.
struct TaskLabel {
  std::int64_t number = 0;  ///< tasks are counted from 0 in the order in which they became known
  std::string name;
  ClassId label = kNoClass;
  double probability = 0;
  double entropy = 0;  ///< in nats
  std::uint64_t answers = 0;
};

/// Parameters of a state, fixed when it is made.
[[nodiscard]] const std::vector<ParameterSpec>& state_parameters();

struct StateSettings {
  Parameters parameters{state_parameters()};
  bool fixed_classes = false;  ///< refuse labels outside the classes that the first data declare
  DuplicatePolicy duplicates = DuplicatePolicy::keep_last;
  GoldUse gold_use = GoldUse::inference;
  std::vector<std::pair<std::string, std::string>> reading;  ///< see StateSummary
};

/// Looks at all answers when a batch fit does, and says what the fit itself cannot see; inspect_answers() is one.
using Inspection = std::function<std::vector<Warning>(const CategoryAnswers& answers, const RunContext& context)>;

/// A persistent crowd in one SQLite file: answers, posteriors, workers' tables. New answers are absorbed in time
/// proportional to them; a refit makes it equal to the batch fit again.
///
/// Every change is one transaction in write-ahead mode, flushed to the device: what `add` returned from is never lost,
/// and a process that dies leaves the state as it was. Several processes may use one state; writers take turns.
/// One object belongs to one thread.
class CrowdState {
 public:
  /// Makes a new state from answers (there may be none) by a batch fit. The file appears whole or not at all; one that
  /// is there already is never replaced (io error). Classes without answers are kept.
  /// `gold` may name tasks that nobody answered yet; the gold of `data` is stored, too.
  [[nodiscard]] static CrowdState create(const std::string& path, const CategoryData& data,
                                         const StateSettings& settings, const RunContext& context,
                                         std::span<const KnownTruth> gold = {}, const Inspection& inspect = {});
  enum class Access { read, write };
  /// Opens and, for writing, brings an older schema up to date. Errors say what is wrong with the file and what to do.
  [[nodiscard]] static CrowdState open(const std::string& path, Access access);
  ~CrowdState();
  CrowdState(CrowdState&&) noexcept;
  CrowdState& operator=(CrowdState&&) noexcept;

  [[nodiscard]] StateSummary summary() const;
  [[nodiscard]] const Parameters& parameters() const noexcept;
  [[nodiscard]] std::optional<TaskState> task(std::string_view name) const;
  [[nodiscard]] std::optional<WorkerView> worker(std::string_view name) const;

  /// Absorbs the answers of `data` (tasks and classes without answers are kept, too) and re-estimates the tasks that
  /// they belong to. All of them or none.
  Absorbed add(const CategoryAnswers& data, const RunContext& context);
  /// The same for several sources, one after the other, in one transaction. Known truths go in first; those of tasks
  /// whose truth was known already replace it. `times` of a source: one per answer, in the order of the answers; where
  /// they are missing, the answers of a worker stand in the order of the tasks.
  Absorbed add(std::span<const CategoryAnswers> sources, const RunContext& context,
               std::span<const KnownTruth> gold = {}, std::span<const std::vector<double>> times = {});
  Absorbed apply(const StateChange& change, const RunContext& context);
  /// The mark of the last change that had one.
  [[nodiscard]] std::string mark() const;
  /// What the first gold is for, and how the first table was read: for states that were made without. Once there is
  /// gold, its use is fixed; once there are answers, the way of reading is.
  void set_gold_use(GoldUse use);
  void set_reading(const std::vector<std::pair<std::string, std::string>>& reading);
  /// Batch EM on all answers to convergence; everything is estimated anew. Returns the fit without its posterior. Its
  /// warnings, and those of `inspect`, are kept until the next one.
  CategoryFit refit(const RunContext& context, const Inspection& inspect = {});

  /// All answers, known truths (whatever they are for), and the estimates as they stand, in the order in which tasks
  /// and workers became known: what the writers of results take.
  struct Whole {
    CategoryData data;
    CategoryFit aggregation;
  };
  [[nodiscard]] Whole whole(const RunContext& context) const;

  /// The n most uncertain tasks, the most uncertain first. Reads an index, not all tasks, unless nearly everything is
  /// settled.
  [[nodiscard]] Candidates candidates(std::size_t tasks, Uncertainty kind = Uncertainty::entropy) const;
  [[nodiscard]] KnownWorkers workers() const;
  /// Answered tasks whose label has at least probability `sure`, in the order in which they became known: at most
  /// `limit` of them, from the first one after the task `after` on (empty: from the beginning). Throws bad_input when
  /// there is no task `after`.
  [[nodiscard]] std::vector<SettledTask> settled(double sure, std::size_t limit, std::string_view after = {}) const;

  [[nodiscard]] std::vector<TaskLabel> labels(const LabelQuery& query) const;
  [[nodiscard]] std::vector<std::string> class_names() const;

  /// Workers who got worse while answers came in, one alarm per episode, in the order in which they were raised.
  [[nodiscard]] std::vector<WorkerAlarm> alarms() const;

  /// What is wrong with the file, by SQLite's own check, by comparing its schema with the one that this program makes,
  /// and by comparing the tables with the posteriors that they are made of. Reads everything. Empty when all is well.
  [[nodiscard]] std::vector<std::string> check(const RunContext& context) const;

 private:
  struct Inside;
  explicit CrowdState(std::unique_ptr<Inside> inside);
  std::unique_ptr<Inside> inside_;
};

}  // namespace wisecrowd
