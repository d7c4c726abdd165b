#pragma once

#include "ingest/byte_source.hpp"
#include "ingest/tuning.hpp"
#include "wisecrowd/read_comparisons.hpp"

namespace wisecrowd::ingest {

/// The public function with all that tests want to choose: bytes in memory, sizes of the working pieces.
[[nodiscard]] ComparisonData read_comparisons(const Input& answers, const std::optional<Input>& gold,
                                              const ReadOptions& options, const Tuning& tuning,
                                              const RunContext& context, DataReport* report = nullptr);

/// What a label says of two items, as the number of an Outcome, or PairWords::kUnknown. The winner's name counts before
/// any word, because items may be called "left" or "tie".
[[nodiscard]] std::uint32_t outcome_code(std::string_view left, std::string_view right, std::string_view label);

}  // namespace wisecrowd::ingest
