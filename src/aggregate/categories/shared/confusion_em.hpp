#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "aggregate/categories/shared/confusion_pass.hpp"
#include "base/parameter_visitor.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd {

/// What the models of the Dawid–Skene family have in common.
struct EmOptions {
  enum class ClassPrior { learned, uniform };
  enum class Start { votes, majority, random };
  enum class Acceleration { none, squarem };

  ClassPrior class_prior = ClassPrior::learned;
  double class_pseudo_count = 0;  ///< c0: added to the mass of every class when the prior is learned
  std::size_t max_iterations = 300;
  double tolerance = 1e-8;  ///< stop when the objective gains less than this share of its size
  Start start = Start::votes;
  Acceleration acceleration = Acceleration::squarem;
  std::size_t restarts = 0;  ///< further starts from random posteriors; the best objective wins
  double gold_weight = 1;
  TieRule ties = TieRule::lowest;

  /// Without a tolerance it is a number of plain iterations that is asked for.
  [[nodiscard]] bool extrapolates() const noexcept { return acceleration == Acceleration::squarem && tolerance > 0; }
};

/// Where a room differs in what it says of the parameters below.
struct EmWording {
  double least_class_pseudo_count = 0;
  std::string_view class_pseudo_count_help = "tasks added to every class before the class prior is estimated";
  bool with_starts = true;        ///< false: the room has starts of its own
  bool with_acceleration = true;  ///< false: its models say nothing of their state, and take plain steps alone
};
/// The parameters above; a room has its own before them.
void em_parameters(ParameterVisitor& v, EmOptions& options, const EmWording& wording = {});

/// What a model of the family says about workers and classes: its M-step. One object lives for one fit.
class CrowdModel {
 public:
  virtual ~CrowdModel() = default;
  /// Called before the updates of an iteration, when all counts can be read: the place to estimate what workers share.
  /// Returns the part of the objective that belongs to shared parameters.
  virtual double prepare(const ConfusionPass& pass, const RunContext& context);
  /// From the counts of one worker (labels × stride, see ConfusionPass) to its log rows, in the same layout. Returns
  /// the worker's part of the objective. Called from several threads, once per worker and iteration.
  virtual double update(std::size_t worker, const double* counts, double* log_rows) const = 0;
  /// From class masses to the class prior and the logarithms that the E-step uses. Returns their part of the objective.
  virtual double update_class_prior(const ConfusionPass::Sums& sums, const EmOptions& options,
                                    std::vector<double>& prior, std::vector<double>& log_prior) const;
  /// Turns the counts after the last E-step into the worker's table (labels × stride), in place. The default keeps the
  /// tables of the last E-step.
  virtual bool estimate_table(std::size_t worker, double* counts) const;
  /// What the model keeps from one iteration to the next beyond counts and class masses, appended to `state` as
  /// positive numbers of which any are possible; `load` takes such numbers back. An acceleration of EM extrapolates
  /// them, and returns to earlier ones.
  virtual void save(std::vector<double>& state) const;
  virtual void load(std::span<const double> state);
  /// Are iterations from now on all of a kind? Before, they are not extrapolated.
  [[nodiscard]] virtual bool settled() const;
  /// Adds what the model alone knows: skills, learned numbers.
  virtual void finish(CategoryFit& result) const;
};

/// The posterior that a start means, tasks × classes; gold is left to the caller.
[[nodiscard]] std::vector<double> start_posterior(const CategoryData& data, EmOptions::Start start, std::size_t restart,
                                                  const RunContext& context);

/// The class prior from class masses and its logarithms. Returns its part of the objective.
double estimate_class_prior(const ConfusionPass::Sums& sums, const EmOptions& options, std::vector<double>& prior,
                            std::vector<double>& log_prior);

/// What one iteration has come to.
struct EmStep {
  double objective;
  bool plain = true;     ///< an EM map of the state before: only then does a small gain mean rest
  bool retried = false;  ///< a longer step was tried first and discarded, which cost another pass over the answers
};
/// Calls `iterate` until the objective stands still; fills the trace, one entry per pass over the answers. `iterate` is
/// told how many passes are left.
[[nodiscard]] Status climb_to_rest(const EmOptions& options, const RunContext& context, std::vector<double>& trace,
                                   const std::function<EmStep(std::size_t left)>& iterate);
[[nodiscard]] Warning not_converged_warning(std::size_t iterations);

/// Warns when some relabelling of the truth would agree better with what workers said than the solution itself.
void warn_if_flipped(const CategoryData& data, CategoryFit& result);

/// EM for confusion tables: start, then M-step and E-step in turn until the objective stands still.
/// `start`, if given, takes the place of options.start; restarts stay random. `make_model` is called once per start.
[[nodiscard]] CategoryFit fit_confusion_em(
    const CategoryData& data, const RunContext& context, const EmOptions& options, const CategoryStart& start,
    const std::function<std::unique_ptr<CrowdModel>(const ConfusionPass& pass)>& make_model);

}  // namespace wisecrowd
