#pragma once

#include "aggregate/categories/automatic/automatic.hpp"

namespace wisecrowd::automatic {

/// The fit in which each group of dependent workers is one voice, if there are such groups; `result` is replaced then.
/// They are looked for among `everybody`, and counted once among those of `data`.
bool count_groups_once(const CategoryData& everybody, const CategoryData& data, const Options& options,
                       const RunContext& context, CategoryFit& result, TemperingFit& tempering);

}  // namespace wisecrowd::automatic
