#pragma once

#include <cstdint>

namespace wisecrowd {

/// Another number every time, from the system's source of randomness. Results never depend on it: for names of files,
/// and for tables of hashes that nobody can fill on purpose.
[[nodiscard]] std::uint64_t random_seed();

}  // namespace wisecrowd
