#pragma once

#include <optional>
#include <string_view>

namespace wisecrowd::ingest {

/// The value of a plain decimal of at most 15 digits ("-12.345"), which is how most numbers are written; nothing of
/// any other text, which std::from_chars is for. Correctly rounded, because such digits and the power of ten below them
/// are doubles exactly, and a division rounds once (Clinger 1990).
[[nodiscard]] inline std::optional<double> short_decimal(std::string_view text) noexcept {
  constexpr std::size_t kMostDigits = 15;
  constexpr double kPowers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  if (at == end || static_cast<std::size_t>(end - at) > kMostDigits + 1) return std::nullopt;
  long long digits = 0;
  const char* point = nullptr;
  for (const char* c = at; c != end; ++c) {
    const unsigned digit = static_cast<unsigned char>(*c) - unsigned{'0'};
    if (digit <= 9) {
      digits = digits * 10 + static_cast<long long>(digit);
    } else if (*c == '.' && point == nullptr) {
      point = c;
    } else {
      return std::nullopt;
    }
  }
  const std::size_t count = static_cast<std::size_t>(end - at) - (point != nullptr ? 1 : 0);
  if (count == 0 || count > kMostDigits) return std::nullopt;
  const std::size_t decimals = point != nullptr ? static_cast<std::size_t>(end - point) - 1 : 0;
  const double value = static_cast<double>(digits) / kPowers[decimals];
  return negative ? -value : value;
}

}  // namespace wisecrowd::ingest
