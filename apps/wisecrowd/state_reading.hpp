#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common_options.hpp"
#include "wisecrowd/state.hpp"

namespace wisecrowd::app {

/// What a state remembers of how its first table was read: columns, layout, and the format of standard input.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> remembered_reading(const ReadOptions& options);

/// What was typed, and what the state remembers where nothing was.
[[nodiscard]] ReadOptions with_remembered(ReadOptions typed, const StateSummary& state, const std::string& file);

/// Moves the gold that came with the answers, as in files of platforms, to `truths`.
void take_truths(CategoryData& data, std::vector<KnownTruth>& truths);

/// Known truths from a table of task and label. Their task column may be called as that of the answers.
[[nodiscard]] std::vector<KnownTruth> read_known_truths(const std::string& path, const ReadOptions& options,
                                                        const RunContext& context, std::vector<Warning>& warnings);

}  // namespace wisecrowd::app
