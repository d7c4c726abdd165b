#pragma once

#include <optional>
#include <string_view>

namespace wisecrowd::ingest {

/// A time from its text: a number as it is, or a date of ISO 8601 (2024-03-07, with or without a time of day after a T
/// or a blank, and a zone) in seconds since 1970. A date without a zone is taken as one of UTC. Nothing if it is
/// neither. `date` is set if it is a date.
[[nodiscard]] std::optional<double> time_of(std::string_view text, bool& date);

}  // namespace wisecrowd::ingest
