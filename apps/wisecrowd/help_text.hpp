#pragma once

#include <string>

#include "command_set.hpp"

namespace wisecrowd::app {

[[nodiscard]] std::string general_help(const CommandSet& commands, const Screen& screen);
[[nodiscard]] std::string command_help(const Command& command, const std::vector<std::string>& arguments,
                                       const Screen& screen);
/// "Method" or "Parameters of …" sections: a term, and what it means.
[[nodiscard]] std::string help_entry(const std::string& term, const std::string& explanation, const Screen& screen,
                                     std::size_t column = 26);

}  // namespace wisecrowd::app
