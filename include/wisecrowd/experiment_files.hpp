#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wisecrowd/comparison.hpp"
#include "wisecrowd/dalc_loop.hpp"
#include "wisecrowd/replay.hpp"
#include "wisecrowd/savings.hpp"
#include "wisecrowd/select.hpp"
#include "wisecrowd/simulate.hpp"
#include "wisecrowd/simulate_comparisons.hpp"
#include "wisecrowd/simulate_numbers.hpp"
#include "wisecrowd/simulate_sequences.hpp"
#include "wisecrowd/simulate_sets.hpp"
#include "wisecrowd/simulate_similarities.hpp"

// The files of simulations, of selection, and of experiments with selection.

namespace wisecrowd {

/// Files that a simulation was made from; they are named in simulation.json.
struct SimulationSources {
  std::string gold, tasks, features;  ///< paths, or empty
  std::string task_table;             ///< the text of `tasks`, which becomes tasks.csv
};

/// Writes answers.csv (task,worker,label; rows shuffled by the simulation's seed), gold.csv (task,label), workers.csv
/// (worker,kind,accuracy and, where known, expertise), confusion.csv (worker,truth,label,probability) and
/// simulation.json (kind, size, parameters, seed, version) into `directory`; where there is such a thing also
/// answers_test.csv (answers to tasks outside of train), tasks.csv (task,row,split and group, or groups.csv where tasks
/// were given), features.npy, and reliability.csv (task,worker,reliability of every answer). First beside it, then
/// renamed, so that nobody sees a part of it. An existing folder that holds anything but an earlier simulation is not
/// replaced: io error that says so. Cancelled, it leaves nothing.
Status write_simulation(const Simulation& simulation, const std::string& directory, const RunContext& context,
                        const SimulationSources& sources = {});

/// The same for numbers: answers.csv (task,worker and a column per dimension), gold.csv, workers.csv
/// (worker,kind,bias,scale) and simulation.json.
Status write_simulation(const NumberSimulation& simulation, const std::string& directory, const RunContext& context);
Status write_simulation(const SetSimulation& simulation, const std::string& directory, const RunContext& context);

/// The same for comparisons: answers.csv (worker,left,right,label), gold.csv (item,score), gold_pairs.csv
/// (left,right,label), workers.csv (worker,kind,reliability) and simulation.json.
Status write_simulation(const ComparisonSimulation& simulation, const std::string& directory,
                        const RunContext& context);
/// The same for sequences: answers.csv (doc,position,worker,tag), gold.csv, workers.csv
/// (worker,kind,recall,boundary_errors,type_errors) and simulation.json.
Status write_simulation(const SequenceSimulation& simulation, const std::string& directory, const RunContext& context);

/// The same for similarities: answers.csv (worker,left,right,label), gold.csv (item,cluster), workers.csv
/// (worker,kind,false_different,false_same) and simulation.json.
Status write_simulation(const SimilaritySimulation& simulation, const std::string& directory,
                        const RunContext& context);

/// The choices as a table: task,worker,expected_gain,cost.
[[nodiscard]] std::string choices_csv(std::span<const Choice> choices,
                                      const std::function<std::string_view(TaskId)>& task_name,
                                      const std::function<std::string_view(WorkerId)>& worker_name);
/// A name as a field of a CSV table, quoted where it must be.
[[nodiscard]] std::string csv_name(std::string_view name);

/// Writes a text beside its place and renames it, so that it appears whole or not at all.
void write_selection_file(const std::string& path, std::string_view text);
/// The same for a folder of tables with a summary.json, a JSON object that says what they are about.
void write_selection_folder(const std::string& directory, std::span<const std::pair<std::string, std::string>> files,
                            const std::string& about);

/// Targets, savings and ends of the curves as a JSON object; `about` is another that says what was replayed.
[[nodiscard]] std::string replay_json(const Replay& replay, const std::string& about);
/// What write_replay or write_dalc_loop has written.
struct WrittenReplay {
  std::vector<std::string> files;
  std::string no_png;  ///< why there is no curves.png; empty when there is one
};
/// Writes curves.csv (policy,answers,cost,accuracy,low,high), seeds.csv (policy,seed,answers,accuracy), savings.csv,
/// curves.svg, curves.png where it can be drawn, and summary.json into `directory`, whole or not at all. `about` is as
/// for replay_json.
WrittenReplay write_replay(const Replay& replay, const std::string& title, const std::string& about,
                           const std::string& directory);

/// Writes seeds.csv (policy,seed,answers,accuracy,auc; the reference as policy "all"), curves.csv
/// (policy,answers,accuracy,auc,low,high), savings.csv, curves.svg, curves.png where it can be drawn, and summary.json
/// into `directory`, whole or not at all. `about` is a JSON object that goes into summary.json.
WrittenReplay write_dalc_loop(const DalcLoop& loop, const std::string& title, const std::string& about,
                              const std::string& directory);

/// Reads the folder of `select --replay --out` or `dalc-loop --out`. Throws io or bad_input that names the file.
[[nodiscard]] Savings read_savings(const std::string& folder);

/// Reads what `compare --json` printed. Rows that name `method` are marked as the result itself.
[[nodiscard]] Comparison read_comparison(const std::string& path, const std::string& method);

}  // namespace wisecrowd
