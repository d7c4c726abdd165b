#pragma once

#include <optional>

#include "ingest/byte_source.hpp"
#include "ingest/tuning.hpp"
#include "wisecrowd/ingest.hpp"

namespace wisecrowd::ingest {

// The public functions with all that tests and fuzzers want to choose: bytes in memory, sizes of the working pieces.

[[nodiscard]] Dataset read_dataset(const Input& answers, const std::optional<Input>& gold, const ReadOptions& options,
                                   const Tuning& tuning, const RunContext& context, DataReport* report = nullptr);
[[nodiscard]] LabelTable read_label_table(const Input& input, const ReadOptions& options, const Tuning& tuning,
                                          const RunContext& context, DataReport* report = nullptr);

}  // namespace wisecrowd::ingest
