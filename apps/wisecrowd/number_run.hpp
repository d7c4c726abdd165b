#pragma once

#include "kind_commands.hpp"

namespace wisecrowd::app {

/// `evaluate` for numbers: `request.answers` is a table of estimates.
void evaluate_numbers_file(const KindRequest& request, std::vector<Warning> warnings, Session& session);

}  // namespace wisecrowd::app
