#pragma once

#include "wisecrowd/category_data.hpp"
#include "wisecrowd/judge_data.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// The hard answers of a crowd of people and machines, one per task and worker: the last where there are several.
[[nodiscard]] CategoryData category_view(const JudgeData& data);

/// Where no family of machines is named, those that do not answer independently of one another (find_dependence) become
/// families: "found 1", "found 2" …. Returns how many.
std::size_t find_judge_families(JudgeData& data, const RunContext& context);

}  // namespace wisecrowd
