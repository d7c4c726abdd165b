#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "common_options.hpp"
#include "comparison_simulate.hpp"
#include "failure.hpp"
#include "given_tasks.hpp"
#include "help_text.hpp"
#include "screen_text.hpp"
#include "simulate_kinds.hpp"
#include "wisecrowd/category_result.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/simulate.hpp"
#include "wisecrowd/simulate_comparisons.hpp"
#include "wisecrowd/simulate_numbers.hpp"
#include "wisecrowd/simulate_sequences.hpp"
#include "wisecrowd/simulate_sets.hpp"
#include "wisecrowd/simulate_similarities.hpp"

namespace wisecrowd::app {
namespace {

constexpr std::uint64_t kMostIds = 0xFFFF'FFFE;

const SimulationInfo* find_kind(const std::string& name) {
  for (const SimulationInfo& info : simulation_kinds()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

const SimulationInfo& kind_named(const std::string& name) {
  if (const SimulationInfo* info = find_kind(name)) return *info;
  std::vector<std::string> names;
  for (const SimulationInfo& info : simulation_kinds()) names.push_back(info.name);
  names.emplace_back(kNumberSimulation);
  names.emplace_back(kSimilaritySimulation);
  names.emplace_back(kComparisonSimulation);
  names.emplace_back(kSetSimulation);
  names.emplace_back(kSequenceSimulation);
  const std::string near = suggestion(name, names);
  std::string list;
  for (const SimulationInfo& info : simulation_kinds()) list += help_entry(info.name, info.summary, screen_of(2), 19);
  throw usage_error(fmt::format("there is no kind of crowd '{}'{}\nThe kinds are\n{}", printable(name),
                                near.empty() ? "" : near, list.substr(0, list.size() - 1)));
}

/// All kinds, or, if one is named, its parameters.
std::string kinds_text(const std::vector<std::string>& arguments, const Screen& screen) {
  const auto about = [&](const char* kind, const std::string& summary, const std::vector<ParameterSpec>& parameters) {
    return fmt::format("{}\n  {}\n\nParameters of {}, with their defaults\n{}", screen.bold(kind),
                       wrapped(summary, screen.width, 2), kind, parameter_lines(parameters, screen));
  };
  const auto named = [&](const char* kind) {
    return std::find(arguments.begin(), arguments.end(), kind) != arguments.end();
  };
  if (named(kNumberSimulation)) {
    return about(kNumberSimulation, number_simulation_summary(), number_simulation_parameters());
  }
  if (std::find(arguments.begin(), arguments.end(), kComparisonSimulation) != arguments.end()) {
    return comparison_kind_text(screen);
  }
  if (std::find(arguments.begin(), arguments.end(), kSimilaritySimulation) != arguments.end()) {
    return fmt::format(
        "{}\n  {}\n  Tasks are the items here, classes their clusters, and --answers-per-task counts answers "
        "per item.\n\nParameters of {}, with their defaults\n{}",
        screen.bold(kSimilaritySimulation), wrapped(similarity_simulation_summary(), screen.width, 2),
        kSimilaritySimulation, parameter_lines(similarity_simulation_parameters(), screen));
  }
  if (named(kSequenceSimulation)) {
    return about(kSequenceSimulation, sequence_simulation_summary(), sequence_simulation_parameters());
  }
  if (named(kSetSimulation)) return about(kSetSimulation, set_simulation_summary(), set_simulation_parameters());
  for (const std::string& argument : arguments) {
    if (const SimulationInfo* info = find_kind(argument)) {
      const SimulationSize size = default_simulation_size(info->name, Parameters(info->parameters));
      const std::string sizes = fmt::format("Unless you say otherwise: {}, {}, {}, {} per task.",
                                            counted(size.tasks, "task"), counted(size.workers, "worker"),
                                            counted(size.classes, "class"), counted(size.answers_per_task, "answer"));
      return fmt::format("{}\n  {}\n  {}\n\nParameters of {}, with their defaults\n{}", screen.bold(info->name),
                         wrapped(info->summary, screen.width, 2), wrapped(sizes, screen.width, 2), info->name,
                         parameter_lines(info->parameters, screen));
    }
  }
  std::string text = "Kinds of crowds\n";
  for (const SimulationInfo& info : simulation_kinds()) text += help_entry(info.name, info.summary, screen, 19);
  text += help_entry(kNumberSimulation, number_simulation_summary(), screen, 19);
  text += help_entry(kSimilaritySimulation, similarity_simulation_summary(), screen, 19);
  text += help_entry(kComparisonSimulation, comparison_simulation_summary(), screen, 19);
  text += help_entry(kSetSimulation, set_simulation_summary(), screen, 19);
  text += help_entry(kSequenceSimulation, sequence_simulation_summary(), screen, 19);
  return text + "  See wisecrowd simulate KIND --help for the parameters of one.\n";
}

/// What the user asked for, and for the rest what the kind takes.
SimulationSize size_from(const SimulateArguments& options, const Parameters& parameters) {
  SimulationSize size = default_simulation_size(options.kind, parameters);
  if (options.tasks > 0) size.tasks = options.tasks;
  if (options.workers > 0) size.workers = options.workers;
  if (options.classes > 0) size.classes = options.classes;
  if (options.answers_per_task > 0) size.answers_per_task = options.answers_per_task;
  return size;
}

std::vector<double> shares_from(const std::string& list) {
  std::vector<double> shares;
  if (list.empty()) return shares;
  for (const std::string& part : split_list(list)) {
    double share = 0;
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), share);
    if (code != std::errc() || end != part.data() + part.size()) {
      throw usage_error(
          fmt::format("--class-shares cannot be '{}': it takes a number per class with commas between, "
                      "for example --class-shares 0.85,0.15",
                      printable(list)));
    }
    shares.push_back(share);
  }
  return shares;
}

/// Options that contradict each other.
void check(const SimulateArguments& options) {
  const auto refuse = [](const std::string& option, const std::string& why) {
    throw usage_error(fmt::format("{} {}", option, why));
  };
  if (options.gold.empty()) {
    const std::string needs = "needs --gold: a crowd can answer tasks only if their truth is known";
    if (!options.tasks_file.empty()) refuse("--tasks-file", needs);
    if (!options.features.empty()) refuse("--features", needs);
  } else {
    const std::string given = "cannot be given with --gold, whose file says what tasks and classes there are";
    if (options.tasks > 0) refuse("--tasks", given);
    if (options.classes > 0) refuse("--classes", given);
    if (options.test_tasks > 0) refuse("--test-tasks", given + "; a --tasks-file says which are for test");
    if (!options.class_shares.empty()) refuse("--class-shares", given);
  }
  if (options.feature_columns > 0 && !options.has_separation) refuse("--feature-columns", "needs --gaussian-features");
  if (options.has_separation && !options.features.empty()) {
    refuse("--gaussian-features", "cannot be given with --features: tasks have one or the other");
  }
}

std::string files_text(const Simulation& simulation, bool tasks, const std::string& groups_file) {
  std::string text = "  answers.csv       task, worker, label\n";
  if (simulation.held_out.answer_count() > 0) {
    text += "  answers_test.csv  answers to the tasks that are not for training\n";
  }
  text +=
      "  gold.csv          the truth of every task\n"
      "  workers.csv       what kind of worker each is, and how accurate\n"
      "  confusion.csv     what each worker says for each truth\n";
  if (!simulation.reliability.empty()) text += "  reliability.csv   how likely each answer was to be right\n";
  if (!simulation.features.empty()) text += "  features.npy      the features of every task, one row each\n";
  if (tasks) text += "  tasks.csv         the row of every task, and its split\n";
  if (!groups_file.empty() && !(tasks && groups_file == "tasks.csv")) {
    text += fmt::format("  {:<17} the group of every task\n", groups_file);
  }
  return text + "  simulation.json   how it was made\n";
}

/// Commands that make something of what was written.
std::string what_to_try(const std::string& folder, const std::string& features, bool has_tasks,
                        const std::string& groups_file) {
  const std::string answers = shell_word(folder + "answers.csv");
  std::string text =
      fmt::format("\nTo see what can be learned from the answers alone:\n  wisecrowd aggregate {}\n", answers);
  if (!features.empty()) {
    text += fmt::format("\nTo learn from answers and features together:\n  wisecrowd learn {} --features {}{}\n",
                        answers, shell_word(features), has_tasks ? " --tasks " + shell_word(folder + "tasks.csv") : "");
  }
  if (!groups_file.empty()) {
    text += fmt::format(
        "\nTo see whether groups are treated alike:\n  wisecrowd fairness {} --tasks {} --group group --gold {}\n",
        answers, shell_word(folder + groups_file), shell_word(folder + "gold.csv"));
  }
  return text;
}

void run_simulate(const SimulateArguments& options, Session& session) {
  if (options.items > 0 && options.kind != kComparisonSimulation) {
    throw usage_error(fmt::format("--items is for {} alone", kComparisonSimulation));
  }
  if (options.dimensions > 0 && options.kind != kNumberSimulation) {
    throw usage_error(fmt::format("--dimensions is for {} alone", kNumberSimulation));
  }
  if (simulate_other_kind(options, session)) return;
  const SimulationInfo& info = kind_named(options.kind);
  const Parameters parameters = parameters_from(info.parameters, options.settings, info.name);
  warn_of_former_names(session, parameters);
  check(options);
  TaskOptions tasks;
  tasks.test_tasks = options.test_tasks;
  tasks.class_shares = shares_from(options.class_shares);
  if (options.has_separation) tasks.gaussian_separation = options.separation;
  tasks.gaussian_columns = options.feature_columns;
  at_stage(Stage::creating, [&] { check_output_directory(options.out, "simulation.json"); });
  Work work(session, options.run);
  Stopwatch watch;
  GivenFiles given;
  if (!options.gold.empty()) {
    given = at_stage(Stage::reading, [&] {
      return read_given_tasks(options.gold, options.tasks_file, options.features, work.context());
    });
    tasks.given = &given.tasks;
  }
  const Simulation simulation =
      simulate(options.kind, size_from(options, parameters), parameters, work.context(), tasks);
  work.check_stopped();
  session.interrupts.writes_to(options.out);
  const SimulationSources sources{options.gold, options.tasks_file, options.features, given.task_table};
  const Status status =
      at_stage(Stage::writing, [&] { return write_simulation(simulation, options.out, work.context(), sources); });
  session.interrupts.writes_to("");
  if (status == Status::cancelled) throw Stopped();
  const double seconds = watch.lap();
  const CategoryAnswers& answers = simulation.data.answers;
  const std::string folder = options.out + (options.out.ends_with('/') ? "" : "/");
  const std::string features = simulation.features.empty() ? options.features : folder + "features.npy";
  const std::size_t held_out = simulation.held_out.answer_count();
  const bool has_tasks = !sources.task_table.empty() || !simulation.splits.empty();
  if (options.json) {
    nlohmann::ordered_json json = {{"kind", options.kind},
                                   {"seed", options.run.seed},
                                   {"tasks", answers.task_count()},
                                   {"workers", answers.worker_count()},
                                   {"classes", answers.class_count()},
                                   {"answers", answers.answer_count()},
                                   {"hash", fmt::format("{:016x}", answers.content_hash())},
                                   {"out", options.out},
                                   {"seconds", seconds}};
    if (held_out > 0) json["held_out_answers"] = held_out;
    if (!features.empty()) json["features"] = features;
    session.out.add_json(json);
    return;
  }
  if (options.run.quiet) return;
  const Screen& screen = session.out_screen;
  session.out.add(fmt::format("{}  {} by {} to {}, {}\n       {}, seed {}, {}\n\n", screen.bold("Drawn"),
                              counted(answers.answer_count() + held_out, "answer"),
                              counted(answers.worker_count(), "worker"), counted(answers.task_count(), "task"),
                              counted(answers.class_count(), "class"), options.kind, options.run.seed,
                              duration(seconds)));
  const auto unknown = std::count(simulation.data.gold.begin(), simulation.data.gold.end(), kNoClass);
  if (unknown > 0) {
    session.out.add(
        fmt::format("{} without gold got no answers.\n\n", counted(static_cast<std::size_t>(unknown), "task")));
  }
  session.out.add(fmt::format("{} {}\n", screen.bold("Written to"), shell_word(folder)));
  const std::string groups_file = simulation.groups.of_task.empty() ? ""
                                  : sources.task_table.empty()      ? "tasks.csv"
                                                                    : "groups.csv";
  session.out.add(files_text(simulation, has_tasks, groups_file));
  session.out.add(what_to_try(folder, features, has_tasks, groups_file));
}

}  // namespace

void add_simulate(CommandSet& commands) {
  Command& command = commands.add("simulate", "draw a crowd whose truth is known");
  command.details =
      "Draws tasks, workers and answers, and writes them with their truth: to try methods, to plan how many answers to "
      "buy, to measure speed. With --gold a drawn crowd answers tasks that exist. Answers to test tasks go into a file "
      "of their own. The same kind, size, parameters and seed give the same crowd.";
  auto options = std::make_shared<SimulateArguments>();
  command.add_text("KIND", options->kind, "KIND", "the kind of crowd; see below", {ValueHint::Kind::simulation})
      ->required();
  const SimulationSize size;
  const auto usual = [](std::size_t count) { return fmt::format(" ({}, or as the kind has it)", count); };
  command.add_count("--tasks", options->tasks, 1, kMostIds, "how many tasks" + usual(size.tasks));
  command.add_count("--workers", options->workers, 1, kMostIds, "how many workers" + usual(size.workers));
  command.add_count("--classes", options->classes, 1, kMaxClasses, "how many classes" + usual(size.classes));
  command.add_count("--answers-per-task", options->answers_per_task, 1, kMostIds,
                    "how many workers answer each task" + usual(size.answers_per_task));
  command.add_count("--dimensions", options->dimensions, 1, 1000, "numbers per answer (1), for gaussian_numbers");
  command.add_count("--items", options->items, 2, kMostIds,
                    "items to compare (50), for compared_items, whose tasks are pairs of them");
  add_settings(command, options->settings, "set a parameter of the kind; may be repeated");
  command.add_text("--gold", options->gold, "FILE",
                   "the truth (task,label) of tasks that exist: the crowd answers these", {ValueHint::Kind::file});
  command.add_text("--tasks-file", options->tasks_file, "FILE",
                   "with --gold: a table task,row,split; answers to tasks that are not of split train go into "
                   "answers_test.csv",
                   {ValueHint::Kind::file});
  command.add_text("--features", options->features, "FILE",
                   "with --gold: the features of these tasks, checked and noted for learn; machines look at them",
                   {ValueHint::Kind::file});
  command.add_count("--test-tasks", options->test_tasks, 1, kMostIds,
                    "so many more tasks for test, whose answers go into answers_test.csv");
  command.add_text("--class-shares", options->class_shares, "LIST",
                   "how often each class is the truth, for example 0.85,0.15 (by the parameter class_prior)");
  command
      .add_number("--gaussian-features", options->separation, -1e6, 1e6,
                  "draw features around the truth: N(-X, 1) or N(X, 1) in the first column for two classes, X in "
                  "the column of the class for more; 1.3 lets two classes be told apart in 90 % of tasks")
      ->each([options](const std::string&) { options->has_separation = true; });
  command.add_count("--feature-columns", options->feature_columns, 2, kMostIds,
                    "columns of --gaussian-features; those beyond the classes are noise (as many as classes)");
  command.add_text("--out,-o", options->out, "DIR", "where to write the crowd", ValueHint::written_folder())
      ->required();
  command.add_flag("--json", options->json, "print one JSON object");
  options->run.add_to(command, true);
  command.more = kinds_text;
  command.examples =
      "wisecrowd simulate hammer_spammer --tasks 1000 --workers 40 --answers-per-task 5 --out crowd\n"
      "wisecrowd simulate dawid_skene --tasks 2000 --workers 100 --classes 4 --seed 7 --out crowd4\n"
      "wisecrowd simulate one_coin_beta --set a=4 --set b=2 --out coins\n"
      "wisecrowd simulate deep_bp --set spammers=1 --gaussian-features 1 --feature-columns 20 --out regular\n"
      "wisecrowd simulate max_mig --set case=4.2 --set skill=low --gaussian-features 1.3 --test-tasks 500 --out "
      "experts\n"
      "wisecrowd simulate machines --gold experts/gold.csv --tasks-file experts/tasks.csv "
      "--features experts/features.npy --out machines\n"
      "wisecrowd simulate copies --help";
  command.run = [options](Session& session) { run_simulate(*options, session); };
}

}  // namespace wisecrowd::app
