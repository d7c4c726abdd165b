#pragma once

#include <memory>
#include <string>

#include "ingest/byte_source.hpp"

namespace wisecrowd::ingest {

/// Unpacks gzip, any number of members one after the other.
[[nodiscard]] std::unique_ptr<ByteSource> gunzip(std::unique_ptr<ByteSource> packed, std::string name);
/// Unpacks Zstandard, any number of frames one after the other.
[[nodiscard]] std::unique_ptr<ByteSource> unzstd(std::unique_ptr<ByteSource> packed, std::string name);
/// Reads from `source` in a thread of its own, a few blocks ahead of its reader.
[[nodiscard]] std::unique_ptr<ByteSource> read_ahead(std::unique_ptr<ByteSource> source);

}  // namespace wisecrowd::ingest
