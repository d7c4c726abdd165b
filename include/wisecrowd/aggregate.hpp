#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/dataset.hpp"
#include "wisecrowd/parameters.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// How the hard label is taken from equal probabilities.
enum class TieRule {
  lowest,      ///< the lowest class id
  highest,     ///< the highest class id
  random,      ///< uniformly at random, by seed
  fractional,  ///< labelled as lowest, but scored with credit 1/t for t tied classes
};

/// Something that the user should know about the data or the fit, with what to do about it.
struct Warning {
  std::string code;     ///< stable and short: "one_answer_per_task"
  std::string message;  ///< a sentence, with a remedy
};

/// What an aggregator returns: a value, complete, never half-fitted.
struct Aggregation {
  std::size_t task_count = 0;
  std::size_t worker_count = 0;
  std::size_t class_count = 0;

  std::vector<double> posterior;  ///< tasks × classes, rows sum to 1
  /// The posterior is a mean over draws of all that is unknown, so that it allows for what is not known of the tables.
  bool posterior_is_averaged = false;
  std::vector<ClassId> labels;  ///< per task, by the tie rule
  TieRule tie_rule = TieRule::lowest;
  std::vector<double> class_prior;          ///< P(truth = k)
  std::vector<double> confusion;            ///< workers × truth × label, rows sum to 1; empty if the method has none
  std::vector<double> skill;                ///< one number per worker in the method's own scale, or empty
  std::vector<std::uint32_t> worker_group;  ///< the community of each worker, from 0, for methods that find them
  std::string task_score_name;     ///< what task_score holds ("easiness", "difficulty", "margin"), a column name
  std::vector<double> task_score;  ///< one number per task for methods that know more of it than its label, or empty

  std::string objective_name;          ///< what the trace holds, empty if the method has no objective
  bool objective_is_monotone = false;  ///< declared: the trace never falls
  std::vector<double> trace;
  double log_likelihood = 0;  ///< of the answers at the final parameters, when has_log_likelihood
  bool has_log_likelihood = false;
  std::size_t iterations = 0;
  double seconds_per_iteration = 0;  ///< mean wall time of one iteration; not part of the result's identity
  Status status = Status::converged;
  std::vector<Warning> warnings;
  std::string explanation;  ///< in words, for methods that make a choice: what was chosen and why
  /// Named numbers that the method learned about itself (hyper-parameters, chosen restart …).
  std::vector<std::pair<std::string, double>> learned;

  [[nodiscard]] std::span<const double> posterior_of(TaskId task) const {
    return std::span(posterior).subspan(index(task) * class_count, class_count);
  }
  [[nodiscard]] std::span<const double> confusion_of(WorkerId worker) const {
    return std::span(confusion).subspan(index(worker) * class_count * class_count, class_count * class_count);
  }
};

/// Where a fit begins: what another method found out, or nothing. A method that works on worker tables first turns the
/// posterior into theirs (its M-step), so a start from tables is a start from the posterior that they imply.
struct Start {
  std::span<const double> posterior;  ///< tasks × classes, rows sum to 1; empty for the method's own start
  [[nodiscard]] bool empty() const noexcept { return posterior.empty(); }
};

/// What a method says about itself.
struct MethodInfo {
  std::string name;  ///< as on the command line
  std::string title;
  std::string summary;  ///< one sentence
  std::string when_to_use;
  std::string reference;  ///< the paper
  std::vector<ParameterSpec> parameters;
  bool uses_gold = false;
  bool uses_task_priors = false;
  bool uses_chance = false;     ///< the result depends on the seed
  bool uses_start = false;      ///< it iterates, so it can begin from another method's posterior
  bool allows_repeats = true;   ///< DuplicatePolicy::repeat is meaningful
  std::size_t max_classes = 0;  ///< 0: any number
  std::size_t max_workers = 0;  ///< 0: any number; for methods that compare all workers with each other
  std::string assumptions;      ///< what must hold for it to be right, one sentence
  std::string cost;             ///< time per iteration and memory, in answers S, tasks N, workers M, classes K
};

/// A method with its parameters fixed. `fit` is const: one object may serve many threads at once.
class Aggregator {
 public:
  virtual ~Aggregator() = default;
  /// `start` is left aside by methods that do not declare uses_start.
  [[nodiscard]] virtual Aggregation fit(const Dataset& data, const RunContext& context,
                                        const Start& start = {}) const = 0;
  /// What a fit to `data` says of answers that are not part of it: the probability of each. By default
  /// Σ_k q_ik th_j[k][y], the posterior of the task and the table of the worker (estimated from the posterior if the
  /// method has none); methods whose answers depend on more than the class say it themselves.
  [[nodiscard]] virtual std::vector<double> foretell(const Dataset& data, std::span<const Answer> answers,
                                                     const RunContext& context) const;
};

/// One method of a chain, with its parameters.
struct MethodStage {
  std::string method;
  Parameters parameters;
  /// What the next stage starts from: the posterior itself, or the one that this method's worker tables imply (one more
  /// E-step, which makes a start of a plain vote, for example, that knows its workers).
  enum class HandOver { posterior, tables };
  HandOver hand_over = HandOver::posterior;
};

/// All methods, in the order of methods.def.
[[nodiscard]] std::span<const MethodInfo> aggregation_methods();
/// Also by an alias: "em" is dawid_skene, "auto" is automatic. Throws bad_parameter that lists the candidates when
/// there is no such method.
[[nodiscard]] const MethodInfo& aggregation_method(std::string_view name);
/// The method that `aggregate` uses when none is named.
[[nodiscard]] std::string_view default_aggregation_method();

[[nodiscard]] std::unique_ptr<Aggregator> make_aggregator(std::string_view name, const Parameters& parameters);

/// Checks the data, makes the aggregator and fits it. What most callers want.
[[nodiscard]] Aggregation aggregate(const Dataset& data, std::string_view method, const Parameters& parameters,
                                    const RunContext& context, const Start& start = {});
[[nodiscard]] Aggregation aggregate(const Dataset& data, std::string_view method = {});
/// Each stage starts where the one before ended; the result is the last one's, with the warnings of all. Refuses before
/// any work when a stage cannot start from another, or cannot take these data.
[[nodiscard]] Aggregation aggregate(const Dataset& data, std::span<const MethodStage> stages,
                                    const RunContext& context);

}  // namespace wisecrowd
