#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "aggregate_run.hpp"
#include "failure.hpp"
#include "help_text.hpp"
#include "kind_commands.hpp"
#include "report_run.hpp"
#include "run_summary.hpp"
#include "screen_text.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd::app {
namespace {

struct AggregateArguments {
  std::string labels;
  std::string method;
  std::string init;
  std::string init_from = "posterior";
  std::string finish;
  std::string gold;
  std::string gold_for = "inference";
  std::string out;
  std::string report;
  bool force = false;
  std::vector<std::string> settings;
  std::string without;
  std::string time;
  double abstain_below = 0;
  bool json = false;
  ReadFlags read;
  StructureFlags structure;
  RunFlags run;
};

std::string what_was_written(const AggregateArguments& options, const CategoryResult& result, const Screen& screen) {
  const std::string folder = options.out + (options.out.ends_with('/') ? "" : "/");
  std::string text = fmt::format("\n{} {}\n", screen.bold("Written to"), shell_word(folder));
  const auto file = [&](const std::string& name, const std::string& what) {
    text += fmt::format("  {:<14} {}\n", name, what);
  };
  file("labels.csv",
       fmt::format("a label with its probability for each of {}", counted(result.aggregation.task_count, "task")));
  file("workers.csv", fmt::format("how reliable each of {} is", counted(result.workers.size(), "worker")));
  file("confusion.csv", "what each worker says for each truth");
  file("run.json", "how it was made: parameters, seed, trace, warnings, timings");
  return text;
}

std::string what_next(const AggregateArguments& options, Session& session) {
  const Screen& screen = session.out_screen;
  std::string text = "\n";
  if (options.out.empty() && !options.report.empty()) return "";
  if (options.out.empty()) {
    text += wrapped("Nothing was written. To keep the results, add --out and a folder:", screen.width, 0) + "\n";
    text += fmt::format("  {} --out result\n", session.typed);
    return text;
  }
  if (options.report.empty()) {
    text += wrapped("To look at it in a browser:", screen.width, 0) + "\n";
    // The answers are read again, which standard input cannot be.
    const bool gone = options.labels == "-" || options.gold == "-";
    text += fmt::format("  wisecrowd report {}{}\n", shell_word(options.out),
                        gone ? (options.labels == "-" ? " --answers FILE" : " --gold FILE") : "");
  }
  const std::string labels = shell_word(options.out + (options.out.ends_with('/') ? "" : "/") + "labels.csv");
  if (options.gold.empty()) {
    text += wrapped("If you know the truth of some tasks, score these labels:", screen.width, 0) + "\n";
    text += fmt::format("  wisecrowd evaluate {} GOLD.csv\n", labels);
  } else if (options.labels != "-" && options.gold != "-") {
    text += wrapped("To see how other methods do on the gold tasks:", screen.width, 0) + "\n";
    text += fmt::format("  wisecrowd compare {} --gold {}{}{}\n", shell_word(options.labels), shell_word(options.gold),
                        options.read.words(true), options.structure.words());
  }
  return text;
}

void run_aggregate(const AggregateArguments& options, Session& session) {
  if (const KindCommands* const kind = kind_commands(options.read)) {
    kind->refuse(!options.init.empty(), "--init");
    kind->refuse(!options.finish.empty(), "--finish");
    kind->refuse(options.abstain_below > 0, "--abstain-below");
    kind->refuse(!options.without.empty(), "--without");
    kind->refuse(!options.time.empty(), "--time");
    kind->refuse(!options.read.trusted.empty(), "--trusted");
    kind->refuse(!options.read.groups.empty(), "--groups");
    kind->refuse(options.structure.ordered, "--ordered");
    kind->refuse(options.structure.has_graph(), "a graph of tasks");
    KindRequest request;
    request.answers = options.labels;
    request.settings = options.settings;
    request.json = options.json;
    request.read = options.read;
    request.run = options.run;
    request.gold = options.gold;
    request.gold_for_evaluation = options.gold_for == "evaluation";
    request.method = options.method;
    request.out = options.out;
    request.report = {.path = options.report, .force = options.force};
    return kind->aggregate(request, session);
  }
  AggregateRequest request;
  request.labels = options.labels;
  if (!options.gold.empty()) request.gold = options.gold;
  request.gold_for_evaluation = options.gold_for == "evaluation";
  request.method = options.method;
  request.init = options.init;
  request.init_from_tables = options.init_from == "tables";
  request.finish = options.finish;
  request.settings = options.settings;
  request.without = without_of(options.without);
  request.abstain_below = options.abstain_below;
  request.read = options.read.options();
  request.read.time_column = options.time;
  options.structure.check();
  request.structure = options.structure;
  if (!options.out.empty()) request.out = options.out;
  request.look_at_pairs_only = options.report.empty();  // which has a picture of the crowd
  const ReportRequest report{.path = options.report, .force = options.force};
  check_report(report);
  Work work(session, options.run);
  const AggregateOutcome outcome = run_aggregate(request, session, work);
  const std::size_t report_bytes =
      options.report.empty() ? 0 : write_run_report(outcome.result, std::nullopt, report, work);
  if (options.json) {
    auto json = nlohmann::ordered_json::parse(run_json(outcome.result));
    json["summary"] = run_summary_json(outcome.result);
    json["out"] = request.out ? nlohmann::ordered_json(*request.out) : nlohmann::ordered_json(nullptr);
    if (!options.report.empty()) json["report"] = options.report;
    session.out.add_json(json);
    return;
  }
  if (options.run.quiet) return;
  const Screen& screen = session.out_screen;
  session.out.add(run_summary(outcome.result, options.method.empty(), outcome.fit_seconds, screen));
  if (request.out) session.out.add(what_was_written(options, outcome.result, screen));
  if (!options.report.empty()) session.out.add(report_line(options.report, report_bytes, screen));
  session.out.add(what_next(options, session));
}

std::string list_methods(const std::vector<std::string>&, const Screen& screen) {
  std::string text = "Methods\n";
  for (const MethodInfo& info : aggregation_methods()) {
    const bool is_default = info.name == default_aggregation_method();
    text += help_entry(info.name, is_default ? info.summary + " (the default)" : info.summary, screen);
  }
  return text + "  See wisecrowd methods NAME for parameters and advice.\n";
}

}  // namespace

