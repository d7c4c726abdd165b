#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/category_data.hpp"
#include "wisecrowd/category_fit.hpp"

namespace wisecrowd {

/// A method's fit with defaults, or why it could not be fitted.
struct NamedFit {
  std::string method;
  CategoryFit fit;
  std::string refusal;
  double seconds = 0;
};

/// Fits a few quick methods of different kinds, from a plain vote to tables for every worker, for whoever wants to see
/// whether the choice of method matters. The method `but` is left out. Fewer fits when cancelled on the way.
[[nodiscard]] std::vector<NamedFit> quick_fits(const CategoryData& data, std::string_view but,
                                               const RunContext& context);

/// Up to so many answers × classes they take a second or two.
inline constexpr std::size_t kQuickFitCells = 4'000'000;

}  // namespace wisecrowd
