#pragma once

#include "ingest/byte_source.hpp"
#include "ingest/tuning.hpp"
#include "wisecrowd/features.hpp"

namespace wisecrowd::ingest {

/// True when the bytes begin like an .npy file.
[[nodiscard]] bool looks_like_npy(std::string_view first_bytes) noexcept;

/// Reads an .npy array of 2 to 4 dimensions; the first counts the rows. Integers, bytes and booleans become floats as
/// they are. Nothing is allocated on the word of a header: memory grows with what the file really holds.
[[nodiscard]] Features read_npy(const Input& input, const Tuning& tuning, const RunContext& context);
[[nodiscard]] Features read_npy(ByteSource& source, const std::string& file, const Tuning& tuning,
                                const RunContext& context);

}  // namespace wisecrowd::ingest
