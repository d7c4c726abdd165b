#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "aggregate_run.hpp"
#include "common_options.hpp"
#include "failure.hpp"
#include "report_run.hpp"
#include "screen_text.hpp"
#include "trust_text.hpp"
#include "wisecrowd/evaluate.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/trust_files.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::app {
namespace {

struct TrustArguments {
  std::string answers, gold, method, time, out, report;
  bool force = false;
  std::vector<std::string> settings;
  bool json = false;
  ReadFlags read;
  RunFlags run;
};

TrustRun study(const TrustArguments& options, Session& session, Work& work) {
  const MethodInfo& info =
      method_named(options.method.empty() ? std::string(default_aggregation_method()) : options.method);
  const Parameters parameters = parameters_from(info.parameters, options.settings, info.name);
  warn_of_former_names(session, parameters);
  TrustRun run;
  RunRecord& record = run.record;
  ReadOptions read = options.read.options();
  read.time_column = options.time;
  record.version = WISECROWD_VERSION;
  record.command = session.typed;
  record.method = info.name;
  record.parameters = as_list(parameters);
  record.reading = reading_record(read);
  record.seed = work.context().seed();
  record.threads = work.context().threads();
  record.inputs = {{"answers", options.answers}};
  if (!options.gold.empty()) record.inputs.emplace_back("gold", options.gold);

  Stopwatch watch;
  DataReport report;
  TimedCategoryData timed = at_stage(Stage::reading, [&] {
    return read_timed_dataset(options.answers, options.gold.empty() ? std::nullopt : std::optional(options.gold), read,
                              work.context(), &report);
  });
  work.check_stopped();
  run.times = std::move(timed.times);
  run.data = std::move(timed.data);
  for (const ClassId gold : run.data.gold) record.gold_tasks += gold == kNoClass ? 0 : 1;
  record.gold_use = run.data.has_gold() ? "inference" : "none";
  record.data_hash = run.data.answers.content_hash();
  record.data_warnings = report.warnings;
  add_new(record.data_warnings, describe(run.data.answers).warnings);
  record.timings.emplace_back("read", watch.lap());

  Dependence found = run.data.worker_groups.empty()
                         ? find_dependence(run.data, {.list_attacked_tasks = true}, work.context())
                         : given_groups(run.data);
  work.check_stopped();
  record.timings.emplace_back("find dependence", watch.lap());
  const KnownGroups known = knowing_groups(run.data, parameters, found, info.uses_gold);
  run.fit = aggregate(known.data, info.name, known.parameters, work.context());
  found.counted_once = run.fit.dependence && run.fit.dependence->counted_once;
  work.check_stopped();
  record.timings.emplace_back("fit", watch.lap());
  run.study = study_trust(run.data, run.fit, std::move(found), run.times, work.context());
  work.check_stopped();
  record.timings.emplace_back("judge", watch.lap());
  return run;
}

void run_trust(const TrustArguments& options, Session& session) {
  if (!options.out.empty()) at_stage(Stage::creating, [&] { check_output_directory(options.out); });
  const ReportRequest report{.path = options.report, .compare = "none", .force = options.force};
  check_report(report);
  Work work(session, options.run);
  TrustRun run = study(options, session, work);
  std::size_t report_bytes = 0;
  if (!options.report.empty()) {
    const CategoryResult shown = result_of(run, work.context());
    work.check_stopped();
    report_bytes = write_run_report(shown, std::nullopt, report, work, {.fairness = {}, .trust = run.study});
  }
  // What is said of groups stands in the summary; programs get it as warnings.
  session.warn(run.record.data_warnings);
  session.warn(run.fit.warnings);
  for (Warning& warning : dependence_warnings(run.data, run.study.dependence)) {
    if (options.json || options.run.quiet || options.run.fail_on_warning) session.warn({&warning, 1});
    run.fit.warnings.push_back(std::move(warning));
  }
  if (!options.out.empty()) {
    session.interrupts.writes_to(options.out);
    const Status status = at_stage(Stage::writing, [&] { return write_trust(run, options.out, work.context()); });
    session.interrupts.writes_to("");
    if (status == Status::cancelled) throw Stopped();
  }
  if (options.json) {
    auto json = nlohmann::ordered_json::parse(trust_json(run));
    json["out"] = options.out.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(options.out);
    if (!options.report.empty()) json["report"] = options.report;
    session.out.add_json(json);
    return;
  }
  if (options.run.quiet) return;
  const Screen& screen = session.out_screen;
  session.out.add(trust_summary(run, screen));
  if (!options.out.empty()) {
    session.out.add(fmt::format("\n{}\n", wrapped(fmt::format("{} {}: workers.csv, pairs.csv, groups.csv, alarms.csv, "
                                                              "attacked_tasks.csv, run.json",
                                                              screen.bold("Written to"), printable(options.out)),
                                                  screen.width, 2)));
  } else if (options.report.empty()) {
    session.out.add(fmt::format("\n{}\n  {} --out trusted\n",
                                wrapped("Nothing was written. To keep what is known of every worker, add --out and a "
                                        "folder:",
                                        screen.width, 0),
                                session.typed));
  }
  if (!options.report.empty()) session.out.add(report_line(options.report, report_bytes, screen));
}

}  // namespace

