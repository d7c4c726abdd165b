#include "deliver/report/words.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/utf8.hpp"

namespace wisecrowd::report {
namespace {

constexpr std::size_t kLongestName = 200, kHead = 120, kTail = 40;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Calls take(sequence) for each character; invalid bytes come one by one as the replacement character.
template <class Take>
void for_each_character(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    take(character.valid ? text.substr(0, character.bytes) : kReplacement);
    text.remove_prefix(character.bytes);
  }
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string counted(std::uint64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", grouped(number), thing, number == 1 ? "" : thing.ends_with('s') ? "es" : "s");
}

std::size_t character_count(std::string_view text) {
  std::size_t count = 0;
  for_each_character(text, [&](std::string_view) { ++count; });
  return count;
}

std::string shown_name(std::string_view name) {
  const std::size_t characters = name.size() <= kLongestName ? 0 : character_count(name);
  std::string shown;
  if (characters <= kLongestName) {
    for_each_character(name, [&](std::string_view c) { shown += c; });
    return shown;
  }
  std::size_t at = 0;
  std::string tail;
  for_each_character(name, [&](std::string_view c) {
    if (at < kHead) shown += c;
    if (at >= characters - kTail) tail += c;
    ++at;
  });
  return fmt::format("{} … {} ({} characters)", shown, tail, grouped(characters));
}

std::string shown_words(std::string_view words, std::size_t most) {
  std::string shown;
  std::size_t at = 0;
  for_each_character(words, [&](std::string_view c) {
    if (at++ < most) shown += c;
  });
  if (at > most) shown += " …";
  return shown;
}

Json number(double value, int digits) {
  if (!std::isfinite(value)) return nullptr;
  if (value == 0) return 0;
  std::array<char, 40> text{};
  const auto end = fmt::format_to(text.data(), "{:.{}g}", value, digits);
  double read = value;
  std::from_chars(text.data(), end, read);
  // Whole numbers need no ".0".
  if (std::abs(read) < 1e15 && read == std::floor(read)) return static_cast<std::int64_t>(read);
  return read;
}

std::size_t embedded_size(std::string_view text) {
  std::size_t size = 3;  // quotes and a comma
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    size += byte < 0x20 || c == '<' || c == '>' || c == '&' ? 6 : c == '"' || c == '\\' ? 2 : 1;
  }
  return size;
}

std::string with_capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string with_stop(std::string text) {
  if (!text.empty() && std::string_view(".!?…:").find(text.back()) == std::string_view::npos) text += '.';
  return text;
}

}  // namespace wisecrowd::report
