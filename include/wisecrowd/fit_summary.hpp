#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// How much a warning matters.
enum class Severity {
  note,     ///< worth knowing; nothing has to be done
  caution,  ///< results may be worse than they look
  serious,  ///< results should not be used before this is looked into
};

/// Something that the user should know about the data or the fit, with what to do about it.
struct Warning {
  std::string code;     ///< stable and short: "one_answer_per_task"
  std::string message;  ///< what is the matter, in a sentence
  std::string remedy;   ///< what to do about it, in a sentence; empty when there is nothing to do
  Severity severity = Severity::caution;
};

/// What every fit tells about itself, whatever the kind of answers.
struct FitSummary {
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
};

}  // namespace wisecrowd
