#include "kind_commands.hpp"

#include <fmt/core.h>

#include "failure.hpp"

namespace wisecrowd::app {

const KindCommands* kind_commands(const ReadFlags& read) {
  static const std::vector<KindCommands> all = {number_commands(), comparison_commands(), similarity_commands(),
                                                set_commands(), sequence_commands()};
  for (const KindCommands& commands : all) {
    if (commands.kind == read.kind) return &commands;
  }
  return nullptr;
}

void KindCommands::refuse(bool given, std::string_view flag) const {
  if (given) {
    throw usage_error(fmt::format("{} is for answers that are categories, not for --answers {}", flag, kind));
  }
}

}  // namespace wisecrowd::app
