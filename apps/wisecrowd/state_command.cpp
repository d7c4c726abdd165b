#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "common_options.hpp"
#include "failure.hpp"
#include "help_text.hpp"
#include "run_summary.hpp"
#include "screen_text.hpp"
#include "state_text.hpp"
#include "wisecrowd/asking.hpp"
#include "wisecrowd/result.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::app {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string action;
  std::string state;
  std::vector<std::string> labels;
  std::vector<std::string> settings;
  std::string refit = "auto";
  std::string task;
  std::string worker;
  std::string out;
  bool json = false;
  ReadFlags read;
  RunFlags run;
  Command* command = nullptr;

  [[nodiscard]] bool given(const std::string& option) const { return command->parser->get_option(option)->count() > 0; }
};

/// Which actions an option belongs to; those that are not here belong to all.
const std::vector<std::pair<std::string, std::vector<std::string>>>& owners() {
  static const std::vector<std::pair<std::string, std::vector<std::string>>> table = {
      {"LABELS", {"init", "add"}},
      {"--set", {"init"}},
      {"--classes", {"init"}},
      {"--duplicates", {"init"}},
      {"--columns", {"init", "add"}},
      {"--format", {"init", "add"}},
      {"--wide", {"init", "add"}},
      {"--lenient", {"init", "add"}},
      {"--refit", {"add"}},
      {"--task", {"show"}},
      {"--worker", {"show"}},
      {"--out", {"export"}},
      {"--exclude-workers", {"init", "add"}},
      {"--merge-workers", {"init", "add"}},
      {"--safe-csv", {"init", "add"}},
  };
  return table;
}

void check_options(const Options& options) {
  for (const auto& [option, actions] : owners()) {
    if (!options.given(option) || std::find(actions.begin(), actions.end(), options.action) != actions.end()) continue;
    throw usage_error(fmt::format("state {} has no use for {}, which is for state {}; see wisecrowd state --help",
                                  options.action, option, fmt::join(actions, " and state ")));
  }
  if (options.action == "add" && options.labels.empty()) {
    throw usage_error("state add needs LABELS: files of answers, or - for standard input");
  }
  if (options.action == "init" && options.labels.size() > 1) {
    throw usage_error("state init takes one file of answers; add others with wisecrowd state add");
  }
  if (options.action == "export" && options.out.empty()) throw usage_error("state export needs --out and a folder");
  if (!options.task.empty() && !options.worker.empty()) {
    throw usage_error("state show takes --task or --worker, not both");
  }
}

/// One run of one action: what it has found out so far.
struct Report {
  Json json = Json::object();
  std::string text;
};

void describe_state(const Options& options, const CrowdState& state, const Screen& screen, Report& report) {
  const StateSummary summary = state.summary();
  report.json["summary"] = summary_json(summary, state.parameters());
  report.text += state_lines(options.state, summary, screen);
}

void say_warnings(const std::vector<Warning>& warnings, const Screen& screen, Report& report) {
  report.text += warning_lines(warnings, screen);
  report.json["warnings"] = Json::array();
  for (const Warning& warning : warnings) {
    report.json["warnings"].push_back({{"code", warning.code}, {"message", warning.message}});
  }
}

Report init(const Options& options, Session& session, Work& work) {
  StateSettings settings;
  settings.parameters = parameters_from(state_parameters(), options.settings, "a state");
  const ReadOptions read = options.read.options();
  settings.duplicates = read.duplicates;
  settings.fixed_classes = !read.classes.empty();
  Dataset data;
  DataReport found;
  Stopwatch watch;
  if (options.labels.empty()) {
    if (!read.classes.empty()) data.answers = AnnotationsBuilder(read.classes).build();
  } else {
    data = at_stage(Stage::reading,
                    [&] { return read_dataset(options.labels.front(), std::nullopt, read, work.context(), &found); });
  }
  work.check_stopped();
  Report report;
  const double reading = watch.lap();
  const CrowdState state =
      at_stage(Stage::creating, [&] { return CrowdState::create(options.state, data, settings, work.context()); });
  const double making = watch.lap();
  work.check_stopped();
  report.json["timings"] = {{"read", reading}, {"create", making}};
  describe_state(options, state, session.out_screen, report);
  say_warnings(found.warnings, session.out_screen, report);
  return report;
}

