#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace wisecrowd::fuzz {

/// What each fuzz target does with its bytes. A check throws std::logic_error when the reader contradicts itself: tiny
/// windows and two threads must give what one large window and one thread give, in answers, counts and messages alike.
using Check = std::function<void(std::string_view bytes)>;

/// All targets by name; the names are those of the corpora and of the programs.
[[nodiscard]] const std::map<std::string, Check>& checks();

}  // namespace wisecrowd::fuzz
