#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "common_options.hpp"
#include "failure.hpp"
#include "help_text.hpp"
#include "screen_text.hpp"
#include "wisecrowd/result.hpp"
#include "wisecrowd/simulate.hpp"

namespace wisecrowd::app {
namespace {

constexpr std::uint64_t kMostIds = 0xFFFF'FFFE;

struct Options {
  std::string kind;
  std::uint64_t tasks = SimulationSize().tasks;
  std::uint64_t workers = SimulationSize().workers;
  std::uint64_t classes = SimulationSize().classes;
  std::uint64_t answers_per_task = SimulationSize().answers_per_task;
  std::vector<std::string> settings;
  std::string out;
  bool json = false;
  RunFlags run;
};

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
  const std::string near = suggestion(name, names);
  std::string list;
  for (const SimulationInfo& info : simulation_kinds()) list += help_entry(info.name, info.summary, screen_of(2), 19);
  throw usage_error(fmt::format("there is no kind of crowd '{}'{}\nThe kinds are\n{}", printable(name),
                                near.empty() ? "" : near, list.substr(0, list.size() - 1)));
}

/// All kinds, or, if one is named, its parameters.
std::string kinds_text(const std::vector<std::string>& arguments, const Screen& screen) {
  for (const std::string& argument : arguments) {
    if (const SimulationInfo* info = find_kind(argument)) {
      return fmt::format("{}\n  {}\n\nParameters of {}, with their defaults\n{}", screen.bold(info->name),
                         wrapped(info->summary, screen.width, 2), info->name,
                         parameter_lines(info->parameters, screen));
    }
  }
  std::string text = "Kinds of crowds\n";
  for (const SimulationInfo& info : simulation_kinds()) text += help_entry(info.name, info.summary, screen, 19);
  return text + "  See wisecrowd simulate KIND --help for the parameters of one.\n";
}

void run(const Options& options, Session& session) {
  const SimulationInfo& info = kind_named(options.kind);
  const Parameters parameters = parameters_from(info.parameters, options.settings, info.name);
  at_stage(Stage::creating, [&] { check_output_directory(options.out, "simulation.json"); });
  Work work(session, options.run);
  Stopwatch watch;
  const SimulationSize size{options.tasks, options.workers, options.classes, options.answers_per_task};
  const Simulation simulation = simulate(options.kind, size, parameters, work.context());
  work.check_stopped();
  session.interrupts.writes_to(options.out);
  const Status status =
      at_stage(Stage::writing, [&] { return write_simulation(simulation, options.out, work.context()); });
  session.interrupts.writes_to("");
  if (status == Status::cancelled) throw Stopped();
  const double seconds = watch.lap();
  const Annotations& answers = simulation.data.answers;
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
    session.out.add(json.dump(2) + "\n");
    return;
  }
  if (options.run.quiet) return;
  const std::string folder = options.out + (options.out.ends_with('/') ? "" : "/");
  const Screen& screen = session.out_screen;
  session.out.add(fmt::format("{}  {} by {} to {}, {}\n       {}, seed {}, {}\n\n", screen.bold("Drawn"),
                              counted(answers.answer_count(), "answer"), counted(answers.worker_count(), "worker"),
                              counted(answers.task_count(), "task"), counted(answers.class_count(), "class"),
                              options.kind, options.run.seed, duration(seconds)));
  session.out.add(fmt::format("{} {}\n", screen.bold("Written to"), shell_word(folder)));
  session.out.add(
      "  labels.csv       the answers: task, worker, label\n"
      "  gold.csv         the truth of every task\n"
      "  workers.csv      what kind of worker each is, and how accurate\n"
      "  confusion.csv    what each worker says for each truth\n"
      "  simulation.json  how it was made\n");
  session.out.add(
      fmt::format("\nTo see what can be learned from the answers alone:\n"
                  "  wisecrowd aggregate {}\n",
                  shell_word(folder + "labels.csv")));
}

}  // namespace

void add_simulate(CommandSet& commands) {
  Command& command = commands.add("simulate", "draw a crowd whose truth is known");
  command.details =
      "Draws tasks, workers and answers, and writes them with their truth: to try methods, to plan how many answers to "
      "buy, "
      "to measure speed. The same kind, size, parameters and seed give the same crowd.";
  auto options = std::make_shared<Options>();
  command.add_text("KIND", options->kind, "KIND", "the kind of crowd; see below", {ValueHint::Kind::simulation})
      ->required();
  const SimulationSize size;
  command.add_count("--tasks", options->tasks, 1, kMostIds, fmt::format("how many tasks ({})", size.tasks));
  command.add_count("--workers", options->workers, 1, kMostIds, fmt::format("how many workers ({})", size.workers));
  command.add_count("--classes", options->classes, 1, kMaxClasses, fmt::format("how many classes ({})", size.classes));
  command.add_count("--answers-per-task", options->answers_per_task, 1, kMostIds,
                    fmt::format("how many workers answer each task ({})", size.answers_per_task));
  add_settings(command, options->settings, "set a parameter of the kind; may be repeated");
  command.add_text("--out,-o", options->out, "DIR", "where to write the crowd", {ValueHint::Kind::folder})->required();
  command.add_flag("--json", options->json, "print one JSON object");
  options->run.add_to(command, true);
  command.more = kinds_text;
  command.examples =
      "wisecrowd simulate hammer_spammer --tasks 1000 --workers 40 --answers-per-task 5 --out crowd\n"
      "wisecrowd simulate dawid_skene --tasks 2000 --workers 100 --classes 4 --seed 7 --out crowd4\n"
      "wisecrowd simulate one_coin_beta --set a=4 --set b=2 --out coins\n"
      "wisecrowd simulate copies --help";
  command.run = [options](Session& session) { run(*options, session); };
}

}  // namespace wisecrowd::app