Report add(const Options& options, Session& session, Work& work) {
  ReadOptions read = options.read.options();
  const StateSummary before =
      at_stage(Stage::reading, [&] { return CrowdState::open(options.state, CrowdState::Access::read).summary(); });
  read.duplicates = before.duplicates;
  if (before.classes_are_fixed) read.classes = before.classes;
  std::vector<Annotations> sources;
  std::vector<Warning> warnings;
  Stopwatch watch;
  for (const std::string& file : options.labels) {
    DataReport found;
    sources.push_back(at_stage(Stage::reading,
                               [&] { return read_dataset(file, std::nullopt, read, work.context(), &found).answers; }));
    work.check_stopped();
    warnings.insert(warnings.end(), found.warnings.begin(), found.warnings.end());
  }
  Report report;
  const double reading = watch.lap();
  const std::clock_t cpu_before = std::clock();
  CrowdState state =
      at_stage(Stage::writing, [&] { return CrowdState::open(options.state, CrowdState::Access::write); });
  const Absorbed absorbed = at_stage(Stage::writing, [&] { return state.add(sources, work.context()); });
  const double cpu = static_cast<double>(std::clock() - cpu_before) / CLOCKS_PER_SEC;
  report.json["timings"] = {{"read", reading}, {"absorb", watch.lap()}, {"absorb_cpu", cpu}};
  report.json["added"] = absorbed_json(absorbed);
  report.text += absorbed_lines(absorbed, session.out_screen);
  const bool refits = options.refit == "always" || (options.refit == "auto" && refits_unasked(state.summary()));
  if (refits) {
    // The answers are safe by now, whatever becomes of the fit.
    const Aggregation fit = at_stage(Stage::writing, [&] { return state.refit(work.context()); });
    report.json["timings"]["refit"] = watch.lap();
    report.text += summary_line("Refit", fmt::format("to all answers, in {}", counted(fit.iterations, "iteration")),
                                session.out_screen);
  }
  report.json["refitted"] = refits;
  describe_state(options, state, session.out_screen, report);
  say_warnings(warnings, session.out_screen, report);
  return report;
}

Report show(const Options& options, Session& session) {
  const Screen& screen = session.out_screen;
  return at_stage(Stage::reading, [&] {
    const CrowdState state = CrowdState::open(options.state, CrowdState::Access::read);
    const StateSummary summary = state.summary();
    Report report;
    if (!options.task.empty()) {
      const auto task = state.task(options.task);
      if (!task) {
        throw Failure(EX_DATAERR,
                      fmt::format("{} knows no task '{}'", printable(options.state), printable(options.task)));
      }
      report.json = task_json(*task, summary);
      report.text = task_text(*task, summary, screen);
    } else if (!options.worker.empty()) {
      const auto worker = state.worker(options.worker);
      if (!worker) {
        throw Failure(EX_DATAERR,
                      fmt::format("{} knows no worker '{}'", printable(options.state), printable(options.worker)));
      }
      report.json = worker_json(*worker, summary);
      report.text = worker_text(*worker, summary, screen);
    } else {
      report.json = summary_json(summary, state.parameters());
      report.text = state_lines(options.state, summary, screen) + state_tables(state, summary, screen);
    }
    return report;
  });
}

Report refit(const Options& options, Session& session, Work& work) {
  Stopwatch watch;
  CrowdState state =
      at_stage(Stage::reading, [&] { return CrowdState::open(options.state, CrowdState::Access::write); });
  const Aggregation fit = at_stage(Stage::writing, [&] { return state.refit(work.context()); });
  const double seconds = watch.lap();
  Report report;
  report.json["refit"] = {{"iterations", fit.iterations},
                          {"status", std::string(to_string(fit.status))},
                          {"log_likelihood", fit.log_likelihood}};
  report.json["timings"] = {{"refit", seconds}};
  report.text +=
      summary_line("Refit",
                   fmt::format("{} in {}, {}", fit.status == Status::converged ? "converged" : "stopped at its limit",
                               counted(fit.iterations, "iteration"), duration(seconds)),
                   session.out_screen);
  describe_state(options, state, session.out_screen, report);
  say_warnings(fit.warnings, session.out_screen, report);
  return report;
}

Report write_out(const Options& options, Session& session, Work& work) {
  at_stage(Stage::creating, [&] { check_output_directory(options.out); });
  RunRecord record;
  record.version = WISECROWD_VERSION;
  record.command = session.typed;
  record.method = "dawid_skene";
  record.threads = work.context().threads();
  record.inputs.emplace_back("state", options.state);
  CrowdState::Whole whole;
  Report report;
  at_stage(Stage::reading, [&] {
    const CrowdState state = CrowdState::open(options.state, CrowdState::Access::read);
    record.parameters = as_list(state.parameters());
    whole = state.whole(work.context());
    describe_state(options, state, session.out_screen, report);
  });
  work.check_stopped();
  const Result result =
      make_result(std::move(whole.data), std::move(whole.aggregation), std::move(record), work.context());
  work.check_stopped();
  session.interrupts.writes_to(options.out);
  const Status status = at_stage(Stage::writing, [&] { return write_result(result, options.out, work.context()); });
  session.interrupts.writes_to("");
  if (status == Status::cancelled) throw Stopped();
  report.json["out"] = options.out;
  report.text += fmt::format("{} {}: labels.csv, workers.csv, confusion.csv, run.json\n",
                             session.out_screen.bold("Written to"), shell_word(options.out));
  return report;
}

