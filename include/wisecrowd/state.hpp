#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/dataset.hpp"
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

/// What `CrowdState::add` did.
struct Absorbed {
  std::uint64_t answers = 0;        ///< new ones
  std::uint64_t replaced = 0;       ///< that took the place of an earlier one of the same worker to the same task
  std::uint64_t contradicting = 0;  ///< of those, how many say something else
  std::uint64_t new_tasks = 0;
  std::uint64_t new_workers = 0;
  std::vector<std::string> new_classes;
  std::uint64_t tasks_touched = 0;   ///< re-estimated
  std::uint64_t labels_changed = 0;  ///< of tasks that had answers before
  std::size_t sweeps = 0;
};

/// How far a state may be from the batch fit to the same answers, since its last refit.
struct Staleness {
  std::uint64_t answers_at_refit = 0;  ///< answers that the last batch fit has seen
  std::uint64_t answers_since = 0;     ///< absorbed since then
  std::uint64_t classes_since = 0;     ///< classes that appeared since then
  /// Tasks that were touched again since then. Before new answers entered, their posterior was computed afresh from
  /// what the workers are known to be by now: the mean distance (total variation) of the stored one, and how many
  /// labels it would have changed. A sample of how old the untouched ones have become.
  std::uint64_t probed_tasks = 0;
  double mean_shift = 0;
  std::uint64_t probed_labels_changed = 0;

  /// A sentence on why a refit is due, or nothing when it is not.
  [[nodiscard]] std::string advice() const;
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
};

struct TaskView {
  std::string name;
  std::vector<double> posterior;
  ClassId label = kNoClass;
  double probability = 0;
  double uncertainty = 0;  ///< entropy in nats
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
  double accuracy = 0;            ///< expected share of right answers; NaN without answers
};

/// The most uncertain tasks, as a selector wants them: renumbered from 0, names kept.
struct Candidates {
  std::size_t class_count = 0;
  std::vector<std::string> names;
  std::vector<double> posterior;            ///< candidates × classes
  std::vector<std::uint32_t> task_answers;  ///< answers so far
  std::vector<AnswerIndex> answer_offsets;  ///< those of candidate t are [offsets[t], offsets[t+1]) of the next two
  std::vector<WorkerId> answer_workers;     ///< positions in WorkerTables, sorted within a candidate
  std::vector<ClassId> answer_labels;

  [[nodiscard]] std::size_t size() const noexcept { return names.size(); }
  [[nodiscard]] bool asked(std::size_t task, WorkerId worker) const noexcept;
};

/// All workers.
struct WorkerTables {
  std::size_t class_count = 0;
  std::vector<std::string> names;
  std::vector<double> counts;          ///< workers × truth × label: Dirichlet parameters, prior + expected counts
  std::vector<std::uint32_t> answers;  ///< answers so far
};

/// Parameters of a state, fixed when it is made.
[[nodiscard]] const std::vector<ParameterSpec>& state_parameters();

struct StateSettings {
  Parameters parameters{state_parameters()};
  bool fixed_classes = false;  ///< refuse labels outside the classes that the first data declare
  DuplicatePolicy duplicates = DuplicatePolicy::keep_last;
};

/// A crowd that lives in one SQLite file: answers, posteriors, workers' tables. New answers are absorbed in time
/// proportional to them; a refit makes it equal to the batch fit again.
///
/// Every change is one transaction in write-ahead mode, flushed to the device: what `add` returned from is never lost,
/// and a process that dies leaves the state as it was. Several processes may use one state; writers take turns.
/// One object belongs to one thread.
class CrowdState {
 public:
  /// Makes a new state from answers (there may be none) by a batch fit. The file appears whole or not at all; one that
  /// is there already is never replaced (io error). Classes without answers are kept.
  [[nodiscard]] static CrowdState create(const std::string& path, const Dataset& data, const StateSettings& settings,
                                         const RunContext& context);
  enum class Access { read, write };
  /// Opens and, for writing, brings an older schema up to date. Errors say what is wrong with the file and what to do.
  [[nodiscard]] static CrowdState open(const std::string& path, Access access);
  ~CrowdState();
  CrowdState(CrowdState&&) noexcept;
  CrowdState& operator=(CrowdState&&) noexcept;

  [[nodiscard]] StateSummary summary() const;
  [[nodiscard]] const Parameters& parameters() const noexcept;
  [[nodiscard]] std::optional<TaskView> task(std::string_view name) const;
  [[nodiscard]] std::optional<WorkerView> worker(std::string_view name) const;

  /// Absorbs the answers of `data` (tasks and classes without answers are kept, too) and re-estimates the tasks that
  /// they belong to. All of them or none.
  Absorbed add(const Annotations& data, const RunContext& context);
  /// The same for several sources, one after the other, in one transaction.
  Absorbed add(std::span<const Annotations> sources, const RunContext& context);
  /// Batch EM on all answers to convergence; everything is estimated anew. Returns the fit without its posterior.
  Aggregation refit(const RunContext& context);

  /// All answers, and the estimates as they stand, in the order in which tasks and workers became known: what the
  /// writers of results take.
  struct Whole {
    Dataset data;
    Aggregation aggregation;
  };
  [[nodiscard]] Whole whole(const RunContext& context) const;

  /// The n most uncertain tasks, the most uncertain first. Reads an index, not all tasks, unless nearly everything is
  /// settled.
  [[nodiscard]] Candidates candidates(std::size_t tasks, Uncertainty kind = Uncertainty::entropy) const;
  [[nodiscard]] WorkerTables workers() const;

  /// What is wrong with the file, by SQLite's own check and by comparing the tables with the posteriors that they are
  /// made of. Reads everything. Empty when all is well.
  [[nodiscard]] std::vector<std::string> check(const RunContext& context) const;

 private:
  struct Inside;
  explicit CrowdState(std::unique_ptr<Inside> inside);
  std::unique_ptr<Inside> inside_;
};

}  // namespace wisecrowd
