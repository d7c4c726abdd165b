#pragma once

#include "kind_commands.hpp"

namespace wisecrowd::app {

/// What `simulate tagged_spans` was asked for; 0 is what is usual.
struct DocumentSimulationRequest {
  std::size_t documents = 0, workers = 0, types = 0, answers_per_document = 0;
  std::vector<std::string> settings;
  std::string out;
  bool json = false;
  RunFlags run;
};
void simulate_documents(const DocumentSimulationRequest& request, Session& session);

/// `evaluate` for sequences: `request.answers` is a table of tags.
void evaluate_sequences_file(const KindRequest& request, std::vector<Warning> warnings, Session& session);

}  // namespace wisecrowd::app
