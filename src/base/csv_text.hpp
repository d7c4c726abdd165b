#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace wisecrowd {

/// Room that csv numbers need at most.
inline constexpr std::size_t kNumberRoom = 32;

/// Writes x in [0, 1] with 6 significant digits and no trailing zeros: 0.5, 0.0123457, 3.1e-09. Returns the end.
char* write_probability(char* out, double x);
/// The number that a reader of write_probability's text gets.
[[nodiscard]] double written_probability(double x);
/// Any number, with 6 significant digits; nothing at all for NaN, which in a table is a blank.
char* write_number(char* out, double x);
/// The number that a reader of write_number's text gets; NaN for a blank.
[[nodiscard]] double written_number(double x);

/// A name as a CSV field: quoted (RFC 4180) when it holds a comma, a quote, a line break, or a blank at either end.
[[nodiscard]] std::string csv_field(std::string_view name);

/// Grows at the end; reused from block to block.
class TextBuffer {
 public:
  /// Room for n more bytes; write there, then say where the text ended.
  [[nodiscard]] char* room(std::size_t n) {
    if (capacity_ - size_ < n) grow(n);
    return data_.get() + size_;
  }
  void end_at(const char* end) noexcept { size_ = static_cast<std::size_t>(end - data_.get()); }

  void append(std::string_view text) {
    char* to = room(text.size());
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    size_ += text.size();
  }
  void append(char c) {
    *room(1) = c;
    ++size_;
  }
  void append_field(std::string_view name);
  void append_probability(double x) { end_at(write_probability(room(kNumberRoom), x)); }
  void append_number(double x) { end_at(write_number(room(kNumberRoom), x)); }
  void append_count(unsigned long long n);

  void clear() noexcept { size_ = 0; }
  [[nodiscard]] std::string_view text() const noexcept { return {data_.get(), size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  void grow(std::size_t n);
  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace wisecrowd
