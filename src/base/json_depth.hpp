#pragma once

#include <cstddef>
#include <string_view>

namespace wisecrowd {

/// No file of ours nests its lists and objects deeper than this.
inline constexpr std::size_t kDeepestJson = 64;

/// Whether lists and objects of a JSON text nest deeper than kDeepestJson. Asked before an untrusted file is parsed,
/// because a parsed value is copied by recursion, and a million brackets would exhaust the stack.
[[nodiscard]] constexpr bool nests_too_deep(std::string_view json) noexcept {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestJson) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

}  // namespace wisecrowd
