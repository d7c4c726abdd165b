#include "wisecrowd/messages.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr std::string_view kSeverities[] = {"note", "caution", "serious"};

bool is_option_name(std::string_view name) {
  return !name.empty() && name.front() != '_' &&
         std::all_of(name.begin(), name.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

}  // namespace

std::string with_flags(std::string_view message) {
  std::string text;
  while (!message.empty()) {
    const std::size_t begin = message.find('`');
    const std::size_t end = begin == std::string_view::npos ? begin : message.find('`', begin + 1);
    if (end == std::string_view::npos) break;
    const std::string_view option = message.substr(begin + 1, end - begin - 1);
    const std::size_t equals = option.find('=');
    const std::string_view name = option.substr(0, equals);
    if (!is_option_name(name)) {  // not ours; the second mark may be the first of another pair
      text += message.substr(0, end);
      message.remove_prefix(end);
      continue;
    }
    text += message.substr(0, begin);
    text += "--";
    for (const char c : name) text += c == '_' ? '-' : c;
    if (equals != std::string_view::npos) text.append(" ").append(option.substr(equals + 1));
    message.remove_prefix(end + 1);
  }
  return text.append(message);
}

std::string full_text(const Warning& warning) {
  if (warning.remedy.empty() || warning.message.empty()) return warning.message + warning.remedy;
  const char last = warning.message.back();
  return warning.message + (last == '.' || last == '?' ? " " : "; ") + warning.remedy;
}

std::string_view to_string(Severity severity) noexcept { return kSeverities[static_cast<std::size_t>(severity)]; }

Severity severity_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kSeverities); ++i) {
    if (kSeverities[i] == name) return static_cast<Severity>(i);
  }
  throw Error(ErrorCode::bad_parameter, fmt::format("'{}' is no severity: use note, caution or serious", name));
}

}  // namespace wisecrowd
