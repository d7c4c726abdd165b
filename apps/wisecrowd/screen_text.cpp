#include "screen_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace wisecrowd::app {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Blocks, not single characters: enough to keep tables straight.
constexpr std::array kNoWidth = {Range{0x0300, 0x036F},   Range{0x0483, 0x0489},  Range{0x0591, 0x05BD},
                                 Range{0x0610, 0x061A},   Range{0x064B, 0x065F},  Range{0x0E34, 0x0E3A},
                                 Range{0x0E47, 0x0E4E},   Range{0x1AB0, 0x1AFF},  Range{0x1DC0, 0x1DFF},
                                 Range{0x200B, 0x200D},   Range{0x2060, 0x2064},  Range{0x20D0, 0x20FF},
                                 Range{0xFE00, 0xFE0F},   Range{0xFE20, 0xFE2F},  Range{0xFEFF, 0xFEFF},
                                 Range{0x1F3FB, 0x1F3FF}, Range{0xE0100, 0xE01EF}};
constexpr std::array kDoubleWidth = {
    Range{0x1100, 0x115F},   Range{0x231A, 0x231B},   Range{0x23E9, 0x23EC},   Range{0x2614, 0x2615},
    Range{0x2648, 0x2653},   Range{0x26AA, 0x26AB},   Range{0x26BD, 0x26BE},   Range{0x26C4, 0x26C5},
    Range{0x2705, 0x2705},   Range{0x270A, 0x270B},   Range{0x2728, 0x2728},   Range{0x274C, 0x274E},
    Range{0x2753, 0x2757},   Range{0x2795, 0x2797},   Range{0x2B50, 0x2B55},   Range{0x2E80, 0x303E},
    Range{0x3041, 0x33FF},   Range{0x3400, 0x4DBF},   Range{0x4E00, 0xA4CF},   Range{0xA960, 0xA97F},
    Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},   Range{0xFF01, 0xFF60},
    Range{0xFFE0, 0xFFE6},   Range{0x1F300, 0x1F64F}, Range{0x1F680, 0x1F6FF}, Range{0x1F7E0, 0x1F7EB},
    Range{0x1F900, 0x1FAFF}, Range{0x20000, 0x3FFFD}};

template <std::size_t N>
bool within(const std::array<Range, N>& ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(), [c](const Range& r) { return c >= r.first && c <= r.last; });
}

struct Decoded {
  char32_t character = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  char32_t c = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    c = c << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (c < kSmallest[length] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return {};
  return {c, length, true};
}

std::size_t width_of(char32_t c) { return within(kNoWidth, c) ? 0 : within(kDoubleWidth, c) ? 2 : 1; }

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), earlier(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    earlier = std::exchange(before, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      // Two letters swapped count as one mistake.
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], earlier[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Decoded next = decode(text);
    width += next.valid ? width_of(next.character) : 1;
    text.remove_prefix(next.bytes);
  }
  return width;
}

namespace {

/// As many whole characters from the front as fit into `width`.
std::string_view front_part(std::string_view text, std::size_t width) {
  std::size_t used = 0;
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const Decoded next = decode(text.substr(bytes));
    used += width_of(next.character);
    if (used > width) break;
    bytes += next.bytes;
  }
  return text.substr(0, bytes);
}

/// The same from the back.
std::string_view back_part(std::string_view text, std::size_t width) {
  std::size_t left = display_width(text);
  while (!text.empty() && left > width) {
    const Decoded next = decode(text);
    left -= width_of(next.character);
    text.remove_prefix(next.bytes);
  }
  return text;
}

}  // namespace

std::string shortened(std::string_view text, std::size_t width) {
  const std::string shown = printable(text);
  if (display_width(shown) <= width) return shown;
  return std::string(front_part(shown, width - 1)) + "…";
}

std::string shortened_name(std::string_view name, std::size_t width) {
  const std::string shown = printable(name);
  if (display_width(shown) <= width) return shown;
  const std::size_t back = (width - 1) / 2;
  return std::string(front_part(shown, width - 1 - back)) + "…" + std::string(back_part(shown, back));
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string result;
  std::size_t column = indent;
  bool first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const std::size_t word_width = display_width(word);
    if (!first && column + 1 + word_width > width) {
      result += '\n';
      result.append(indent, ' ');
      column = indent;
    } else if (!first) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word_width;
    first = false;
  }
  return result;
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  if (printable(word) != word) {
    // Control characters would reach the terminal; this spelling (bash, zsh, ksh) can be shown and typed again.
    std::string spelled = "$'";
    for (const char c : word) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '\'' || c == '\\') {
        spelled += fmt::format("\\{}", c);
      } else if (byte < 0x20 || byte >= 0x7F) {
        spelled += fmt::format("\\x{:02x}", byte);
      } else {
        spelled += c;
      }
    }
    return spelled + "'";
  }
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string counted(std::uint64_t number, std::string_view thing) {
  const bool plural = number != 1;
  if (plural && thing.ends_with("ss")) return fmt::format("{} {}es", grouped(number), thing);
  return fmt::format("{} {}{}", grouped(number), thing, plural ? "s" : "");
}

std::string percent(double share) { return std::isnan(share) ? "–" : fmt::format("{:.1f} %", 100 * share); }

std::string fixed(double number, int digits) {
  if (std::isnan(number)) return "–";
  if (number == 0) number = 0;  // no "-0.000"
  return fmt::format("{:.{}f}", number, digits);
}

std::string duration(double seconds) {
  if (seconds < 0.0005) return "< 1 ms";
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  if (seconds < 119.5) return fmt::format("{:.0f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
  if (whole < 7200) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (quoted && c == '"' && i + 1 < list.size() && list[i + 1] == '"') {
      parts.back() += '"';
      ++i;
    } else if (c == '"' && (quoted || parts.back().empty())) {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  // "dawid" or "david" for "dawid_skene": an unfinished word is also near.
  if (best.empty() && word.size() >= 2) {
    const std::size_t tolerance = word.size() >= 4 ? 1 : 0;
    const auto starts = std::find_if(candidates.begin(), candidates.end(), [&](const std::string& candidate) {
      for (std::size_t length = word.size() - tolerance; length <= word.size() + tolerance; ++length) {
        if (edit_distance(word, std::string_view(candidate).substr(0, length)) <= tolerance) return true;
      }
      return false;
    });
    if (starts != candidates.end()) best = *starts;
  }
  return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

}  // namespace wisecrowd::app