void add_aggregate(CommandSet& commands) {
  Command& command = commands.add("aggregate", "labels with probabilities, and how reliable each worker is");
  command.details =
      "Reads answers (task, worker, label), finds the most probable truth of each task and learns on the way whom to "
      "believe. Without --out it shows a summary and writes nothing.\n"
      "With --out it writes labels.csv (task, label, probability, and p_CLASS for every class), workers.csv, "
      "confusion.csv and run.json. Numbers have six significant digits. The folder appears complete or not at all; an "
      "earlier result there is replaced, anything else is not.";
  auto options = std::make_shared<AggregateArguments>();
  command
      .add_text("ANSWERS", options->labels, "FILE",
                "the answers: CSV, TSV or JSON Lines, plain, .gz or .zst; - for standard input",
                {ValueHint::Kind::file})
      ->required();
  command.add_text("--method,-m", options->method, "NAME", "how to aggregate; see below", {ValueHint::Kind::method});
  command.add_text("--init", options->init, "NAME",
                   "start from the result of another method, instead of the method's own start",
                   {ValueHint::Kind::method});
  command.add_choice("--init-from", options->init_from, {"posterior", "tables"},
                     "what --init hands over: its posterior, or the posterior that its worker tables imply");
  command.add_text("--finish", options->finish, "NAME",
                   "let another method go on from the result; em is short for dawid_skene", {ValueHint::Kind::method});
  command.add_text("--gold,-g", options->gold, "FILE", "tasks whose truth is known: task, label",
                   {ValueHint::Kind::file});
  command.add_choice("--gold-for", options->gold_for, {"inference", "evaluation"},
                     "what gold is for. inference (the default): the method sees it and learns workers from it, so no "
                     "score is given. evaluation: the method does not see it, and its labels are scored on it");
  add_settings(
      command, options->settings,
      "set a parameter of the method, or of the others by init.NAME=VALUE and finish.NAME=VALUE; may be repeated");
  add_without(command, options->without);
  add_time(command, options->time, "the report cannot show who got tired");
  command.add_number("--abstain-below", options->abstain_below, 0, 1,
                     "leave the label blank where its probability is less than this");
  command.add_text("--out,-o", options->out, "DIR", "where to write the results", ValueHint::written_folder());
  command.add_text("--report", options->report, "FILE",
                   "also write a report: one HTML file to look at, for people too (wisecrowd report makes one later)",
                   ValueHint::written_file());
  add_force(command, options->force);
  command.add_flag("--json", options->json, "print one JSON object instead of the summary");
  options->read.add_kind_to(command);
  options->read.add_to(command, true);
  options->read.add_trust_to(command);
  options->structure.add_order_to(command);
  options->structure.add_graph_to(command);
  options->structure.add_features_to(command);
  options->run.add_to(command, true);
  options->run.add_warning_flag(command);
  command.more = list_methods;
  command.examples =
      "wisecrowd simulate hammer_spammer --tasks 500 --out crowd\n"
      "wisecrowd aggregate crowd/answers.csv\n"
      "wisecrowd aggregate crowd/answers.csv --method dawid_skene --out result\n"
      "wisecrowd aggregate crowd/answers.csv --gold crowd/gold.csv --gold-for evaluation\n"
      "wisecrowd aggregate crowd/answers.csv --gold crowd/gold.csv --gold-for evaluation --report report.html\n"
      "wisecrowd aggregate crowd/answers.csv -m majority_vote --set ties=random --seed 7\n"
      "wisecrowd aggregate crowd/answers.csv -m cnmf --init multispa --finish em --set finish.max_iterations=10\n"
      "wisecrowd aggregate crowd/answers.csv --abstain-below 0.9 --gold crowd/gold.csv --gold-for evaluation\n"
      "wisecrowd aggregate crowd/answers.csv --without spammers,copies,colluders --method majority_vote\n"
      "gzip -c crowd/answers.csv | wisecrowd aggregate - --json";
  command.run = [options](Session& session) { run_aggregate(*options, session); };
}

}  // namespace wisecrowd::app
