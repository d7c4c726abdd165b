#include "ingest/rows.hpp"

#include <fmt/core.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ingest/first_row.hpp"
#include "ingest/short_decimal.hpp"
#include "ingest/times.hpp"
#include "wisecrowd/number_limits.hpp"

namespace wisecrowd::ingest {
namespace {

/// Where the text stops being UTF-8.
std::size_t first_bad_byte(std::string_view text) {
  std::size_t low = 0;
  // Halving would cut characters; stepping by characters is fast enough for the rare bad row.
  while (low < text.size()) {
    const auto lead = static_cast<unsigned char>(text[low]);
    const std::size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    const std::string_view character = text.substr(low, length);
    if (!simdjson::validate_utf8(character.data(), character.size())) return low;
    low += character.size();
  }
  return low;
}

}  // namespace

void RowChecks::problem(std::uint64_t line, std::string_view column, std::string_view value, std::string_view message) {
  if (!chunk_.problems.wants_text()) {
    chunk_.problems.add_without_text();
    return;
  }
  chunk_.problems.add({line, printable(column), printable(value), std::string(message)});
}

void RowChecks::refuse(std::string_view raw, std::uint64_t line, std::string_view message) {
  ++chunk_.rows;
  ++chunk_.dropped;
  if (!suspicious_ || sound_text(raw, line)) problem(line, "", raw, message);
}

void RowChecks::drop_row() {
  ++chunk_.dropped;
  const std::size_t per_answer = table_.plan.layout == TableLayout::wide ? 1 : table_.plan.numbers.size();
  chunk_.numbers.resize(std::min<std::size_t>(chunk_.numbers.size(), chunk_.answers * per_answer));
}

bool RowChecks::sound_text(std::string_view raw, std::uint64_t line) {
  const auto nul = raw.find('\0');
  const bool utf8 = simdjson::validate_utf8(raw.data(), raw.size());
  if (nul == std::string_view::npos && utf8) return true;
  const std::size_t at = utf8 ? nul : std::min(nul, first_bad_byte(raw));
  // The lines inside a quoted field come before the bad byte.
  std::uint64_t inner = 0;
  std::size_t line_begin = 0;
  for (std::size_t i = 0; i < at; ++i) {
    if (raw[i] == '\n' || (raw[i] == '\r' && raw[i + 1] != '\n')) {
      ++inner;
      line_begin = i + 1;
    }
  }
  const std::size_t from = at - std::min<std::size_t>(at, 12);
  const std::string_view around = raw.substr(from, 24);
  if (at == nul) {
    problem(line + inner, "", around,
            fmt::format("byte {} of the line is NUL: this is not text, or text in UTF-16; save it as UTF-8",
                        at - line_begin + 1));
  } else {
    problem(line + inner, "", around,
            fmt::format("byte {} of the line (0x{:02X}) is not UTF-8: save the file as UTF-8", at - line_begin + 1,
                        static_cast<unsigned char>(raw[at])));
  }
  return false;
}

bool RowChecks::blank_text(std::string_view raw) const noexcept {
  return table_.plan.format != TableFormat::jsonl && is_blank_row(raw, table_.plan.delimiter());
}

bool RowChecks::refuse_unclosed(std::string_view raw, std::uint64_t line) {
  problem(line, "", raw, "a quoted field in this row is never closed: add the closing quote, or double the quote");
  return false;
}

bool RowChecks::refuse_count(std::size_t count, std::uint64_t line) {
  const std::size_t wanted = table_.plan.names.size();
  problem(line, "", "",
          fmt::format("the row has {} field{}, the {} has {}: {}", count, count == 1 ? "" : "s",
                      table_.plan.has_header ? "header" : "first row", wanted,
                      count < wanted
                          ? "add what is missing"
                          : fmt::format("put fields that contain a {} in quotes", table_.plan.delimiter_name())));
  return false;
}

bool RowChecks::refuse_field(const Field& field, std::string_view column, std::uint64_t line) {
  switch (field.state) {
    case Field::State::ok:
      if (field.text.empty()) {
        problem(line, column, "", "is empty: fill it in or remove the row");
      } else {
        problem(line, column, field.text,
                fmt::format("is longer than {} bytes: a name or a label is wanted, not a text", kLongestName));
      }
      break;
    case Field::State::text_after_quote:
      problem(line, column, field.text, "text follows the closing quote: double the quotes inside a quoted field");
      break;
    case Field::State::absent: problem(line, column, "", "is missing: every object needs this key"); break;
    case Field::State::null: problem(line, column, "null", "is null: give a value or remove the row"); break;
    case Field::State::nul: problem(line, column, field.text, name_problem(field.text)); break;
    case Field::State::nested:
      problem(line, column, "", "is an array or an object: give one text, number or boolean");
      break;
  }
  return false;
}

bool RowChecks::refuse_worker_key(std::string_view worker, std::uint64_t line) {
  problem(line, "", worker,
          worker.empty()                 ? "a key is empty: in the wide layout keys name the workers"
          : worker.size() > kLongestName ? "a key is too long to be the name of a worker"
                                         : name_problem(worker));
  return false;
}

bool RowChecks::refuse_label(std::string_view label, std::string_view column, std::uint64_t line) {
  problem(line, column, label,
          fmt::format("is not one of the classes {}: correct it or add it to the class list", table_.classes.listed()));
  return false;
}

bool PairRows::refuse_pair_label(std::string_view label, std::string_view left, std::string_view right,
                                 std::uint64_t line) {
  problem(line, table_.plan.names[table_.plan.label], label,
          fmt::format("was said of '{}' and '{}', but must be {}: correct it", printable(left), printable(right),
                      table_.pair_words.expected));
  return false;
}

bool PairRows::refuse_same_items(std::string_view item, std::uint64_t line) {
  problem(line, table_.plan.names[table_.plan.right], item,
          "is compared with itself: correct one of the two items, or remove the row");
  return false;
}

bool RowChecks::take_number(std::string_view text, std::string_view column, std::uint64_t line) {
  if (const auto value = short_decimal(text)) {
    chunk_.numbers.push_back(*value == 0 ? 0.0 : *value);
    return true;
  }
  return take_other_number(text, column, line);
}

bool RowChecks::take_other_number(std::string_view text, std::string_view column, std::uint64_t line) {
  const std::string_view whole = text;
  const auto first = text.find_first_not_of(' ');
  text =
      first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(' ') - first + 1);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool all_read = end == text.data() + text.size();
  const bool out_of_range = code == std::errc::result_out_of_range;
  if (!all_read || (code != std::errc() && !out_of_range)) {
    problem(line, column, whole,
            "is not a number: write it as 3.5 or -2e3, leave the row out, or read the answers as categories");
    return false;
  }
  if (!std::isfinite(value)) {
    problem(line, column, whole, "is not a finite number: leave the row out where there is no answer");
    return false;
  }
  if (out_of_range || std::abs(value) > kLargestNumber) {
    problem(line, column, whole,
            fmt::format("is beyond ±{:g}{}: choose another unit", kLargestNumber,
                        out_of_range ? ", or nearer to 0 than a number can be" : ", where squares overflow"));
    return false;
  }
  chunk_.numbers.push_back(value == 0 ? 0.0 : value);  // minus zero is zero
  return true;
}

bool RowChecks::take_time(std::string_view text, std::string_view column, std::uint64_t line) {
  const std::optional<double> time = time_of(text, chunk_.dates);
  if (time) {
    chunk_.numbers.push_back(*time);
  } else {
    problem(
        line, column, text,
        "is not a time: write a number, or a date as 2024-03-07, 2024-03-07 14:05:30 or 2024-03-07T14:05:30.5+01:00");
  }
  return time.has_value();
}

bool LabelRows::take_probability(const Field& field, std::size_t column, std::uint64_t line) {
  if (!usable(field, column, line)) return false;
  double value = 0;
  const auto [end, code] = std::from_chars(field.text.data(), field.text.data() + field.text.size(), value);
  if (code != std::errc() || end != field.text.data() + field.text.size() || !(value >= 0 && value <= 1)) {
    problem(line, table_.plan.names[column], field.text, "is not a probability: a number from 0 to 1 is wanted");
    return false;
  }
  chunk_.numbers.push_back(value);
  return true;
}

}  // namespace wisecrowd::ingest
