#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "wisecrowd/category_result.hpp"
#include "wisecrowd/quick_fits.hpp"

namespace wisecrowd {

/// How another method did on the same answers; NaN where it is not known.
struct ComparedMethod {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::string method;
  std::string note;                                        ///< why it could not run, or empty
  Estimate accuracy{kUnknown, kUnknown, kUnknown};         ///< on gold that the methods did not see
  double log_loss = kUnknown;                              ///< on the same
  Estimate log_probability{kUnknown, kUnknown, kUnknown};  ///< of answers that were hidden from it
  double agreement = kUnknown;                             ///< share of tasks with the same label as the result
  double seconds = kUnknown;
  bool is_this = false;  ///< the result itself
};

struct Comparison {
  std::string by;  ///< "gold", "held-out" or "agreement"
  std::vector<ComparedMethod> rows;
  std::string words;  ///< what to make of it
};

/// Scores the result and other fits to the same answers alike: on gold if there is some that the methods did not see,
/// else by how often they agree with the result.
[[nodiscard]] Comparison compare_with(const CategoryResult& result, std::span<const NamedFit> others,
                                      const RunContext& context);

}  // namespace wisecrowd
