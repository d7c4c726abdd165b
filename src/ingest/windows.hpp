#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/huge_vector.hpp"
#include "ingest/byte_source.hpp"

namespace wisecrowd::ingest {

/// A sliding view of a source: bytes not yet consumed, always followed by kScanPadding readable ones.
class WindowReader {
 public:
  explicit WindowReader(ByteSource& source);

  /// Makes at least `wanted` unconsumed bytes available, or all that are left. Earlier views become invalid.
  void fill(std::size_t wanted);
  void consume(std::size_t bytes) noexcept { begin_ += bytes; }

  [[nodiscard]] std::string_view bytes() const noexcept { return {buffer_.data() + begin_, end_ - begin_}; }
  /// Nothing follows after bytes().
  [[nodiscard]] bool at_end() const noexcept { return at_end_; }

 private:
  ByteSource& source_;
  HugeVector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  bool at_end_ = false;
};

/// Cuts text that begins at the start of a row into stretches of whole rows, each about `chunk_bytes` long. What is
/// left over (a row that goes on after the text) belongs to no stretch. `quotes`: line ends inside quoted fields
/// separate nothing. Returns the end of each stretch.
[[nodiscard]] std::vector<std::size_t> cut_rows(std::string_view text, bool at_end, std::size_t chunk_bytes,
                                                char delimiter, bool quotes);

}  // namespace wisecrowd::ingest
