#pragma once

#include <optional>
#include <string>

#include "command_set.hpp"
#include "wisecrowd/category_data.hpp"
#include "wisecrowd/ingest.hpp"
#include "wisecrowd/run_record.hpp"

namespace wisecrowd::app {

/// What is known of classes and tasks beyond the answers.
struct StructureFlags {
  bool ordered = false;
  std::string graph;
  std::string features;
  std::string tasks;  ///< names the rows of an array of features
  std::uint64_t neighbours = 0;

  void add_order_to(Command& command);
  /// Adds --graph and --neighbours.
  void add_graph_to(Command& command);
  /// Adds --features and --tasks, for commands that have no such flags of their own.
  void add_features_to(Command& command);

  /// The options that were given, as words for a shell, each with a blank before it.
  [[nodiscard]] std::string words() const;
  [[nodiscard]] bool has_graph() const noexcept { return !graph.empty() || !features.empty() || neighbours > 0; }
  /// Throws a usage error when they contradict each other.
  void check() const;
  /// Tells the data. `answers` is the file they came from; warnings are added.
  void apply(CategoryData& data, const std::string& answers, const ReadOptions& read, const RunContext& context,
             std::vector<Warning>& warnings) const;
  /// Paths and numbers for run.json.
  void record(RunRecord& record) const;
};

/// order_classes with the file in front of what it refuses.
void order_classes_of(CategoryData& data, const std::string& file, bool listed);

}  // namespace wisecrowd::app
