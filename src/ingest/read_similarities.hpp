#pragma once

#include "ingest/byte_source.hpp"
#include "ingest/tuning.hpp"
#include "wisecrowd/read_similarities.hpp"

namespace wisecrowd::ingest {

// The public functions with all that tests want to choose: bytes in memory, sizes of the working pieces.
[[nodiscard]] SimilarityData read_similarities(const Input& answers, const std::optional<Input>& gold,
                                               const ReadOptions& options, const Tuning& tuning,
                                               const RunContext& context, DataReport* report = nullptr);
void read_similarity_gold(const Input& gold, const ReadOptions& options, const Tuning& tuning,
                          const RunContext& context, SimilarityData& data, DataReport& report);

}  // namespace wisecrowd::ingest
