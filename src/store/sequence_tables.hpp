#pragma once

#include <span>
#include <string>

#include "base/output_folder.hpp"
#include "wisecrowd/run_context.hpp"
#include "wisecrowd/sequence_data.hpp"

namespace wisecrowd {

/// A table of tags, without the tokens that have none; `probability` may be empty. False when cancelled.
[[nodiscard]] bool write_tags(OutputFile& file, const SequenceData& data, std::span<const TagId> tags,
                              std::span<const double> probability, const RunContext& context);

/// The tokens of a span, with blanks between.
[[nodiscard]] std::string span_text(const SequenceData& data, const Span& span);

}  // namespace wisecrowd
