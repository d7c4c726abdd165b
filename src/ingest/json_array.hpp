#pragma once

#include <memory>
#include <string>

#include "ingest/byte_source.hpp"
#include "wisecrowd/ingest.hpp"

namespace wisecrowd::ingest {

/// JSON Lines out of one JSON array of objects, on the way: each element becomes a line of its own. Line breaks inside
/// and between elements are made good, so that lines keep their numbers; elements that share a line get lines of their
/// own. Sources that hold no array, by the rules of detect_format, pass unchanged.
[[nodiscard]] std::unique_ptr<ByteSource> without_array(std::unique_ptr<ByteSource> source, const std::string& file,
                                                        TableFormat asked);

}  // namespace wisecrowd::ingest
