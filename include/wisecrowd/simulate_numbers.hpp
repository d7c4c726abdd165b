#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "wisecrowd/number_data.hpp"
#include "wisecrowd/parameters.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

struct NumberSimulationSize {
  std::size_t tasks = 1000;
  std::size_t workers = 50;
  std::size_t answers_per_task = 5;
  std::size_t dimensions = 1;
};

/// Answers that are numbers, whose truth is known, and how they were made.
struct NumberSimulation {
  NumberData data;                       ///< answers, and the gold of every task
  std::vector<double> bias;              ///< workers × dimensions
  std::vector<double> scale;             ///< one per worker
  std::vector<std::string> worker_kind;  ///< "honest", "guesser" or "correlated" (in pairs: workers 0 and 1, 2 and 3 …)

  NumberSimulationSize size;
  std::vector<std::pair<std::string, ParameterValue>> parameters;
  std::uint64_t seed = 0;
  Status status = Status::converged;  ///< or cancelled: then data are empty
};

/// The name of this kind of simulation on the command line, what it draws, and its parameters.
inline constexpr const char* kNumberSimulation = "gaussian_numbers";
[[nodiscard]] std::string number_simulation_summary();
[[nodiscard]] const std::vector<ParameterSpec>& number_simulation_parameters();

/// Truth is normal; a worker adds a bias of its own and noise of its own size; guessers answer like the truth of
/// another task; some workers err in pairs, some answers are wild. The same size, parameters and seed give the same
/// crowd, whatever the number of threads.
[[nodiscard]] NumberSimulation simulate_numbers(const NumberSimulationSize& size, const Parameters& parameters,
                                                const RunContext& context);

}  // namespace wisecrowd
