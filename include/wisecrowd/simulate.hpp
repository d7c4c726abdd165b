#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wisecrowd/category_data.hpp"
#include "wisecrowd/features.hpp"
#include "wisecrowd/parameters.hpp"
#include "wisecrowd/run_context.hpp"
#include "wisecrowd/task_groups.hpp"

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

/// Tasks that exist already: a crowd answers these, and their names and classes stay.
struct GivenTasks {
  NameTable names;
  NameTable classes;
  std::vector<ClassId> truth;       ///< one per task; a task with kNoClass gets no answers
  std::vector<Split> splits;        ///< one per task; answers outside of train are kept apart; empty: all train
  std::vector<std::uint32_t> rows;  ///< the row of each task in `features`; empty: its own number
  std::span<const float> features;  ///< rows × columns, or empty; only kinds that look at features need them
  std::size_t feature_columns = 0;
};

/// What a simulation may have besides answers.
struct TaskOptions {
  /// Instead of drawn tasks; size.tasks and size.classes are then those of the given ones.
  const GivenTasks* given = nullptr;
  /// Drawn tasks only: so many more of the test split, whose answers are kept apart.
  std::size_t test_tasks = 0;
  /// Drawn tasks only: how often each class is the truth, up to a factor; empty: by the parameter class_prior.
  std::vector<double> class_shares;
  /// Draws features: x ~ N(±s e1, I) for two classes, minus for the first, and N(s e_truth, I) for more.
  std::optional<double> gaussian_separation;
  /// Their columns, those beyond 2 or the number of classes being noise; 0: no noise.
  std::size_t gaussian_columns = 0;
};

/// A crowd whose truth is known, and how it was made.
struct Simulation {
  CategoryData data;                ///< answers to the train tasks, and the gold of every task
  CategoryAnswers held_out;         ///< answers to all other tasks, by the same ids; empty when there are none
  std::vector<Split> splits;        ///< of every task; empty: all train
  std::vector<double> class_prior;  ///< the one that drew the truth, or the shares of the given truth
  /// Workers × truth × label: the true tables. For workers who depend on one another (copies, colluders, hidden groups)
  /// or on task or time (lftc, machines, drift) it is what one of their answers follows when looked at alone.
  std::vector<double> confusion;
  std::vector<std::string> worker_kind;  ///< "honest", "spammer", "copy of worker_000003", …

  /// Workers change with time: answers were given in the order of the tasks, one at a time.
  bool in_order = false;

  TaskGroups groups;  ///< of the tasks, where workers treat them differently; else empty

  /// Drawn features, row t for task t; empty when there are none or when they were given.
  std::vector<float> features;
  std::size_t feature_columns = 0;
  /// Where reliability depends on the task: the probability that an answer is right, by answer of data and of held_out,
  /// and each worker's mean over the tasks.
  std::vector<float> reliability, held_out_reliability;
  std::vector<double> expertise;

  std::string kind;
  SimulationSize size;  ///< as asked for; some kinds add workers of their own
  std::vector<std::pair<std::string, ParameterValue>> parameters;
  std::optional<double> gaussian_separation;
  std::uint64_t seed = 0;
  Status status = Status::converged;  ///< or cancelled: then data, confusion and worker_kind are empty
};

[[nodiscard]] std::span<const SimulationInfo> simulation_kinds();
/// Throws bad_parameter that lists the candidates when there is no such kind.
[[nodiscard]] const SimulationInfo& simulation_kind(std::string_view name);

/// The size that a kind takes where nothing else is said. Published protocols come with theirs; that of max_mig depends
/// on its parameters.
[[nodiscard]] SimulationSize default_simulation_size(std::string_view kind, const Parameters& parameters);

/// Draws a crowd. The same kind, size, parameters, options and seed give the same crowd, whatever the number of
/// threads; more test tasks leave the answers to the others as they are.
[[nodiscard]] Simulation simulate(std::string_view kind, const SimulationSize& size, const Parameters& parameters,
                                  const RunContext& context, const TaskOptions& options = {});

}  // namespace wisecrowd
