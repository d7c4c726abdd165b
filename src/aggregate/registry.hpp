#pragma once

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd {

/// Throws unsupported, with the remedy, when the method cannot take these data.
void require_fit(const MethodInfo& info, const CategoryData& data, bool with_start);

}  // namespace wisecrowd
