#pragma once

#include "aggregate/categories/one_coin/one_coin.hpp"

namespace wisecrowd::one_coin {

/// The same model for so many classes that tables would not fit: a posterior differs from the prior only in the labels
/// that were given, so that one number per answer and one per worker are all that an iteration needs. Confusion tables
/// are left out of the result.
[[nodiscard]] CategoryFit fit_without_tables(const CategoryData& data, const RunContext& context,
                                             const Options& options, const CategoryStart& start);

}  // namespace wisecrowd::one_coin
