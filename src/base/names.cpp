#include "wisecrowd/names.hpp"

#include <fmt/core.h>

#include "base/utf8.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

std::string spelled_out(std::string_view text, bool keep_line_breaks) {
  std::string shown;
  while (!text.empty()) {
    const Utf8Character next = first_character(text);
    if (!next.valid) {
      shown += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[0]));
    } else if (next.code == '\n' && !keep_line_breaks) {
      shown += "\\n";
    } else if (next.code == '\r') {
      shown += "\\r";
    } else if (next.code == '\t') {
      shown += "\\t";
    } else if (next.code != '\n' && moves_the_cursor(next.code)) {
      shown += next.code < 0x80 ? fmt::format("\\x{:02X}", static_cast<unsigned>(next.code))
                                : fmt::format("\\u{{{:X}}}", static_cast<unsigned>(next.code));
    } else {
      shown += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return shown;
}

}  // namespace

std::string_view name_problem(std::string_view name) noexcept {
  if (name.empty()) return "is empty: give it a name";
  if (name.size() > kLongestName) return "is longer than 65535 bytes: a name is wanted, not a text";
  if (name.find('\0') != std::string_view::npos) return "holds a NUL character: take it out of the name";
  while (!name.empty()) {
    const Utf8Character next = first_character(name);
    if (!next.valid) return "is not UTF-8: save it as UTF-8";
    name.remove_prefix(next.bytes);
  }
  return {};
}

void require_name(std::string_view name, std::string_view where) {
  const std::string_view problem = name_problem(name);
  if (problem.empty()) return;
  constexpr std::size_t kShown = 60;
  throw Error(ErrorCode::bad_input, fmt::format("{} '{}{}' {}", where, printable(name.substr(0, kShown)),
                                                name.size() > kShown ? "…" : "", problem));
}

std::string spreadsheet_safe(std::string_view name) {
  // Apostrophes in front count as well: else two names could become one.
  const auto at = name.find_first_not_of('\'');
  const bool formula =
      at != std::string_view::npos && std::string_view("=+-@\t\r").find(name[at]) != std::string_view::npos;
  if (!formula) return std::string(name);
  const bool number = at == 0 && name.size() > 1 &&
                      name.find_first_not_of("0123456789.", 1) == std::string_view::npos && name[0] != '=' &&
                      name[0] != '@';
  return number ? std::string(name) : "'" + std::string(name);
}

std::string printable(std::string_view text) { return spelled_out(text, false); }
std::string printable_lines(std::string_view text) { return spelled_out(text, true); }

}  // namespace wisecrowd
