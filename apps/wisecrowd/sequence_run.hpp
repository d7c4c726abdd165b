#pragma once

#include "kind_commands.hpp"

namespace wisecrowd::app {

/// `evaluate` for sequences: `request.answers` is a table of tags.
void evaluate_sequences_file(const KindRequest& request, std::vector<Warning> warnings, Session& session);

}  // namespace wisecrowd::app
