#pragma once

#include "wisecrowd/features.hpp"

namespace wisecrowd {

/// Calls entry(column, value) for what a row holds; sparse rows give their entries only.
template <class Entry>
void for_each_entry(const Features& features, std::size_t row, const Entry& entry) {
  if (features.is_sparse()) {
    for (std::uint64_t e = features.offsets[row]; e < features.offsets[row + 1]; ++e) {
      entry(features.indices[e], static_cast<double>(features.values[e]));
    }
    return;
  }
  const auto values = features.row(row);
  for (std::size_t c = 0; c < values.size(); ++c) entry(c, static_cast<double>(values[c]));
}

}  // namespace wisecrowd
