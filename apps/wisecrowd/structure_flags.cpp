#include "structure_flags.hpp"

#include <fmt/core.h>

#include <unordered_map>

#include "failure.hpp"
#include "screen_text.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/ordered_classes.hpp"
#include "wisecrowd/read_features.hpp"
#include "wisecrowd/read_task_graph.hpp"

namespace wisecrowd::app {
namespace {

constexpr std::uint64_t kUsualNeighbours = 10;

/// Nearest neighbours of the tasks by their features.
std::shared_ptr<const TaskGraph> neighbour_graph(const StructureFlags& flags, const NameTable& tasks,
                                                 const RunContext& context, std::vector<Warning>& warnings) {
  DataReport report;
  const auto rows = flags.tasks.empty() ? std::nullopt : std::optional(flags.tasks);
  FeatureTable table = read_features(flags.features, rows, {}, context, &report);
  warnings.insert(warnings.end(), report.warnings.begin(), report.warnings.end());
  require_finite(table.features);
  std::unordered_map<std::string_view, std::uint32_t> row_of;
  for (std::uint32_t r = 0; r < table.names.size(); ++r) row_of.emplace(table.names[r], r);
  std::vector<std::uint32_t> row_of_task;
  std::size_t missing = 0;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const auto found = row_of.find(tasks[t]);
    row_of_task.push_back(found == row_of.end() ? kNoRow : found->second);
    missing += found == row_of.end() ? 1 : 0;
  }
  if (missing == tasks.size() && missing > 0) {
    throw Error(ErrorCode::bad_input, fmt::format("{}: no row is of a task that was answered, for example '{}'{}",
                                                  flags.features, printable(tasks[0]),
                                                  table.names_are_numbers ? ": name the rows of the array with --tasks"
                                                                          : ": are the tasks "
                                                                            "spelled alike?"));
  }
  if (missing > 0) {
    warnings.push_back(
        {"tasks_without_features",
         fmt::format("{} of {} tasks have no features, so they have no neighbours.", missing, tasks.size()),
         "Give the features of all tasks.", Severity::note});
  }
  // Columns of a table have units of their own; those of an array have one.
  if (table.recipe.kind == FeatureRecipe::Kind::columns) {
    table.features = scaled(table.features, standardise(table.features, {}));
  }
  const std::uint64_t neighbours = flags.neighbours == 0 ? kUsualNeighbours : flags.neighbours;
  return nearest_neighbour_graph(table.features, row_of_task, neighbours, context);
}

}  // namespace

void StructureFlags::add_order_to(Command& command) {
  command.add_flag("--ordered", ordered,
                   "the order of classes means something: by --classes from the lowest to the highest, else by number");
}

void StructureFlags::add_graph_to(Command& command) {
  command.add_text("--graph", graph, "FILE",
                   "tasks that are likely to have the same truth, for methods that use it: columns task,neighbour and "
                   "perhaps weight",
                   {ValueHint::Kind::file});
  command.add_count("--neighbours", neighbours, 1, 1000000,
                    "join every task to so many others that are nearest by --features (10)");
}

void StructureFlags::add_features_to(Command& command) {
  command.add_text("--features,-f", features, "FILE",
                   "features by which the nearest neighbours of tasks are found: an .npy array, or a table of task and "
                   "numbers",
                   {ValueHint::Kind::file});
  command.add_text("--tasks,-t", tasks, "FILE", "names the rows of an array of features: columns task,row",
                   {ValueHint::Kind::file});
}

std::string StructureFlags::words() const {
  std::string text;
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) text += fmt::format(" {} {}", option, shell_word(value));
  };
  if (ordered) text += " --ordered";
  add("--graph", graph);
  add("--features", features);
  add("--tasks", tasks);
  if (neighbours > 0) text += fmt::format(" --neighbours {}", neighbours);
  return text;
}

void StructureFlags::check() const {
  if (!graph.empty() && !features.empty()) {
    throw usage_error("--graph and --features both say which tasks are alike: give one of them");
  }
  if (neighbours > 0 && features.empty()) {
    throw usage_error("--neighbours needs --features, by which they are found");
  }
  if (!tasks.empty() && features.empty()) throw usage_error("--tasks names the rows of --features, which is missing");
}

void StructureFlags::apply(CategoryData& data, const std::string& answers, const ReadOptions& read,
                           const RunContext& context, std::vector<Warning>& warnings) const {
  if (ordered) order_classes_of(data, answers, !read.classes.empty());
  std::shared_ptr<const TaskGraph> found;
  if (!graph.empty()) {
    DataReport report;
    found = read_task_graph(graph, data.answers.task_names(), read, context, &report);
    warnings.insert(warnings.end(), report.warnings.begin(), report.warnings.end());
  } else if (!features.empty()) {
    found = neighbour_graph(*this, data.answers.task_names(), context, warnings);
  }
  if (found) data.answers = with_task_graph(data.answers, std::move(found));
}

void StructureFlags::record(RunRecord& run) const {
  if (!graph.empty()) run.inputs.emplace_back("graph", graph);
  if (!features.empty()) run.inputs.emplace_back("features", features);
  if (!tasks.empty()) run.inputs.emplace_back("tasks", tasks);
  if (!features.empty()) {
    run.inputs.emplace_back("neighbours", std::to_string(neighbours == 0 ? kUsualNeighbours : neighbours));
  }
}

void order_classes_of(CategoryData& data, const std::string& file, bool listed) {
  try {
    order_classes(data, listed);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", printable(file), error.what()));
  }
}

}  // namespace wisecrowd::app
