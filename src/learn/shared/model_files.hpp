#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wisecrowd {

/// More numbers than any file of a model holds, and few enough that counts of bytes do not wrap.
inline constexpr std::uint64_t kMostNumbers = std::uint64_t{1} << 40;

// Model folders are untrusted input. Everything below refuses what is no ordinary file (a folder, a pipe that would
// block, a device without an end), and compares the size of a file with what is wanted before it asks for memory.

/// Throws bad_input that begins with the path.
[[noreturn]] void refuse_model(const std::string& path, const std::string& what);

/// The whole file; refuses more than `most` bytes.
[[nodiscard]] std::string read_model_bytes(const std::string& path, std::uint64_t most);
void write_model_bytes(const std::string& path, std::string_view bytes);

/// An .npy file with so many numbers in a row, at most kMostNumbers; all of them are finite. For float, double and
/// std::uint64_t.
template <class Number>
[[nodiscard]] std::vector<Number> read_model_numbers(const std::string& path, std::uint64_t count);
template <class Number>
void write_model_numbers(const std::string& path, std::span<const Number> numbers);

/// The beginning of such a file. It is the same bytes for the same number, so reading back is a comparison.
template <class Number>
[[nodiscard]] std::string model_array_header(std::uint64_t count);

}  // namespace wisecrowd
