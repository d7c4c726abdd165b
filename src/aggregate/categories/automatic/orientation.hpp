#pragma once

#include <optional>
#include <vector>

#include "wisecrowd/category_data.hpp"
#include "wisecrowd/category_fit.hpp"

namespace wisecrowd::automatic {

/// How many workers are surely right more often than by guessing, by a fit, and how many surely less often; of trusted
/// workers only, if there are any of whom it is sure.
struct Sides {
  std::size_t with = 0, against = 0;
};
[[nodiscard]] Sides sides_of(const CategoryData& data, const CategoryFit& fit);

/// A fit cannot tell a solution from the one in which everybody is as wrong as now right. Where most workers contradict
/// the labels of a fit, few but consistent ones (colluders, mostly) have named the classes: then the votes of those
/// against, to start again from.
[[nodiscard]] std::optional<std::vector<double>> votes_of_those_against(const CategoryData& data,
                                                                        const CategoryFit& fit);

}  // namespace wisecrowd::automatic