void add_trust(CommandSet& commands) {
  Command& command = commands.add("trust", "who guesses, copies, colludes or gets tired, and what to do about it");
  command.details =
      "Looks for workers who guess, who swap classes, who answer as one with others, and who got worse with time, and "
      "says what should be done about each, why, and what that would change in the labels.\n"
      "keep: better than guessing. stop: its answers hardly depend on the truth. recode: it swaps classes, so its "
      "answers are worth much when they are read the other way round. retrain: it takes one class for another, or is "
      "wrong more often than by guessing. check: it answers as one with others, or worse than before. unsure: too "
      "little is known.\n"
      "Which side is right when many answer as one cannot be known from answers alone: the majority of voices is "
      "believed. --gold or --trusted decides it.\n"
      "Getting worse is seen in the order of time: that of --time, else that of the rows.\n"
      "With --out it writes workers.csv (one row per worker: advice, reason, effect on the labels, accuracy, spammer "
      "score, probability of a spammer, capacity, copies, group, drift), pairs.csv, groups.csv, alarms.csv, "
      "attacked_tasks.csv and run.json. The folder appears complete or not at all.";
  auto options = std::make_shared<TrustArguments>();
  command
      .add_text("ANSWERS", options->answers, "FILE",
                "the answers: CSV, TSV or JSON Lines, plain, .gz or .zst; - for standard input",
                {ValueHint::Kind::file})
      ->required();
  options->read.add_trust_to(command);
  add_time(command, options->time, "the rows are taken to be in the order of time");
  command.add_text("--gold,-g", options->gold, "FILE", "tasks whose truth is known: task, label",
                   {ValueHint::Kind::file});
  command.add_text("--method,-m", options->method, "NAME", "how to find the labels that workers are judged by",
                   {ValueHint::Kind::method});
  add_settings(command, options->settings, "set a parameter of the method; may be repeated");
  command.add_text("--out,-o", options->out, "DIR", "where to write the tables", ValueHint::written_folder());
  command.add_text("--report", options->report, "FILE",
                   "also write a report of the labels with a picture of the crowd and of each worker's time",
                   ValueHint::written_file());
  add_force(command, options->force);
  command.add_flag("--json", options->json, "print one JSON object instead of the summary");
  options->read.add_to(command, true);
  options->run.add_to(command, true);
  options->run.add_warning_flag(command);
  command.examples =
      "wisecrowd simulate colluders --tasks 500 --out crowd\n"
      "wisecrowd trust crowd/answers.csv\n"
      "wisecrowd trust crowd/answers.csv --gold crowd/gold.csv --out trusted\n"
      "wisecrowd trust crowd/answers.csv --report trust.html\n"
      "wisecrowd simulate hammer_spammer --tasks 500 --out guessers\n"
      "wisecrowd trust guessers/answers.csv --method dawid_skene --json";
  command.run = [options](Session& session) { run_trust(*options, session); };
}

}  // namespace wisecrowd::app
