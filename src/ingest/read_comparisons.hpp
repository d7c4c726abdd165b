#pragma once

#include "ingest/byte_source.hpp"
#include "ingest/tuning.hpp"
#include "wisecrowd/read_comparisons.hpp"

namespace wisecrowd::ingest {

/// The public function with all that tests want to choose: bytes in memory, sizes of the working pieces.
[[nodiscard]] ComparisonData read_comparisons(const Input& answers, const std::optional<Input>& gold,
                                              const ReadOptions& options, const Tuning& tuning,
                                              const RunContext& context, DataReport* report = nullptr);

}  // namespace wisecrowd::ingest
