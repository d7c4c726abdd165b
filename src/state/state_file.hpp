#pragma once

#include <memory>
#include <string>
#include <vector>

#include "state/database.hpp"
#include "state/drift_watch.hpp"
#include "wisecrowd/state.hpp"

namespace wisecrowd {

/// What changes with every answer besides the rows themselves.
struct StateCounters {
  std::uint64_t answers = 0;
  std::uint64_t answered_tasks = 0;
  Staleness staleness;
  double probed_shift = 0;  ///< the sum whose mean staleness has
};

struct StateClass {
  std::string name;
  double tasks = 0;  ///< expected number of answered tasks
};

[[nodiscard]] IncrementalOptions incremental_options(const Parameters& parameters);
/// The same model as parameters of the method dawid_skene, for so many classes.
[[nodiscard]] Parameters batch_parameters(const Parameters& parameters, std::size_t classes);

/// An open file with what never changes, and how its rows are read and written.
class StateFile {
 public:
  StateFile(std::unique_ptr<Database> database, const StateSettings& settings);  ///< of a new one
  explicit StateFile(std::unique_ptr<Database> database);                        ///< of one that is there

  [[nodiscard]] const Database& database() const noexcept { return *database_; }
  [[nodiscard]] const StateSettings& settings() const noexcept { return settings_; }
  [[nodiscard]] const IncrementalOptions& options() const noexcept { return options_; }

  void store_settings() const;
  void store_gold_use(GoldUse use);
  void store_reading(const std::vector<std::pair<std::string, std::string>>& reading);
  /// What the last change was marked with; empty if none was.
  [[nodiscard]] std::string mark() const;
  void store_mark(std::string_view mark) const;
  /// Those of the last fit.
  [[nodiscard]] std::vector<Warning> warnings() const;
  void store_warnings(const std::vector<Warning>& warnings) const;

  [[nodiscard]] bool has_gold() const;
  [[nodiscard]] std::uint64_t gold_count() const;
  /// Refuses a name that no reader would take.
  [[nodiscard]] std::string_view checked_name(std::string_view name, std::string_view what) const;
  [[nodiscard]] StateCounters counters() const;
  void store(const StateCounters& counters) const;
  [[nodiscard]] std::vector<StateClass> classes() const;

  /// A blob as a row of `classes` probabilities; zeros for classes that are younger. Refuses what cannot be right.
  void read_posterior(std::string_view blob, std::span<double> posterior, std::int64_t task) const;
  /// A blob as a table of classes × classes expected counts.
  void read_counts(std::string_view blob, std::span<double> counts, std::size_t classes, std::int64_t worker) const;
  /// A blob as the running numbers of a watch; without one the watch has just begun.
  [[nodiscard]] DriftWatch read_watch(std::string_view blob, std::int64_t worker) const;
  [[nodiscard]] std::vector<WorkerAlarm> alarms() const;
  void store_alarm(std::int64_t worker, const WorkerAlarm& alarm) const;
  /// The alarm about the worker that lasts does so no more.
  void store_recovery(std::int64_t worker, std::uint64_t answer) const;
  /// An id read from the file, refused unless below `count`.
  [[nodiscard]] std::uint32_t checked_id(std::int64_t id, std::uint64_t count, std::string_view what) const;

 private:
  std::unique_ptr<Database> database_;
  StateSettings settings_;
  IncrementalOptions options_;
};

/// What was found at one of a worker's answers, counted from 1, as an alarm.
[[nodiscard]] WorkerAlarm alarm_of(std::string_view worker, std::uint64_t answer, const DriftFinding& finding);
/// Throws unless the times of each source fit its answers.
void require_times(std::span<const CategoryAnswers> sources, std::span<const std::vector<double>> times);

/// What the columns of a task say of its posterior.
struct TaskColumns {
  std::int64_t label;
  double probability;
  double entropy;
};
[[nodiscard]] TaskColumns columns_of(std::span<const double> posterior) noexcept;
/// How many of `answers` are right at the share of right ones in a table of counts. A worker who forgets has a table of
/// fewer than it gave.
[[nodiscard]] double right_answers(std::span<const double> counts, std::size_t classes, double answers) noexcept;
/// The truth of each task of the file that is known, by name; kNoClass for the others. Empty when nothing is known.
[[nodiscard]] std::vector<ClassId> known_truths(const StateFile& file, const NameTable& tasks, std::size_t classes);

/// How many classes a state can have: the table of a worker is one row.
[[nodiscard]] std::size_t most_classes(const Database& database);
/// Everything that a state holds, in memory.
[[nodiscard]] CrowdState::Whole read_whole(const StateFile& file, const RunContext& context);

struct CrowdState::Inside {
  StateFile file;
};

}  // namespace wisecrowd
