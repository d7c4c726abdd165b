#include "ingest/times.hpp"

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace wisecrowd::ingest {
namespace {

/// Takes a date apart from the left; every function returns false where the text does not go on as it should.
class DateText {
 public:
  explicit DateText(std::string_view text) : text_(text) {}
  [[nodiscard]] bool empty() const noexcept { return text_.empty(); }

  bool take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  /// So many digits.
  bool take(std::size_t digits, int& value) {
    if (text_.size() < digits) return false;
    value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (text_[i] < '0' || text_[i] > '9') return false;
      value = 10 * value + (text_[i] - '0');
    }
    text_.remove_prefix(digits);
    return true;
  }
  /// Digits after the point of the seconds.
  bool take_fraction(double& fraction) {
    double unit = 1;
    for (int digit = 0; take(1, digit);) fraction += digit * (unit /= 10);
    return unit < 1;
  }

 private:
  std::string_view text_;
};

bool take_time_of_day(DateText& date, double& seconds) {
  int hour = 0, minute = 0, second = 0;
  double fraction = 0;
  if (!date.take(2, hour) || !date.take(':') || !date.take(2, minute)) return false;
  if (date.take(':')) {
    if (!date.take(2, second)) return false;
    if ((date.take('.') || date.take(',')) && !date.take_fraction(fraction)) return false;
  }
  if (hour > 24 || minute > 59 || second > 60) return false;
  seconds += hour * 3600 + minute * 60 + second + fraction;
  return true;
}

bool take_zone(DateText& date, double& seconds) {
  if (date.empty() || date.take('Z') || date.take('z')) return true;
  const bool east = date.take('+');
  int hours = 0, minutes = 0;
  if ((!east && !date.take('-')) || !date.take(2, hours)) return false;
  date.take(':');
  if (!date.empty() && !date.take(2, minutes)) return false;
  if (hours > 15 || minutes > 59) return false;
  seconds += (east ? -1 : 1) * (hours * 3600 + minutes * 60);
  return true;
}

std::optional<double> date_of(std::string_view text) {
  DateText date(text);
  int year = 0, month = 0, day = 0;
  if (!date.take(4, year) || !date.take('-') || !date.take(2, month) || !date.take('-') || !date.take(2, day))
    return {};
  const std::chrono::year_month_day calendar{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                             std::chrono::day(static_cast<unsigned>(day))};
  if (!calendar.ok()) return {};
  double seconds = 86400.0 * static_cast<double>(std::chrono::sys_days(calendar).time_since_epoch().count());
  if (date.take('T') || date.take('t') || date.take(' ')) {
    if (!take_time_of_day(date, seconds)) return {};
    date.take(' ');
    if (!take_zone(date, seconds)) return {};
  }
  if (!date.empty()) return {};
  return seconds;
}

}  // namespace

std::optional<double> time_of(std::string_view text, bool& date) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  text = text.substr(first, text.find_last_not_of(' ') - first + 1);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc() && end == text.data() + text.size()) {
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
  }
  const std::optional<double> seconds = date_of(text);
  date = date || seconds.has_value();
  return seconds;
}

}  // namespace wisecrowd::ingest