Report check(const Options& options, Session& session, Work& work) {
  const auto problems = at_stage(
      Stage::reading, [&] { return CrowdState::open(options.state, CrowdState::Access::read).check(work.context()); });
  work.check_stopped();
  if (!problems.empty()) {
    std::string text = fmt::format("{} is damaged:", printable(options.state));
    for (const std::string& problem : problems) text += "\n  " + printable(problem);
    throw Failure(EX_DATAERR, text +
                                  "\nrestore it from a copy, or make a new one from the original answers (wisecrowd "
                                  "state init)");
  }
  Report report;
  report.json["problems"] = Json::array();
  report.text =
      summary_line("Sound", fmt::format("no damage was found in {}", shell_word(options.state)), session.out_screen);
  return report;
}

void run(const Options& options, Session& session) {
  check_options(options);
  Work work(session, options.run);
  const Report report = options.action == "init"     ? init(options, session, work)
                        : options.action == "add"    ? add(options, session, work)
                        : options.action == "show"   ? show(options, session)
                        : options.action == "refit"  ? refit(options, session, work)
                        : options.action == "export" ? write_out(options, session, work)
                                                     : check(options, session, work);
  if (options.json) {
    Json json = {{"state", options.state}};
    json.update(report.json);
    session.out.add_json(json);
  } else if (!options.run.quiet) {
    session.out.add(report.text);
  }
}

std::string list_parameters(const std::vector<std::string>&, const Screen& screen) {
  return "Parameters for --set, fixed when a state is made\n" + parameter_lines(state_parameters(), screen);
}

}  // namespace

void add_state(CommandSet& commands) {
  Command& command = commands.add("state", "a crowd that lives in a file and grows with every answer");
  command.details =
      "A state holds answers, labels with probabilities and what is known of each worker. New answers are absorbed in "
      "time proportional to them, however many are there already; new tasks, workers and classes may appear.\n"
      "init makes a state, add absorbs answers, show looks into it, refit estimates everything anew from all answers "
      "(add does so by itself while a state is small, and says when it is due), export writes what aggregate would "
      "write, check looks for damage.\n"
      "The file is a SQLite database: its views labels, workers and answers can be read with any tool. A command that "
      "has succeeded is on the disk; one that was killed has changed nothing. Several may run at once.";
  auto options = std::make_shared<Options>();
  options->command = &command;
  command
      .add_choice("ACTION", options->action, {"init", "add", "show", "refit", "export", "check"},
                  "init, add, show, refit, export or check")
      ->required();
  command.add_text("STATE", options->state, "FILE", "the state", {ValueHint::Kind::file})->required();
  CLI::Option* labels = command.parser->add_option("LABELS", options->labels,
                                                   "init, add: answers as for aggregate; - for standard input");
  command.hints[labels] = {ValueHint::Kind::file};
  command.add_choice(
      "--refit", options->refit, {"auto", "always", "never"},
      "add: estimate everything anew afterwards. auto (the default): when it is due and the state has at "
      "most 200,000 answers");
  command.add_text("--task", options->task, "NAME", "show: one task, its probabilities and answers");
  command.add_text("--worker", options->worker, "NAME", "show: one worker and what it confuses");
  command.add_text("--out,-o", options->out, "DIR", "export: where to write the results", ValueHint::written_folder());
  add_settings(command, options->settings, "init: set a parameter; may be repeated");
  command.add_flag("--json", options->json, "print one JSON object instead of text");
  options->read.add_to(command, false);
  options->run.add_to(command, false);
  command.more = list_parameters;
  command.examples =
      "wisecrowd simulate dawid_skene --tasks 500 --workers 30 --out crowd\n"
      "wisecrowd state init crowd.state crowd/labels.csv\n"
      "printf 'task,worker,label\\nnew,worker_000001,0\\nnew,worker_000002,0\\n' | wisecrowd state add crowd.state -\n"
      "wisecrowd state show crowd.state\n"
      "wisecrowd state show crowd.state --task new\n"
      "wisecrowd state show crowd.state --worker worker_000001 --json\n"
      "wisecrowd state refit crowd.state\n"
      "wisecrowd state export crowd.state --out result\n"
      "wisecrowd state check crowd.state\n"
      "wisecrowd state init empty.state --classes cat,dog --duplicates reject --set prior_answers=2";
  command.run = [options](Session& session) { run(*options, session); };
}

}  // namespace wisecrowd::app
