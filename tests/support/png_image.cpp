#include "support/png_image.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace wisecrowd::testing {
namespace {

using namespace std::string_view_literals;

void require(bool held, const std::string& what) {
  if (!held) throw std::runtime_error("PNG: " + what);
}

std::uint32_t number(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes.substr(0, 4)) value = value << 8U | static_cast<unsigned char>(c);
  return value;
}

/// The predictor of Paeth, ISO 15948, 9.4.
int paeth(int left, int up, int corner) {
  const int estimate = left + up - corner;
  const int to_left = std::abs(estimate - left), to_up = std::abs(estimate - up),
            to_corner = std::abs(estimate - corner);
  return to_left <= to_up && to_left <= to_corner ? left : to_up <= to_corner ? up : corner;
}

}  // namespace

std::uint32_t PngImage::at(std::size_t x, std::size_t y) const {
  const unsigned char* pixel = bytes.data() + (y * width + x) * 3;
  return static_cast<std::uint32_t>(pixel[0]) << 16U | static_cast<std::uint32_t>(pixel[1]) << 8U | pixel[2];
}

std::size_t PngImage::ink(std::size_t left, std::size_t top, std::size_t right, std::size_t bottom) const {
  std::size_t found = 0;
  for (std::size_t y = top; y < std::min(bottom, height); ++y) {
    for (std::size_t x = left; x < std::min(right, width); ++x) found += at(x, y) != 0xFFFFFF ? 1 : 0;
  }
  return found;
}

PngImage read_png(std::string_view file) {
  require(file.starts_with("\x89PNG\r\n\x1a\n"sv), "signature");
  file.remove_prefix(8);
  PngImage image;
  std::string packed;
  bool ended = false;
  while (!file.empty()) {
    require(file.size() >= 12 && !ended, "chunk");
    const std::size_t size = number(file);
    require(file.size() >= 12 + size, "length of a chunk");
    const std::string_view kind = file.substr(4, 4), data = file.substr(8, size);
    const auto* checked = reinterpret_cast<const Bytef*>(file.data() + 4);
    require(crc32(0, checked, static_cast<uInt>(size + 4)) == number(file.substr(8 + size)), "checksum");
    if (kind == "IHDR") {
      image.width = number(data);
      image.height = number(data.substr(4));
      require(data.substr(8) == "\x08\x02\x00\x00\x00"sv, "not 8-bit RGB without interlacing");
    } else if (kind == "IDAT") {
      packed += data;
    }
    ended = kind == "IEND";
    file.remove_prefix(12 + size);
  }
  require(ended && image.width > 0, "end");

  const std::size_t row = image.width * 3;
  std::vector<unsigned char> filtered((row + 1) * image.height);
  uLongf unpacked = filtered.size();
  require(
      uncompress(filtered.data(), &unpacked, reinterpret_cast<const Bytef*>(packed.data()), packed.size()) == Z_OK &&
          unpacked == filtered.size(),
      "data");
  image.bytes.resize(row * image.height);
  for (std::size_t y = 0; y < image.height; ++y) {
    const unsigned char* from = filtered.data() + y * (row + 1);
    unsigned char* to = image.bytes.data() + y * row;
    for (std::size_t i = 0; i < row; ++i) {
      const int left = i >= 3 ? to[i - 3] : 0, up = y > 0 ? *(to + i - row) : 0;
      const int corner = i >= 3 && y > 0 ? *(to + i - row - 3) : 0;
      const int guess[] = {0, left, up, (left + up) / 2, paeth(left, up, corner)};
      require(from[0] < 5, "filter");
      to[i] = static_cast<unsigned char>(from[i + 1] + guess[from[0]]);
    }
  }
  return image;
}

}  // namespace wisecrowd::testing
