#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/parameter_visitor.hpp"
#include "wisecrowd/set_methods.hpp"

namespace wisecrowd::sets {

/// Which classes of a task get a probability.
enum class Candidates {
  automatic,  ///< all while answers × classes is below kMostCells, else those that were named
  all,
  named,  ///< those that somebody named for the task; the others are not in its set
};
inline constexpr auto kCandidatesNames = enum_names<Candidates>(
    {{Candidates::automatic, "automatic"}, {Candidates::all, "all"}, {Candidates::named, "named"}});
inline constexpr double kMostCells = 268435456;  // 2^28: about a quarter of a second per iteration

/// What every method for sets can be told.
struct SetOptions {
  double threshold = 0.5;
  Candidates candidates = Candidates::automatic;
};
void set_parameters(ParameterVisitor& v, SetOptions& options);

/// Sizes, candidates (all probabilities 0), and the warnings that hold for any method.
[[nodiscard]] SetFit start_set_fit(const SetData& data, const SetOptions& options);

/// Shares of the answers that name a class; tasks with gold have it.
void vote(const SetData& data, SetFit& fit, const RunContext& context);

/// How often each class is true, by the probabilities of the tasks.
void take_class_prior(SetFit& fit);

/// What workers did, expected over the truth: workers × classes.
struct Counts {
  std::vector<double> hits;     ///< a class was true and the worker named it
  std::vector<double> truths;   ///< it was true
  std::vector<double> named;    ///< the worker named it, true or not
  std::vector<double> answers;  ///< of each worker

  // The four cells of a worker and class.
  [[nodiscard]] double misses(std::size_t cell) const { return truths[cell] - hits[cell]; }
  [[nodiscard]] double false_alarms(std::size_t cell) const { return named[cell] - hits[cell]; }
  [[nodiscard]] double clear(std::size_t cell, std::size_t worker) const {
    return answers[worker] - truths[cell] - false_alarms(cell);
  }
};

/// Logarithms of what one worker does, class by class.
struct LogRow {
  std::vector<double> hit, miss;           ///< where the class is true: named or not
  std::vector<double> false_alarm, clear;  ///< where it is not
};

/// What a model says of workers: its M-step. One object lives for one fit.
class WorkerModel {
 public:
  virtual ~WorkerModel() = default;
  /// Called once per iteration before the updates: the place to estimate what workers share. Returns the part of the
  /// objective that belongs to what is shared.
  virtual double prepare(const Counts&, const RunContext&) { return 0; }
  /// The logarithms that the E-step uses. Returns the worker's part of the objective. Called from several threads.
  virtual double update(const Counts& counts, std::size_t worker, LogRow& logs) const = 0;
  /// Sensitivity and specificity at the end.
  virtual void estimate(const Counts& counts, std::size_t worker, double* sensitivity, double* specificity) const = 0;
  virtual void finish(SetFit&) const {}
};

/// How classes occur together: tasks fall into profiles, and within a profile classes are independent. One profile
/// means that they are independent altogether.
struct Profiles {
  std::size_t count = 1;
  std::vector<double> weight;       ///< one per profile
  std::vector<double> probability;  ///< profiles × classes
  // Of several profiles only:
  std::vector<double> share;     ///< tasks × profiles: which one a task belongs to
  std::vector<double> evidence;  ///< per candidate of the fit: what the task's answers add to the log odds
};

struct RelevanceOptions {
  SetOptions sets;
  std::size_t max_iterations = 300;
  double tolerance = 1e-8;        ///< stop when the objective gains less than this share of its size
  double class_pseudo_count = 0;  ///< tasks like all others that are added to every profile
  std::size_t profiles = 1;
};
void iteration_parameters(ParameterVisitor& v, RelevanceOptions& options);

/// EM, or its variational relative, for truths that are sets: posteriors by task, counts and parameters by worker.
/// `profiles` receives what was learned of them if it is not null.
[[nodiscard]] SetFit fit_relevance(const SetData& data, WorkerModel& model, const RelevanceOptions& options,
                                   const SetStart& start, std::string_view objective, const RunContext& context,
                                   Profiles* profiles = nullptr);

/// Log probability of hidden answers by a fit, with each task's share in the profiles if there are several.
[[nodiscard]] std::vector<double> log_predictive(const SetFit& fit, const Profiles& profiles,
                                                 std::span<const SetAnswer> answers);

}  // namespace wisecrowd::sets
