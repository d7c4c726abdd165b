#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/entry_info.hpp"
#include "wisecrowd/kinds.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// What a method of aggregation says about itself.
struct MethodInfo : EntryInfo {
  bool uses_task_priors = false;
  bool uses_chance = false;     ///< the result depends on the seed
  bool uses_start = false;      ///< it iterates, so it can begin from another method's posterior
  bool allows_repeats = true;   ///< DuplicatePolicy::repeat is meaningful
  std::size_t max_classes = 0;  ///< 0: any number
  std::size_t max_workers = 0;  ///< 0: any number; for methods that compare all workers with each other
};

/// A method with its parameters fixed. `fit` is const: one object may serve many threads at once.
template <class Kind>
class Aggregator {
 public:
  virtual ~Aggregator() = default;
  /// `start` is left aside by methods that do not declare uses_start.
  [[nodiscard]] virtual typename Kind::Fit fit(const typename Kind::Data& data, const RunContext& context,
                                               const typename Kind::Start& start = {}) const = 0;
  /// What a fit to `data` says of answers that are not part of it: the log probability (or log density) of each. This
  /// is how methods are compared, and a default chosen, without gold.
  [[nodiscard]] virtual std::vector<double> log_predictive(const typename Kind::Data& data,
                                                           std::span<const typename Kind::Answer> answers,
                                                           const RunContext& context) const;
};

/// For categories, by default: Σ_k q_ik th_j[k][y], the posterior of the task and the table of the worker (estimated
/// from the posterior if the method has none); methods whose answers depend on more than the class say it themselves.
template <>
std::vector<double> Aggregator<Categories>::log_predictive(const CategoryData& data,
                                                           std::span<const CategoryAnswer> answers,
                                                           const RunContext& context) const;

/// For numbers, by default: normal around the estimate and the worker's bias, with the deviations of both.
template <>
std::vector<double> Aggregator<Numbers>::log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                                        const RunContext& context) const;

using CategoryAggregator = Aggregator<Categories>;
using NumberAggregator = Aggregator<Numbers>;

/// One method of a chain, with its parameters.
struct MethodStage {
  std::string method;
  Parameters parameters;
  /// What the next stage starts from: the posterior itself, or the one that this method's worker tables imply (one more
  /// E-step, which makes a start of a plain vote, for example, that knows its workers).
  enum class Handoff { posterior, tables };
  Handoff handoff = Handoff::posterior;
};

/// All methods, in the order of methods.def.
[[nodiscard]] std::span<const MethodInfo> aggregation_methods();
/// Also by an alias: "em" is dawid_skene, "auto" is automatic. Throws bad_parameter that lists the candidates when
/// there is no such method.
[[nodiscard]] const MethodInfo& aggregation_method(std::string_view name);
/// The method that `aggregate` uses when none is named.
[[nodiscard]] std::string_view default_aggregation_method();

[[nodiscard]] std::unique_ptr<CategoryAggregator> make_aggregator(std::string_view name, const Parameters& parameters);

// The same for any kind of answers: methods_of<Numbers>(). Names of methods are unique over all kinds.
template <class Kind>
[[nodiscard]] std::span<const MethodInfo> methods_of();
/// Throws bad_parameter that lists the candidates when there is no such method, and says so when it is one for another
/// kind of answers.
template <class Kind>
[[nodiscard]] const MethodInfo& method_of(std::string_view name);
template <class Kind>
[[nodiscard]] std::string_view default_method_of();
template <class Kind>
[[nodiscard]] std::unique_ptr<Aggregator<Kind>> make_method(std::string_view name, const Parameters& parameters);

/// Data that name their kind: those of all kinds but categories, which have functions of their own below.
template <class Data>
concept DataOfKind = requires {
  typename Data::Kind;
};
template <DataOfKind Data>
[[nodiscard]] typename Data::Kind::Fit aggregate(const Data& data, std::string_view method,
                                                 const Parameters& parameters, const RunContext& context);
/// By the default method, or by another with its defaults.
template <DataOfKind Data>
[[nodiscard]] typename Data::Kind::Fit aggregate(const Data& data, std::string_view method = {}) {
  using Kind = typename Data::Kind;
  const std::string_view name = method.empty() ? default_method_of<Kind>() : method;
  return aggregate(data, name, Parameters(method_of<Kind>(name).parameters), RunContext());
}

/// A kind of answers, for those who show lists of all.
struct AnswerKind {
  std::string_view name;  ///< "numbers"
  std::span<const MethodInfo> methods;
  std::string_view default_method;
};
/// In the order of answer_kinds.def.
[[nodiscard]] std::span<const AnswerKind> answer_kinds();

/// Checks the data, makes the aggregator and fits it. What most callers want.
[[nodiscard]] CategoryFit aggregate(const CategoryData& data, std::string_view method, const Parameters& parameters,
                                    const RunContext& context, const CategoryStart& start = {});
[[nodiscard]] CategoryFit aggregate(const CategoryData& data, std::string_view method = {});
/// Each stage starts where the one before ended; the result is the last one's, with the warnings of all. Refuses before
/// any work when a stage cannot start from another, or cannot take these data.
[[nodiscard]] CategoryFit aggregate(const CategoryData& data, std::span<const MethodStage> stages,
                                    const RunContext& context);

}  // namespace wisecrowd
