#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "failure.hpp"
#include "help_text.hpp"
#include "screen_text.hpp"
#include "select_modes.hpp"

namespace wisecrowd::app {
namespace {

/// All policies, or, if one is named, its parameters.
std::string policies_text(const std::vector<std::string>& arguments, const Screen& screen) {
  for (const std::string& argument : arguments) {
    for (const SelectorInfo& info : selectors()) {
      if (info.name != argument) continue;
      return fmt::format("{}\n  {}\n\nParameters of {}, with their defaults\n{}", screen.bold(info.name),
                         wrapped(info.summary + " " + info.when_to_use, screen.width, 2), info.name,
                         parameter_lines(info.parameters, screen));
    }
  }
  std::string text = fmt::format("{}\n", screen.bold("Policies"));
  for (const SelectorInfo& info : selectors()) {
    text += help_entry(info.name, info.summary + (info.name == default_selector() ? " (the default)" : ""), screen, 24);
  }
  return text + fmt::format("\n  {}\n",
                            wrapped("wisecrowd select NAME --help shows the parameters of a policy.", screen.width, 2));
}

void run_select(const SelectOptions& options, Session& session) {
  const std::vector<std::pair<std::string, bool>> modes = {{"SOURCE", !options.source.empty()},
                                                           {"--replay", !options.replay.empty()},
                                                           {"--simulate", !options.simulate.empty()},
                                                           {"--advise", !options.advise.empty()}};
  std::vector<std::string> given;
  for (const auto& [name, is_given] : modes) {
    if (is_given) given.push_back(name);
  }
  if (given.empty()) {
    throw usage_error(
        "select what? Name a state or a file of answers to choose from, or --replay, --simulate or --advise; see "
        "wisecrowd select --help");
  }
  if (given.size() > 1) throw usage_error(fmt::format("{} do not go together: choose one", fmt::join(given, " and ")));
  if (!options.source.empty()) return select_choices(options, session);
  if (!options.advise.empty()) return select_advice(options, session);
  select_by_replay(options, session);
}

/// For --replay and --simulate.
void add_replay_options(Command& command, SelectOptions& options) {
  command.add_text("--gold,-g", options.gold, "FILE", "replay: the truth to measure accuracy on: task, label",
                   {ValueHint::Kind::file});
  command.add_count("--seeds", options.seeds, 1, 100000, "replay: repetitions with other chance (10)");
  command.add_count("--answers-per-round", options.answers_per_round, 1, 1000000000,
                    "replay: answers bought between two fits (a fiftieth of all)");
  command.add_count("--most-answers", options.most_answers, 1, 1000000000000,
                    "replay: stop after so many (all recorded; --simulate: ten per task)");
  command.add_count("--first-answers", options.first_answers, 0, 1000,
                    "replay: so many answers per task from random workers first (0)");
  command.add_count("--crowd", options.crowd, 1, 100000000, "--simulate: how many workers (as the kind has it)");
  command.add_count("--class-count", options.classes, 2, kMaxClasses,
                    "--simulate: how many classes (as the kind has it)");
}

/// For a state with features.
void add_loop_options(Command& command, SelectOptions& options) {
  command.add_text("--features,-f", options.features.features, "FILE",
                   "a state: what is known of each task, as for learn; for the policies dalc, bald and "
                   "predictive_entropy",
                   {ValueHint::Kind::file});
  command.add_text("--tasks,-t", options.features.tasks, "FILE|N",
                   "with --features: a table task,row,split as for learn; with --simulate: how many tasks (as the kind "
                   "has it)",
                   {ValueHint::Kind::file});
  command.add_text("--loop", options.loop, "FILE",
                   "with --features: what the loop knows from one call to the next (the state's name and .loop)",
                   {ValueHint::Kind::file});
  options.network.add_to(command);
}

}  // namespace

std::vector<std::string> selector_names() {
  std::vector<std::string> names;
  for (const SelectorInfo& info : selectors()) names.push_back(info.name);
  return names;
}

const SelectorInfo& selector_named(const std::string& name) {
  for (const SelectorInfo& info : selectors()) {
    if (info.name == name) return info;
  }
  const std::string near = suggestion(name, selector_names());
  throw usage_error(fmt::format("there is no policy '{}'{}", printable(name),
                                near.empty() ? fmt::format(": choose {}", fmt::join(selector_names(), ", ")) : near));
}

void add_select(CommandSet& commands) {
  Command& command = commands.add("select", "what to ask next and whom; what would have been saved; advice");
  command.details =
      "With a SOURCE, which is a state (see wisecrowd state) or a file of answers, and a --budget: chooses task and "
      "worker together and prints task,worker,expected_gain,cost; nobody is asked the same task twice.\n"
      "With a state, --features and the policy dalc, bald or predictive_entropy: a loop. It learns from the answers "
      "that "
      "came since the last call, gives up questions that nobody answered in time, and asks about the tasks that a "
      "network and the answers leave open, each of the worker who knows such tasks best. New tasks and workers may "
      "appear at any time. It prints task,worker,uncertainty,reliability,cost.\n"
      "With --replay: plays recorded answers again under several policies and draws accuracy against answers, with the "
      "answers that each policy would have saved. With --simulate: the same for a drawn crowd, in which everybody can "
      "be asked everything. No policy sees the gold.\n"
      "With --advise: which tasks of finished data deserve more answers, and which workers to keep, to retrain or to "
      "stop asking.";
  auto options = std::make_shared<SelectOptions>();
  command.add_text("SOURCE", options->source, "FILE", "a state that wisecrowd state made, or answers as for aggregate",
                   {ValueHint::Kind::file});
  command.add_text("--replay", options->replay, "ANSWERS", "recorded answers, as for aggregate",
                   {ValueHint::Kind::file});
  command.add_text("--simulate", options->simulate, "KIND", "a kind of crowd, as for simulate",
                   {ValueHint::Kind::simulation});
  command.add_text("--advise", options->advise, "ANSWERS", "finished data, as for aggregate", {ValueHint::Kind::file});
  command.add_number("--budget,-b", options->budget, 0, 1e15,
                     "SOURCE and advice: what the answers may cost together; each costs 1 unless --workers says "
                     "otherwise");
  command.add_text(
      "--workers,-w", options->workers, "FILE",
      "who can be asked: worker,cost,capacity,available,response (all known workers, at cost 1; response: how "
      "probably they answer)",
      {ValueHint::Kind::file});
  command.add_text("--policy,-p", options->policy, "NAME", fmt::format("how to choose ({})", default_selector()),
                   {ValueHint::Kind::choice, selector_names()});
  command.add_text("--policies", options->policies, "A,B,C",
                   "replay: which policies, the first is what the others are measured against; NAME/RULE sets the "
                   "worker rule (random,entropy/random,expected_information)");
  add_settings(command, options->settings,
               "set a parameter of the policies that have it, or of one: POLICY.NAME=VALUE; with --simulate also of "
               "the kind: KIND.NAME=VALUE");
  command.add_text("--method,-m", options->method, "METHOD",
                   fmt::format("the aggregator (replay: {} with short chains; answers and advice: {}); not for a state",
                               usual_replay_refit(2).method, default_refit_method()),
                   {ValueHint::Kind::method});
  add_replay_options(command, *options);
  add_loop_options(command, *options);
  command.add_count("--candidates", options->candidates, 1, 4000000000,
                    "state: look at so many of the most uncertain tasks (ten per pair, at least 10000)");
  command.add_count("--round", options->round, 0, 1000000000000000,
                    "SOURCE: a number that changes the lots of a policy that draws them (answers so far)");
  command.add_text("--out,-o", options->out, "PATH",
                   "SOURCE: a file for the choices (standard output); otherwise a folder for tables and the picture",
                   ValueHint::written_folder());
  add_force(command, options->force);
  command.add_flag("--json", options->json, "print one JSON object");
  options->read.add_to(command, true);
  options->run.add_to(command, true);
  options->run.add_warning_flag(command);
  command.more = policies_text;
  command.examples =
      "wisecrowd simulate dawid_skene --tasks 200 --workers 20 --answers-per-task 8 --out crowd\n"
      "wisecrowd select --replay crowd/answers.csv --gold crowd/gold.csv --seeds 3 --out replayed\n"
      "wisecrowd select --replay crowd/answers.csv --gold crowd/gold.csv --seeds 2 --policies "
      "random,margin/thompson,expected_information --set delta=0.01 --out stopped\n"
      "wisecrowd select --simulate hammer_spammer --tasks 100 --crowd 20 --seeds 2 --out drawn\n"
      "wisecrowd select --advise crowd/answers.csv --budget 50 --out advice\n"
      "wisecrowd select crowd/answers.csv --budget 20 --out next.csv";
  command.run = [options](Session& session) { run_select(*options, session); };
}

}  // namespace wisecrowd::app
