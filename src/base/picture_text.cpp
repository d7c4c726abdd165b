#include <array>

#include "base/picture.hpp"
#include "base/utf8.hpp"

namespace wisecrowd::picture {
namespace {

// Hundredths of the size from ' ' to '~' as in DejaVu Sans, one of the widest of the usual sans-serif fonts.
constexpr std::array<unsigned char, 95> kAscii = {
    32, 40, 46, 84, 64, 95, 78, 27, 39,  39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79,
    60, 79, 69, 63, 61, 73, 68, 99, 69,  61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63,
    63, 28, 28, 58, 28, 97, 63, 61, 63,  63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84};
constexpr double kBold = 1.15, kLetter = 0.7, kWide = 1.0;
constexpr std::string_view kDots = "…";

/// In units of the size. Marks upon letters count as letters: a thousand of them on one must not pass for short.
double width_of(char32_t c) {
  if (c < 0x20) return 0;
  if (c < 0x7F) return kAscii[c - 0x20] / 100.0;
  return c < 0x1100 ? kLetter : kWide;
}

/// Orders to the renderer rather than letters, and what XML does not allow.
bool is_order(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF || (c & 0xFFFEU) == 0xFFFE;
}

struct Piece {
  std::string_view text;
  double width;
};

std::vector<Piece> pieces_of(std::string_view text) {
  std::vector<Piece> pieces;
  while (!text.empty()) {
    const Utf8Character c = first_character(text);
    const std::string_view shown = !c.valid ? "\xEF\xBF\xBD" : is_order(c.code) ? " " : text.substr(0, c.bytes);
    pieces.push_back({shown, width_of(c.valid && is_order(c.code) ? U' ' : c.code)});
    text.remove_prefix(c.bytes);
  }
  return pieces;
}

double width_of(const std::vector<Piece>& pieces) {
  double width = 0;
  for (const Piece& piece : pieces) width += piece.width;
  return width;
}

}  // namespace

double text_width(std::string_view text, double size, bool bold) {
  return width_of(pieces_of(text)) * size * (bold ? kBold : 1);
}

std::string fitting_text(std::string_view text, double room, double size, bool bold) {
  const std::vector<Piece> pieces = pieces_of(text);
  const double units = room / (size * (bold ? kBold : 1));
  std::size_t head = pieces.size(), tail = pieces.size();
  if (width_of(pieces) > units) {
    // The ends of names and paths tell more than their middles.
    const double half = (units - kWide) / 2;
    double used = 0;
    for (head = 0; head < pieces.size() && used + pieces[head].width <= half; ++head) used += pieces[head].width;
    for (used = 0; tail > head && used + pieces[tail - 1].width <= half; --tail) used += pieces[tail - 1].width;
  }
  std::string out;
  for (std::size_t p = 0; p < head; ++p) out += pieces[p].text;
  if (tail > head) out += kDots;
  for (std::size_t p = tail; p < pieces.size(); ++p) out += pieces[p].text;
  return out;
}

}  // namespace wisecrowd::picture
