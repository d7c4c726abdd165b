#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "wisecrowd/parameters.hpp"
#include "wisecrowd/run_context.hpp"
#include "wisecrowd/sequence_data.hpp"

namespace wisecrowd {

struct SequenceSimulationSize {
  std::size_t documents = 200;
  std::size_t workers = 20;
  std::size_t answers_per_document = 5;
  std::size_t types = 3;
};

/// Tagged documents whose truth is known, and how they were made.
struct SequenceSimulation {
  SequenceData data;                     ///< answers, and the gold of every token
  std::vector<double> recall;            ///< per worker: share of the spans that it notices
  std::vector<double> boundary;          ///< per worker: share of the noticed spans with an end moved
  std::vector<double> wrong_type;        ///< per worker: share of the noticed spans that get another type
  std::vector<std::string> worker_kind;  ///< "honest" or "guesser"

  SequenceSimulationSize size;
  std::vector<std::pair<std::string, ParameterValue>> parameters;
  std::uint64_t seed = 0;
  Status status = Status::converged;  ///< or cancelled: then data are empty
};

/// The name of this kind of simulation on the command line, what it draws, and its parameters.
inline constexpr const char* kSequenceSimulation = "tagged_spans";
[[nodiscard]] std::string sequence_simulation_summary();
[[nodiscard]] const std::vector<ParameterSpec>& sequence_simulation_parameters();

/// Truth is a chain of tags; workers overlook spans, move their ends, confuse types and mark spans where none is, as
/// people do; guessers mark anything. Some answers cover a part of their document. The same size, parameters and seed
/// give the same crowd.
[[nodiscard]] SequenceSimulation simulate_sequences(const SequenceSimulationSize& size, const Parameters& parameters,
                                                    const RunContext& context);

}  // namespace wisecrowd
