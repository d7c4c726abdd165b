#pragma once

#include <span>
#include <vector>

#include "aggregate/sets/shared/relevance.hpp"

namespace wisecrowd::sets {

/// The candidates of one task, and where the classes of an answer stand among them.
class CandidateRow {
 public:
  CandidateRow(const SetFit& fit, std::size_t task)
      : classes_(std::span(fit.candidates).subspan(fit.offsets[task], fit.offsets[task + 1] - fit.offsets[task])),
        all_(classes_.size() == fit.class_count) {}

  [[nodiscard]] std::size_t size() const noexcept { return classes_.size(); }
  /// All classes, so that place and class are the same.
  [[nodiscard]] bool all() const noexcept { return all_; }
  [[nodiscard]] std::span<const ClassId> classes() const noexcept { return classes_; }
  /// Calls each(place) for those of an ascending list; each of them is a candidate.
  template <class Each>
  void for_each(std::span<const ClassId> labels, const Each& each) const {
    std::size_t place = 0;
    for (const ClassId label : labels) {
      if (all_) {
        place = index(label);
      } else {
        while (classes_[place] != label) ++place;
      }
      each(place);
    }
  }

 private:
  std::span<const ClassId> classes_;
  bool all_;
};

/// One fit of sets: posteriors by task, and expected counts by worker. Each is made in blocks that do not depend on the
/// number of threads; a block of tasks, or of workers, writes to a place of its own.
class RelevancePass {
 public:
  RelevancePass(const SetData& data, SetFit& fit, const RunContext& context);

  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  /// From the probabilities of the fit.
  void count();
  /// Tables of the E-step from the model; returns its part of the objective.
  double update_workers(const WorkerModel& model);
  /// Probabilities of the fit from tables and profiles. Returns the log probability of the answers; `mass` receives how
  /// many tasks of each profile have each class (profiles × classes), `tasks` how many belong to each.
  double posterior(Profiles& profiles, std::vector<double>& mass, std::vector<double>& tasks);

 private:
  void set_worker(std::size_t worker, const LogRow& logs);
  void count_worker(std::size_t worker);
  /// The log odds that the answers of a task give to its candidates; returns the log probability of these answers if no
  /// class were true.
  double evidence(std::size_t task, const CandidateRow& row, std::vector<double>& odds) const;

  const SetData& data_;
  SetFit& fit_;
  const RunContext& context_;
  std::size_t classes_;
  Counts counts_;
  // Workers × classes, as the E-step adds them up.
  std::vector<double> unnamed_;  ///< what not naming a class adds to its log odds
  std::vector<double> gain_;     ///< what naming it adds beyond that
  std::vector<double> alarm_;    ///< log of a false alarm, less that of none
  std::vector<double> silence_;  ///< by worker: log of naming nothing where nothing is true
};

}  // namespace wisecrowd::sets
