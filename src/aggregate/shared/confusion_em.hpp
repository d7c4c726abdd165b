#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "aggregate/shared/confusion_pass.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd {

/// What the models of the Dawid–Skene family have in common.
struct EmOptions {
  enum class ClassPrior { learned, uniform };
  enum class Start { votes, majority, random };

  ClassPrior class_prior = ClassPrior::learned;
  double class_pseudo_count = 0;  ///< c0: added to the mass of every class when the prior is learned
  std::size_t max_iterations = 300;
  double tolerance = 1e-8;  ///< stop when the objective gains less than this share of its size
  Start start = Start::votes;
  std::size_t restarts = 0;  ///< further starts from random posteriors; the best objective wins
  double gold_weight = 1;
  TieRule ties = TieRule::lowest;
};

/// Declares the parameters above; a room appends its own.
[[nodiscard]] std::vector<ParameterSpec> em_parameters();
[[nodiscard]] EmOptions em_options_from(const Parameters& parameters);

/// The M-step of a model: turns expected counts into log tables. One object lives for one fit.
class WorkerTables {
 public:
  virtual ~WorkerTables() = default;
  /// Called before the updates of an iteration, when all counts can be read: the place to estimate what workers share.
  /// Returns the part of the objective that belongs to shared parameters.
  virtual double prepare(const ConfusionPass& pass, const RunContext& context, std::size_t iteration) {
    static_cast<void>(pass), static_cast<void>(context), static_cast<void>(iteration);
    return 0;
  }
  /// From the counts of one worker (labels × stride, see ConfusionPass) to its log rows, in the same layout. Returns
  /// the worker's part of the objective (its log prior density up to a constant). Called from several threads.
  virtual double update(const double* counts, double* log_rows) const = 0;
  /// Numbers worth recording.
  virtual std::vector<std::pair<std::string, double>> learned() const { return {}; }
};

/// EM for confusion tables: start, then M-step and E-step in turn until the log-posterior stands still.
/// `make_tables` is called once per start with the number of classes and the row stride.
[[nodiscard]] Aggregation fit_confusion_em(
    const Dataset& data, const RunContext& context, const EmOptions& options,
    const std::function<std::unique_ptr<WorkerTables>(std::size_t classes, std::size_t stride)>& make_tables);

}  // namespace wisecrowd
