#pragma once

#include <cstddef>

namespace wisecrowd::ingest {

/// Sizes of the reader's working pieces. Results never depend on them; tests make them tiny.
struct Tuning {
  /// Text held in memory at a time, per thread: small enough that the text and the names found in it stay in the
  /// second-level cache until they have ids.
  std::size_t window_bytes = std::size_t{1} << 20;
  bool window_per_thread = true;
  std::size_t chunk_bytes = std::size_t{1} << 17;     ///< text that one thread parses at a time
  std::size_t max_row_bytes = std::size_t{64} << 20;  ///< a longer row is taken for damage, not data
};

}  // namespace wisecrowd::ingest
