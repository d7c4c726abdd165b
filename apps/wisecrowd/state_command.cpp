#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>

#include "common_options.hpp"
#include "failure.hpp"
#include "help_text.hpp"
#include "output_place.hpp"
#include "run_summary.hpp"
#include "screen_text.hpp"
#include "shared_json.hpp"
#include "state_attention.hpp"
#include "state_reading.hpp"
#include "state_text.hpp"
#include "wisecrowd/asking.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/select.hpp"
#include "wisecrowd/state_result.hpp"

namespace wisecrowd::app {
namespace {

using Json = nlohmann::ordered_json;

struct StateArguments {
  std::string action;
  std::string state;
  std::vector<std::string> labels;
  std::vector<std::string> settings;
  std::string refit = "auto";
  std::string task;
  std::string worker;
  std::string gold;
  std::string gold_for = "inference";
  double sure = 0.95;
  std::uint64_t limit = 0;
  std::string after;
  std::string time;
  std::string out;
  bool json = false;
  ReadFlags read;
  RunFlags run;
  Command* command = nullptr;

  [[nodiscard]] bool given(const std::string& option) const { return command->given(option); }
};

/// Which actions an option belongs to; those that are not here belong to all.
const std::vector<std::pair<std::string, std::vector<std::string>>>& owners() {
  static const std::vector<std::pair<std::string, std::vector<std::string>>> table = {
      {"ANSWERS", {"init", "add"}},
      {"--set", {"init"}},
      {"--classes", {"init"}},
      {"--duplicates", {"init"}},
      {"--columns", {"init", "add"}},
      {"--format", {"init", "add"}},
      {"--wide", {"init", "add"}},
      {"--lenient", {"init", "add"}},
      {"--refit", {"add"}},
      {"--time", {"add"}},
      {"--task", {"show"}},
      {"--worker", {"show"}},
      {"--out", {"export", "retired"}},
      {"--exclude-workers", {"init", "add"}},
      {"--merge-workers", {"init", "add"}},
      {"--safe-csv", {"init", "add"}},
      {"--gold", {"init", "add"}},
      {"--gold-columns", {"init", "add"}},
      {"--gold-for", {"init", "add"}},
      {"--sure", {"retired"}},
      {"--limit", {"retired"}},
      {"--after", {"retired"}},
  };
  return table;
}

void check_options(const StateArguments& options) {
  for (const auto& [option, actions] : owners()) {
    if (!options.given(option) || std::find(actions.begin(), actions.end(), options.action) != actions.end()) continue;
    throw usage_error(fmt::format("state {} has no use for {}, which is for state {}; see wisecrowd state --help",
                                  options.action, option, fmt::join(actions, " and state ")));
  }
  if (options.action == "add" && options.labels.empty() && options.gold.empty()) {
    throw usage_error("state add needs ANSWERS: files of answers, or - for standard input; or --gold and a file");
  }
  if (options.given("--gold-for") && options.gold.empty()) {
    throw usage_error("--gold-for says what gold is for: give the gold, too, with --gold FILE");
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

void describe_state(const StateArguments& options, const CrowdState& state, const Screen& screen, Report& report) {
  const StateSummary summary = state.summary();
  report.json["summary"] = summary_json(summary, state.parameters());
  report.text += state_lines(options.state, summary, screen);
}

void say_warnings(const std::vector<Warning>& warnings, Session& session, Report& report) {
  session.warn(warnings);
  report.json["warnings"] = warnings_json(warnings);
}

void append(const std::vector<Warning>& more, std::vector<Warning>& warnings) {
  warnings.insert(warnings.end(), more.begin(), more.end());
}

/// Reads one table as the first one was read, unless something else was typed.
TimedCategoryData read_more(const std::string& file, const ReadOptions& typed, const StateSummary& state,
                            const RunContext& context, std::vector<Warning>& warnings) {
  const ReadOptions read = with_remembered(typed, state, file);
  DataReport found;
  try {
    TimedCategoryData timed =
        at_stage(Stage::reading, [&] { return read_timed_dataset(file, std::nullopt, read, context, &found); });
    append(found.warnings, warnings);
    return timed;
  } catch (const Failure& failure) {
    const bool remembered = remembered_reading(read) != remembered_reading(typed);
    if (failure.exit_code() != EX_DATAERR || !remembered) throw;
    std::vector<std::string> words;
    for (const auto& [name, value] : state.reading) words.push_back(fmt::format("{} {}", name, printable(value)));
    throw Failure(EX_DATAERR,
                  fmt::format("{}\nThe state remembers how its first table was read ({}); say --columns, or "
                              "--wide=false, for one that is different",
                              failure.what(), fmt::join(words, ", ")));
  }
}

Report init(const StateArguments& options, Session& session, Work& work) {
  StateSettings settings;
  settings.parameters = parameters_from(state_parameters(), options.settings, "a state");
  warn_of_former_names(session, settings.parameters);
  const ReadOptions read = options.read.options();
  settings.duplicates = read.duplicates;
  settings.fixed_classes = !read.classes.empty();
  settings.gold_use = options.gold_for == "evaluation" ? GoldUse::evaluation : GoldUse::inference;
  settings.reading = remembered_reading(read);
  CategoryData data;
  DataReport found;
  Stopwatch watch;
  if (options.labels.empty()) {
    if (!read.classes.empty()) data.answers = CategoryAnswersBuilder(read.classes).build();
  } else {
    data = at_stage(Stage::reading,
                    [&] { return read_dataset(options.labels.front(), std::nullopt, read, work.context(), &found); });
  }
  std::vector<KnownTruth> gold;
  take_truths(data, gold);
  if (!options.gold.empty()) gold = read_known_truths(options.gold, read, work.context(), found.warnings);
  work.check_stopped();
  Report report;
  const double reading = watch.lap();
  const CrowdState state = at_stage(Stage::creating, [&] {
    return CrowdState::create(options.state, data, settings, work.context(), gold, inspect_answers);
  });
  const double making = watch.lap();
  work.check_stopped();
  report.json["timings"] = {{"read", reading}, {"create", making}};
  describe_state(options, state, session.out_screen, report);
  std::vector<Warning> warnings = found.warnings;
  if (!options.labels.empty()) append(state.summary().warnings, warnings);
  say_warnings(warnings, session, report);
  return report;
}

Report add(const StateArguments& options, Session& session, Work& work) {
  const StateSummary before =
      at_stage(Stage::reading, [&] { return CrowdState::open(options.state, CrowdState::Access::read).summary(); });
  ReadOptions typed = options.read.options();
  if (options.given("--wide") && !options.read.wide) typed.layout = TableLayout::long_rows;  // --wide=false
  typed.time_column = options.time;
  std::vector<CategoryAnswers> sources;
  std::vector<std::vector<double>> times;
  std::vector<Warning> warnings;
  std::vector<KnownTruth> gold;
  Stopwatch watch;
  for (const std::string& file : options.labels) {
    TimedCategoryData timed = read_more(file, typed, before, work.context(), warnings);
    take_truths(timed.data, gold);
    sources.push_back(std::move(timed.data.answers));
    times.push_back(std::move(timed.times.times));
    work.check_stopped();
  }
  if (!options.gold.empty()) {
    gold = read_known_truths(options.gold, with_remembered(typed, before, options.gold), work.context(), warnings);
  }
  Report report;
  const double reading = watch.lap();
  const std::clock_t cpu_before = std::clock();
  CrowdState state =
      at_stage(Stage::writing, [&] { return CrowdState::open(options.state, CrowdState::Access::write); });
  const Absorbed absorbed = at_stage(Stage::writing, [&] {
    if (!gold.empty() && (before.gold_tasks == 0 || options.given("--gold-for"))) {
      state.set_gold_use(options.gold_for == "evaluation" ? GoldUse::evaluation : GoldUse::inference);
    }
    if (before.reading.empty() && !sources.empty()) state.set_reading(remembered_reading(typed));
    return state.add(sources, work.context(), gold, times);
  });
  const double cpu = static_cast<double>(std::clock() - cpu_before) / CLOCKS_PER_SEC;
  report.json["timings"] = {{"read", reading}, {"absorb", watch.lap()}, {"absorb_cpu", cpu}};
  report.json["added"] = absorbed_json(absorbed);
  report.text += absorbed_lines(absorbed, session.out_screen);
  const bool refits = options.refit == "always" || (options.refit == "auto" && should_auto_refit(state.summary()));
  if (refits) {
    // The answers are safe by now, whatever becomes of the fit.
    const CategoryFit fit = at_stage(Stage::writing, [&] { return state.refit(work.context(), inspect_answers); });
    report.json["timings"]["refit"] = watch.lap();
    report.text += summary_line("Refit", fmt::format("to all answers, in {}", counted(fit.iterations, "iteration")),
                                session.out_screen);
  }
  report.json["refitted"] = refits;
  describe_state(options, state, session.out_screen, report);
  append(state.summary().warnings, warnings);  // of the last fit, whether it was now or earlier
  say_warnings(warnings, session, report);
  return report;
}

Report show(const StateArguments& options, Session& session) {
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
      auto alarms = state.alarms();
      std::erase_if(alarms, [&](const WorkerAlarm& alarm) { return alarm.worker != worker->name; });
      report.json = worker_json(*worker, summary);
      report.json["alarms"] = alarms_json(alarms);
      report.text = worker_text(*worker, summary, screen) + alarm_lines(alarms, screen);
    } else {
      const auto alarms = state.alarms();
      report.json = summary_json(summary, state.parameters());
      report.json["alarms"] = alarms_json(alarms);
      report.text = state_lines(options.state, summary, screen) + alarm_lines(alarms, screen) +
                    state_tables(state, summary, screen);
    }
    return report;
  });
}

Report refit(const StateArguments& options, Session& session, Work& work) {
  Stopwatch watch;
  CrowdState state =
      at_stage(Stage::reading, [&] { return CrowdState::open(options.state, CrowdState::Access::write); });
  const CategoryFit fit = at_stage(Stage::writing, [&] { return state.refit(work.context(), inspect_answers); });
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
  say_warnings(fit.warnings, session, report);
  return report;
}

Report write_out(const StateArguments& options, Session& session, Work& work) {
  at_stage(Stage::creating, [&] { check_output_directory(options.out); });
  Report report;
  const CategoryResult result = at_stage(Stage::reading, [&] {
    const CrowdState state = CrowdState::open(options.state, CrowdState::Access::read);
    describe_state(options, state, session.out_screen, report);
    return state_result(state, options.state, session.typed, work.context());
  });
  session.warn(result.record.data_warnings);
  session.warn(result.aggregation.warnings);
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

Report alerts(const StateArguments& options, Session& session, Work& work) {
  const std::vector<Alert> found = at_stage(Stage::reading, [&] {
    const CrowdState state = CrowdState::open(options.state, CrowdState::Access::read);
    return state_alerts(state_result(state, options.state, session.typed, work.context()), {}, work.context(),
                        state.alarms());
  });
  work.check_stopped();
  const auto urgent =
      static_cast<std::size_t>(std::count_if(found.begin(), found.end(), [](const Alert& a) { return a.urgent; }));
  session.needs_attention = urgent > 0;
  Report report;
  report.json = {{"needs_attention", urgent > 0}, {"warnings", urgent}, {"notices", found.size() - urgent}};
  report.json["alerts"] = alerts_json(found);
  report.text = alerts_text(found, session.out_screen);
  return report;
}

Report retired(const StateArguments& options, Session& session) {
  if (!options.out.empty()) require_place_for(options.out, false);
  const std::size_t limit = options.limit == 0 ? SIZE_MAX : options.limit;
  const auto [tasks, summary] = at_stage(Stage::reading, [&] {
    const CrowdState state = CrowdState::open(options.state, CrowdState::Access::read);
    return std::pair(state.settled(options.sure, limit, options.after), state.summary());
  });
  Report report;
  report.json = {{"sure", options.sure}, {"tasks", settled_json(tasks, summary.classes)}};
  report.json["next"] = tasks.size() < limit || tasks.empty() ? Json(nullptr) : Json(tasks.back().name);
  const std::string csv = settled_csv(tasks, summary.classes);
  if (options.out.empty()) {
    report.text = csv;
    return report;
  }
  at_stage(Stage::writing, [&] { write_selection_file(options.out, csv); });
  report.text =
      fmt::format("{} {}: {} of {}, with probability {} or more\n", session.out_screen.bold("Written to"),
                  shell_word(options.out), grouped(tasks.size()), counted(summary.tasks, "task"), options.sure);
  return report;
}

Report check(const StateArguments& options, Session& session, Work& work) {
  const auto problems = at_stage(
      Stage::reading, [&] { return CrowdState::open(options.state, CrowdState::Access::read).check(work.context()); });
  work.check_stopped();
  if (!problems.empty()) {
    std::string text = fmt::format("{} is damaged, or was changed by another program:", printable(options.state));
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

void run_state(const StateArguments& options, Session& session) {
  check_options(options);
  Work work(session, options.run);
  const Report report = options.action == "init"      ? init(options, session, work)
                        : options.action == "add"     ? add(options, session, work)
                        : options.action == "show"    ? show(options, session)
                        : options.action == "refit"   ? refit(options, session, work)
                        : options.action == "export"  ? write_out(options, session, work)
                        : options.action == "alerts"  ? alerts(options, session, work)
                        : options.action == "retired" ? retired(options, session)
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
  Command& command = commands.add("state", "a persistent crowd in one SQLite file that grows with every answer");
  command.details =
      "A state holds answers, labels with probabilities and what is known of each worker. New answers are absorbed in "
      "time proportional to them, however many are there already; new tasks, workers and classes may appear.\n"
      "init makes a state, add absorbs answers, show looks into it, refit estimates everything anew from all answers "
      "(add does so by itself while a state is small, and says when it is due), export writes what aggregate would "
      "write, check looks for damage.\n"
      "alerts says what needs attention, for people and for cron: workers to stop, copies, a stale model, tasks "
      "without "
      "agreement; it ends with exit code 1 if there is something, with 0 if there is nothing. retired lists the tasks "
      "that are sure enough to ask no more about them.\n"
      "add reads tables as the first one was read (--columns, --wide), unless told otherwise.\n"
      "The file is a SQLite database: its views labels, workers and answers can be read with any tool. A command that "
      "has succeeded is on the disk; one that was killed has changed nothing. Several may run at once.";
  auto options = std::make_shared<StateArguments>();
  options->command = &command;
  command
      .add_choice("ACTION", options->action, {"init", "add", "show", "refit", "alerts", "retired", "export", "check"},
                  "init, add, show, refit, alerts, retired, export or check")
      ->required();
  command.add_text("STATE", options->state, "FILE", "the state", {ValueHint::Kind::file})->required();
  command.add_list("ANSWERS", options->labels, "FILE", "init, add: answers as for aggregate; - for standard input",
                   {ValueHint::Kind::file});
  command.add_choice(
      "--refit", options->refit, {"auto", "always", "never"},
      "add: estimate everything anew afterwards. auto (the default): when it is due and the state has at "
      "most 200,000 answers");
  add_time(command, options->time,
           "the rows are taken to be in the order of time; add: for alarms about workers who get worse");
  command.add_text("--task", options->task, "NAME", "show: one task, its probabilities and answers");
  command.add_text("--worker", options->worker, "NAME", "show: one worker and what it confuses");
  command.add_text("--gold,-g", options->gold, "FILE", "init, add: tasks whose truth is known: task, label",
                   {ValueHint::Kind::file});
  command.add_choice("--gold-for", options->gold_for, {"inference", "evaluation"},
                     "what the first gold is for, and all that follows. inference (the default): the fit sees it. "
                     "evaluation: the fit does not, and show and report score the labels on it");
  command.add_number("--sure", options->sure, 0, 1, "retired: tasks whose label has at least this probability (0.95)");
  command.add_count("--limit", options->limit, 1, 1000000000000, "retired: at most so many (all)");
  command.add_text("--after", options->after, "TASK",
                   "retired: go on after this task, the last one of the page before");
  command.add_text("--out,-o", options->out, "PATH", "export: a folder for the results; retired: a file for the table",
                   ValueHint::written_folder());
  add_settings(command, options->settings, "init: set a parameter; may be repeated");
  command.add_flag("--json", options->json, "print one JSON object instead of text");
  options->read.add_to(command, true);
  options->run.add_to(command, false);
  options->run.add_warning_flag(command);
  command.more = list_parameters;
  command.examples =
      "wisecrowd simulate dawid_skene --tasks 500 --workers 30 --out crowd\n"
      "wisecrowd state init crowd.state crowd/answers.csv\n"
      "printf 'task,worker,label\\nnew,worker_000001,0\\nnew,worker_000002,0\\n' | wisecrowd state add crowd.state -\n"
      "wisecrowd state show crowd.state\n"
      "wisecrowd state show crowd.state --task new\n"
      "wisecrowd state show crowd.state --worker worker_000001 --json\n"
      "wisecrowd state refit crowd.state\n"
      "wisecrowd state add crowd.state --gold crowd/gold.csv --gold-for evaluation\n"
      "wisecrowd state retired crowd.state --sure 0.99 --limit 100 --out retired.csv\n"
      "wisecrowd report crowd.state --out crowd.html\n"
      "wisecrowd state export crowd.state --out result\n"
      "wisecrowd state check crowd.state\n"
      "wisecrowd state init empty.state --classes cat,dog --duplicates reject --set prior_answers=2";
  command.run = [options](Session& session) { run_state(*options, session); };
}

}  // namespace wisecrowd::app
