#pragma once

#include "kind_commands.hpp"

namespace wisecrowd::app {

/// `evaluate` for sets: `request.answers` is a table of sets by task.
void evaluate_sets_file(const KindRequest& request, std::vector<Warning> warnings, Session& session);

}  // namespace wisecrowd::app
