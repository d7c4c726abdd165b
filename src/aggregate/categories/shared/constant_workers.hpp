#pragma once

#include <vector>

#include "wisecrowd/category_data.hpp"

namespace wisecrowd {

/// Who says the same class to everything, and how far workers vary what they say: a crowd of rules, each of which
/// answers one class or nothing, is no crowd of people.
struct Constancy {
  /// 1 if a worker's answers differ from one another as much as answers of different workers do, 0 if every worker says
  /// one class only: (1 − W)/(1 − Σ_k p_k²), W the chance that two answers of one worker are equal, p the shares of the
  /// classes. 1 where that cannot be told.
  double diversity = 1;
  /// Five answers or more, all equal, and so many that chance would not do it (p_k^n < .001); never a trusted worker.
  std::vector<bool> is_constant;
  std::size_t constant = 0;  ///< how many
  /// Nearly all answers come from constant workers and there is no diversity to speak of: rules, not people.
  bool rules = false;
};
[[nodiscard]] Constancy constancy_of(const CategoryData& data);

/// The same tasks and workers without the answers of some.
[[nodiscard]] CategoryData without_answers_of(const CategoryData& data, const std::vector<bool>& left_out);

}  // namespace wisecrowd
