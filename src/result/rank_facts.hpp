#pragma once

#include <optional>

#include "wisecrowd/category_result.hpp"
#include "wisecrowd/evaluate_ordered.hpp"

namespace wisecrowd {

/// How far the delivered labels are from gold that the method did not see; nothing where classes have no order, or no
/// task has both.
[[nodiscard]] std::optional<RankScores> rank_facts(const CategoryResult& result, const RunContext& context);

}  // namespace wisecrowd
