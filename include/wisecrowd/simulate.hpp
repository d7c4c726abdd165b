#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wisecrowd/dataset.hpp"
#include "wisecrowd/parameters.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// A kind of simulated crowd and its own parameters.
struct SimulationInfo {
  std::string name;  ///< as on the command line
  std::string summary;
  std::vector<ParameterSpec> parameters;
};

struct SimulationSize {
  std::size_t tasks = 1000;
  std::size_t workers = 50;
  std::size_t classes = 2;
  std::size_t answers_per_task = 5;
};

/// A crowd whose truth is known, and how it was made.
struct Simulation {
  Dataset data;                     ///< answers and the gold of every task
  std::vector<double> class_prior;  ///< the one that drew the truth
  /// Workers × truth × label: the true tables. For workers who depend on one another (copies, colluders, hidden groups)
  /// it is what one of their answers follows when looked at alone.
  std::vector<double> confusion;
  std::vector<std::string> worker_kind;  ///< "honest", "spammer", "copy of worker_000003", …

  std::string kind;
  SimulationSize size;
  std::vector<std::pair<std::string, ParameterValue>> parameters;
  std::uint64_t seed = 0;
  Status status = Status::converged;  ///< or cancelled: then data, confusion and worker_kind are empty
};

[[nodiscard]] std::span<const SimulationInfo> simulation_kinds();
/// Throws bad_parameter that lists the candidates when there is no such kind.
[[nodiscard]] const SimulationInfo& simulation_kind(std::string_view name);

/// Draws a crowd. The same kind, size, parameters and seed give the same crowd, whatever the number of threads.
[[nodiscard]] Simulation simulate(std::string_view kind, const SimulationSize& size, const Parameters& parameters,
                                  const RunContext& context);

/// Writes labels.csv (task,worker,label; rows shuffled by the simulation's seed), gold.csv (task,label), workers.csv
/// (worker,kind,accuracy), confusion.csv (worker,truth,label,probability) and simulation.json (kind, size, parameters,
/// seed, version) into `directory`: first beside it, then renamed, so that nobody sees a part of it. An existing folder
/// that holds anything but an earlier simulation is not replaced: io error that says so. Cancelled, it leaves nothing.
Status write_simulation(const Simulation& simulation, const std::string& directory, const RunContext& context);

}  // namespace wisecrowd
