#pragma once

#include <memory>
#include <span>

#include "wisecrowd/category_data.hpp"
#include "wisecrowd/category_fit.hpp"
#include "wisecrowd/parameters.hpp"

namespace wisecrowd {

/// Belief propagation that is asked again and again about the same answers, while what else is known of the tasks
/// changes: the E-step of a learner. Each call goes on from the messages of the one before, so that small changes cost
/// few iterations.
class BeliefSession {
 public:
  virtual ~BeliefSession() = default;
  /// `task_priors` are tasks × classes, rows sum to 1.
  [[nodiscard]] virtual CategoryFit infer(std::span<const double> task_priors, const RunContext& context) = 0;
  /// With the messages as they are now.
  [[nodiscard]] virtual std::unique_ptr<BeliefSession> clone() const = 0;
};

/// `parameters` are those of the method "bp". Throws bad_input for data that it cannot take.
[[nodiscard]] std::unique_ptr<BeliefSession> make_belief_session(const CategoryData& data,
                                                                 const Parameters& parameters);

}  // namespace wisecrowd
