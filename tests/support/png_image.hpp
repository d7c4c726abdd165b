#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace wisecrowd::testing {

/// A PNG file taken apart by zlib and the standard alone, so that what drew it does not also judge it.
struct PngImage {
  std::size_t width = 0, height = 0;
  std::vector<unsigned char> bytes;  ///< red, green, blue

  /// 0xRRGGBB
  [[nodiscard]] std::uint32_t at(std::size_t x, std::size_t y) const;
  /// Pixels of the box that are not white.
  [[nodiscard]] std::size_t ink(std::size_t left, std::size_t top, std::size_t right, std::size_t bottom) const;
};

/// Throws std::runtime_error unless it is a whole PNG of 8-bit RGB with right checksums.
[[nodiscard]] PngImage read_png(std::string_view file);

}  // namespace wisecrowd::testing
