#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/output_folder.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// The head of an .npy file (version 1.0) of little-endian float32, rows × columns in C order.
[[nodiscard]] std::string npy_header(std::size_t rows, std::size_t columns);

/// Writes a whole .npy file. False when cancelled on the way.
[[nodiscard]] bool write_npy(OutputFile& file, std::span<const float> values, std::size_t columns,
                             const RunContext& context);

}  // namespace wisecrowd
