#include "base/csv_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace wisecrowd {
namespace {

constexpr int kDigits = 6;
constexpr std::uint32_t kLimit = 1'000'000;  // 10^kDigits

/// Exact powers of ten: products with them round once.
constexpr std::array kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

bool needs_quotes(std::string_view name) {
  if (name.empty()) return false;
  bool found = name.front() == ' ' || name.back() == ' ' || name.front() == '\t' || name.back() == '\t';
  for (const char c : name) found = found | (c == ',') | (c == '"') | (c == '\n') | (c == '\r');
  return found;
}

/// Six digits without trailing zeros.
char* write_digits(char* out, std::uint32_t digits) {
  std::array<char, kDigits> text{};
  for (int i = kDigits - 1; i >= 0; --i) {
    text[static_cast<std::size_t>(i)] = static_cast<char>('0' + digits % 10);
    digits /= 10;
  }
  int length = kDigits;
  while (length > 1 && text[static_cast<std::size_t>(length - 1)] == '0') --length;
  return std::copy_n(text.data(), length, out);
}

}  // namespace

char* write_probability(char* out, double x) {
  if (x == 0) {
    *out++ = '0';
    return out;
  }
  if (!(x >= 1e-15 && x < 1)) return write_number(out, x);
  // x = 0.d × 10^-zeros with d in [0.1, 1).
  int zeros = 0;
  while (x * kPowers[static_cast<std::size_t>(zeros)] < 0.1) ++zeros;
  auto digits = static_cast<std::uint32_t>(x * kPowers[static_cast<std::size_t>(zeros + kDigits)] + 0.5);
  if (digits >= kLimit) {  // rounded up to the next power of ten
    if (zeros == 0) {
      *out++ = '1';
      return out;
    }
    digits = kLimit / 10;
    --zeros;
  }
  if (zeros < 4) {
    *out++ = '0';
    *out++ = '.';
    for (int i = 0; i < zeros; ++i) *out++ = '0';
    return write_digits(out, digits);
  }
  char* end = write_digits(out + 1, digits);
  out[0] = out[1];
  out[1] = '.';
  if (end == out + 2) end = out + 1;  // a single digit needs no point
  const int exponent = zeros + 1;
  *end++ = 'e';
  *end++ = '-';
  *end++ = static_cast<char>('0' + exponent / 10);
  *end++ = static_cast<char>('0' + exponent % 10);
  return end;
}

double written_probability(double x) {
  if (x == 0 || x == 1) return x;
  std::array<char, kNumberRoom> text{};
  double read = x;
  std::from_chars(text.data(), write_probability(text.data(), x), read);
  return read;
}

char* write_number(char* out, double x) {
  if (std::isnan(x)) return out;
  if (x >= 1e-15 && x < 1) return write_probability(out, x);
  return fmt::format_to(out, "{:.6g}", x);
}

double written_number(double x) {
  if (std::isnan(x)) return x;
  std::array<char, kNumberRoom> text{};
  double read = x;
  std::from_chars(text.data(), write_number(text.data(), x), read);
  return read;
}

std::string csv_field(std::string_view name) {
  if (!needs_quotes(name)) return std::string(name);
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

void TextBuffer::append_field(std::string_view name) {
  if (needs_quotes(name)) {
    append(csv_field(name));
  } else {
    append(name);
  }
}

void TextBuffer::append_count(unsigned long long n) {
  const fmt::format_int digits(n);
  append(std::string_view(digits.data(), digits.size()));
}

void TextBuffer::grow(std::size_t n) {
  const std::size_t wanted = std::max(size_ + n, capacity_ + capacity_ / 2 + 4096);
  auto larger = std::make_unique_for_overwrite<char[]>(wanted);
  if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
  data_ = std::move(larger);
  capacity_ = wanted;
}

}  // namespace wisecrowd
