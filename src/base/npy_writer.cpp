#include "base/npy_writer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

namespace wisecrowd {
namespace {

static_assert(std::endian::native == std::endian::little, "floats are written as they lie in memory");
constexpr std::size_t kValuesPerWrite = std::size_t{1} << 20;
constexpr std::size_t kPreamble = 10;   // magic string, version, length of the text
constexpr std::size_t kAlignment = 64;  // of the first value

}  // namespace

std::string npy_header(std::size_t rows, std::size_t columns) {
  std::string text = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  const std::size_t whole = (kPreamble + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.append(whole - kPreamble - text.size() - 1, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xFF);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

bool write_npy(OutputFile& file, std::span<const float> values, std::size_t columns, const RunContext& context) {
  file.append(npy_header(columns == 0 ? 0 : values.size() / columns, columns));
  for (std::size_t begin = 0; begin < values.size(); begin += kValuesPerWrite) {
    if (context.cancelled()) return false;
    const auto piece = values.subspan(begin, std::min(kValuesPerWrite, values.size() - begin));
    file.append({reinterpret_cast<const char*>(piece.data()), piece.size_bytes()});
    context.report({.stage = "writing features",
                    .done = static_cast<double>(begin + piece.size()),
                    .total = static_cast<double>(values.size())});
  }
  return !context.cancelled();
}

}  // namespace wisecrowd
