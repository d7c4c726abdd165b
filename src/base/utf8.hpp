#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace wisecrowd {

/// A character at the front of some text; a byte that begins none counts as one that is not valid.
struct Utf8Character {
  char32_t code = 0xFFFD;  ///< the replacement character where not valid
  std::size_t bytes = 1;
  bool valid = false;
};

/// Bytes that cannot stand in UTF-8, overlong forms, surrogates and what is cut short are not valid. `text` is not
/// empty.
[[nodiscard]] constexpr Utf8Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  char32_t code = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, length, true};
}

/// Characters that move a terminal's cursor, change its colours, or turn the direction of writing.
[[nodiscard]] constexpr bool moves_the_cursor(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200E && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

}  // namespace wisecrowd
