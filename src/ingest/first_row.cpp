#include "ingest/first_row.hpp"

#include <fmt/core.h>
#include <simdjson.h>

#include <algorithm>

#include "ingest/columns.hpp"
#include "ingest/delimited.hpp"
#include "ingest/json_lines.hpp"
#include "ingest/problems.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

bool skip_line_end(WindowReader& window, const Tuning& tuning, std::uint64_t& line) {
  if (window.bytes().size() < 2) window.fill(std::max<std::size_t>(tuning.window_bytes, 2));
  const std::string_view bytes = window.bytes();
  if (bytes.empty() || (bytes[0] != '\n' && bytes[0] != '\r')) return false;
  ++line;
  window.consume(bytes.starts_with("\r\n") ? 2 : 1);
  return true;
}

/// The first row without its line end; with '\0' for a delimiter, the first line.
std::string_view whole_row(WindowReader& window, char delimiter, const std::string& file, const Tuning& tuning,
                           std::uint64_t line) {
  for (std::size_t wanted = tuning.window_bytes;; wanted = window.bytes().size() * 2) {
    window.fill(std::max<std::size_t>(wanted, 1));
    const std::string_view bytes = window.bytes();
    std::size_t end = std::string_view::npos;
    if (delimiter == '\0') {
      end = bytes.find_first_of("\r\n");
    } else {
      std::uint64_t lines = 0;
      Arena store;
      std::vector<const char*> ends;
      parse_delimited<true>(bytes, delimiter, 0, ends, store, lines, [&](const DelimitedRow& row, std::uint64_t) {
        end = row.raw().size();
        return false;
      });
    }
    if (window.at_end() || end < bytes.size()) return bytes.substr(0, end);
    if (bytes.size() > tuning.max_row_bytes) {
      refuse_long_row(file, line, tuning, bytes.find('"') != std::string_view::npos);
    }
  }
}

std::vector<std::string> fields_of(std::string_view row, char delimiter, const std::string& file, std::uint64_t line) {
  std::vector<std::string> names;
  std::vector<const char*> ends;
  Arena store;
  std::size_t count = 0;
  for (const bool counted : {false, true}) {
    std::uint64_t lines = 0;
    parse_delimited<true>(row, delimiter, count, ends, store, lines, [&](const DelimitedRow& cut, std::uint64_t) {
      if (cut.unclosed()) {
        throw Error(
            ErrorCode::bad_input,
            fmt::format("{}:{}: a quoted field of the first row is never closed: add the closing quote", file, line));
      }
      count = cut.count();
      for (std::size_t i = 0; counted && i < count; ++i) {
        const Field field = cut.field(i);
        if (field.state != Field::State::ok) {
          throw Error(ErrorCode::bad_input,
                      fmt::format("{}:{}: field {} of the first row has text after its closing quote: double the "
                                  "quotes inside a quoted field",
                                  file, line, i + 1));
        }
        names.emplace_back(field.text);
      }
      return false;
    });
  }
  return names;
}

std::size_t field_count(std::string_view line, char delimiter) {
  std::size_t count = 0;
  std::uint64_t lines = 0;
  Arena store;
  std::vector<const char*> ends;
  parse_delimited<true>(line, delimiter, 0, ends, store, lines, [&](const DelimitedRow& row, std::uint64_t) {
    count = row.count();
    return false;
  });
  return count;
}

[[noreturn]] void refuse_empty(const std::string& file) {
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: the file is empty: name one with a header line and rows, or export it again", file));
}

std::vector<std::string> keys_of(std::string_view row, const std::string& file, std::uint64_t line) {
  std::string failure;
  auto keys = json_keys(row, failure);
  if (!failure.empty()) {
    throw Error(ErrorCode::bad_input, fmt::format("{}:{}: '{}': {}", file, line, printable(row, 30), failure));
  }
  return keys;
}

}  // namespace

FirstRow read_first_row(WindowReader& window, const std::string& file, TableFormat asked, const Tuning& tuning,
                        std::uint64_t& line) {
  window.fill(std::max<std::size_t>(tuning.window_bytes, 3));
  if (window.bytes().starts_with("\xEF\xBB\xBF")) window.consume(3);
  while (skip_line_end(window, tuning, line)) {
  }
  if (window.bytes().empty()) refuse_empty(file);
  FirstRow first;
  std::string_view row = whole_row(window, '\0', file, tuning, line);
  while (is_blank_row(row, ',') || is_blank_row(row, ';') || is_blank_row(row, '\t')) {
    window.consume(row.size());
    while (skip_line_end(window, tuning, line)) {
    }
    if (window.bytes().empty()) refuse_empty(file);
    row = whole_row(window, '\0', file, tuning, line);
  }
  first.format = detect_format(file, row, asked);
  if (first.format == TableFormat::csv && field_count(row, ';') > field_count(row, ',')) first.separator = ';';
  const char delimiter = first.format == TableFormat::tsv ? '\t' : first.separator;
  if (first.format != TableFormat::jsonl) row = whole_row(window, delimiter, file, tuning, line);
  if (row.find('\0') != std::string_view::npos || !simdjson::validate_utf8(row.data(), row.size())) {
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{}:{}: the first line '{}' is not UTF-8 text: a table in CSV, TSV or JSON Lines is wanted, "
                    "saved as UTF-8",
                    file, line, printable(row, 30)));
  }
  first.names = first.format == TableFormat::jsonl ? keys_of(row, file, line) : fields_of(row, delimiter, file, line);
  first.bytes = row.size();
  return first;
}

bool is_blank_row(std::string_view raw, char delimiter) noexcept {
  std::size_t at = 0;
  for (;; ++at) {
    if (at < raw.size() && raw[at] == '"') {
      ++at;
      while (at < raw.size() && (raw[at] == ' ' || raw[at] == '\t')) ++at;
      if (at == raw.size() || raw[at] != '"') return false;
      ++at;
    } else {
      while (at < raw.size() && raw[at] != delimiter && (raw[at] == ' ' || raw[at] == '\t')) ++at;
    }
    if (at == raw.size()) return true;
    if (raw[at] != delimiter) return false;
  }
}

void skip_first_row(WindowReader& window, const FirstRow& first, const Tuning& tuning, std::uint64_t& line) {
  const std::string_view row = window.bytes().substr(0, first.bytes);
  for (std::size_t i = 0; i < row.size(); ++i) {  // a quoted name may span lines
    line += row[i] == '\n' || (row[i] == '\r' && row.substr(i, 2) != "\r\n") ? 1 : 0;
  }
  window.consume(row.size());
  skip_line_end(window, tuning, line);
}

void refuse_long_row(const std::string& file, std::uint64_t line, const Tuning& tuning, bool quotes) {
  throw Error(ErrorCode::bad_input,
              fmt::format("{}:{}: a row is longer than {} bytes: {}", file, line, tuning.max_row_bytes,
                          quotes ? "a quoted field is not closed, or the file is no table"
                                 : "the file has no line ends, or is no table"));
}

}  // namespace wisecrowd::ingest
