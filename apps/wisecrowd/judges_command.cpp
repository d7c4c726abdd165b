#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "common_options.hpp"
#include "failure.hpp"
#include "judges_text.hpp"
#include "report_run.hpp"
#include "screen_text.hpp"
#include "wisecrowd/judge_files.hpp"
#include "wisecrowd/judge_groups.hpp"
#include "wisecrowd/judge_report.hpp"
#include "wisecrowd/read_judges.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::app {
namespace {

struct JudgesArguments {
  std::string answers, machine_answers, machines, workers, items, gold, columns, format, question, classes, positive;
  bool ordered = false, lenient = false, independent = false;
  double target_width = JudgeStudyOptions{}.target_width;
  std::uint64_t next = 0;
  std::string out, report;
  bool json = false, force = false;
  RunFlags run;
};

void check_judges(const JudgesArguments& options) {
  const std::string* files[] = {&options.answers, &options.machine_answers, &options.workers, &options.items,
                                &options.gold};
  if (std::count_if(std::begin(files), std::end(files), [](const std::string* path) { return *path == "-"; }) > 1) {
    throw usage_error("only one of the files can come from standard input");
  }
  if (!options.out.empty()) at_stage(Stage::creating, [&] { check_output_directory(options.out); });
  check_report({.path = options.report, .force = options.force});
}

JudgeReadOptions judge_reading(const JudgesArguments& options) {
  ReadFlags flags;
  flags.format = options.format;
  flags.question = options.question;
  flags.lenient = options.lenient;
  JudgeReadOptions read;
  static_cast<ReadOptions&>(read) = flags.options();
  read.classes = options.classes.empty() ? std::vector<std::string>() : split_list(options.classes);
  read.ordered = options.ordered;
  if (!options.machines.empty()) read.machines = split_list(options.machines);
  const std::vector<std::string> columns =
      options.columns.empty() ? std::vector<std::string>() : split_list(options.columns);
  if (columns.size() == 3) {
    read.task_column = columns[0];
    read.worker_column = columns[1];
    read.label_column = columns[2];
  } else if (columns.size() == 5) {
    read.task_column = columns[0];
    read.worker_column = columns[1];
    read.value_columns = {columns[2], columns[3]};
    read.label_column = columns[4];
  } else if (!columns.empty()) {
    throw usage_error("--columns takes three names, TASK,WORKER,LABEL, or five, QUESTION,WORKER,LEFT,RIGHT,LABEL");
  }
  return read;
}

JudgeRun look_at_judges(const JudgesArguments& options, Session& session, Work& work) {
  JudgeRun run;
  RunRecord& record = run.record;
  record.version = WISECROWD_VERSION;
  record.command = session.typed;
  record.seed = work.context().seed();
  record.threads = work.context().threads();
  JudgeInputs inputs;
  inputs.answers = {options.answers, std::nullopt};
  record.inputs = {{"answers", options.answers}};
  const auto add = [&](const char* role, const std::string& path, std::optional<JudgeTable>& table) {
    if (path.empty()) return;
    table = JudgeTable{path, std::nullopt};
    record.inputs.emplace_back(role, path);
  };
  add("machine_answers", options.machine_answers, inputs.machine_answers);
  add("workers", options.workers, inputs.workers);
  add("items", options.items, inputs.items);
  add("gold", options.gold, inputs.gold);
  Stopwatch watch;
  DataReport report;
  const JudgeReadOptions read = judge_reading(options);
  run.data = at_stage(Stage::reading, [&] { return read_judges(inputs, read, work.context(), &report); });
  work.check_stopped();
  record.timings.emplace_back("read", watch.lap());
  record.data_warnings = report.warnings;
  run.options.target_width = options.target_width;
  run.options.next = options.next;
  run.options.crowd.families = !options.independent;
  if (!options.positive.empty()) {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < run.data.class_count(); ++k) names.emplace_back(run.data.classes[k]);
    const auto at = std::find(names.begin(), names.end(), options.positive);
    if (at == names.end()) {
      throw usage_error(fmt::format("--positive: there is no class '{}'{}", printable(options.positive),
                                    suggestion(options.positive, names)));
    }
    run.options.positive = ClassId(at - names.begin());
  }
  if (!options.independent) (void)find_judge_families(run.data, work.context());
  work.check_stopped();
  run.study = study_judges(run.data, run.options, work.context());
  work.check_stopped();
  record.timings.emplace_back("study", watch.lap());
  session.warn(record.data_warnings);
  session.warn(run.study.warnings);
  return run;
}

std::string written_judge_files(const JudgesArguments& options, const JudgeRun& run, const Screen& screen) {
  constexpr std::pair<const char*, const char*> kFiles[] = {
      {"judges", "how good each judge and person is"},
      {"biases", "what each judge leans towards"},
      {"prevalence", "shares of classes, corrected for the errors of each judge"},
      {"families", "judges that err together"},
      {"versions", "what changed from one version to the next"},
      {"calibration", "how often what was said with so much probability was right"},
      {"leaderboard", "items with tied ranks and intervals, by all and by people"},
      {"next", "tasks to show to people"},
      {"labels", "the truth of all together, with probabilities and weights"}};
  std::string text = fmt::format("\n{} {}\n", screen.bold("Written to"),
                                 shell_word(options.out + (options.out.ends_with('/') ? "" : "/")));
  for (const ValueTable& table : judge_tables(run.data, run.study)) {
    for (const auto& [name, what] : kFiles) {
      if (table.name == name && table.rows() > 0) text += fmt::format("  {:<17} {}\n", table.name + ".csv", what);
    }
  }
  if (run.data.kind == JudgedKind::comparisons) {
    text += fmt::format("  {:<17} {}\n", "preferences.jsonl", "pairs for training, as TRL reads them");
  }
  return text + fmt::format("  {:<17} {}\n", "run.json", "how it was made");
}

void run_judges(const JudgesArguments& options, Session& session) {
  check_judges(options);
  Work work(session, options.run);
  const JudgeRun run = look_at_judges(options, session, work);
  if (!options.out.empty()) {
    session.interrupts.writes_to(options.out);
    const Status status = at_stage(Stage::writing, [&] { return write_judges(run, options.out, work.context()); });
    session.interrupts.writes_to("");
    if (status == Status::cancelled) throw Stopped();
  }
  if (!options.report.empty()) {
    at_stage(Stage::writing, [&] { write_judge_report(run, "", options.report); });
  }
  if (options.json) {
    session.out.add_json(nlohmann::ordered_json::parse(judges_json(run)));
    return;
  }
  if (options.run.quiet) return;
  const Screen& screen = session.out_screen;
  session.out.add(judges_text(run, screen));
  if (!options.report.empty()) {
    std::error_code unknown;
    const auto bytes = std::filesystem::file_size(options.report, unknown);
    session.out.add(report_line(options.report, unknown ? 0 : bytes, screen));
  }
  if (!options.out.empty()) session.out.add(written_judge_files(options, run, screen));
  if (!options.out.empty() || !options.report.empty()) return;
  session.out.add("\n" + wrapped("Nothing was written. To keep all of it, add --out and a folder:", screen.width, 0) +
                  fmt::format("\n  {} --out judges\n", session.typed));
}

void add_judge_files(Command& command, JudgesArguments& options) {
  command
      .add_text("ANSWERS", options.answers, "FILE",
                "the answers: CSV, TSV, JSON Lines, or a platform's file; - for standard input",
                {ValueHint::Kind::file})
      ->required();
  command.add_text("--machine-answers", options.machine_answers, "FILE", "answers of machines in a table of their own",
                   {ValueHint::Kind::file});
  command.add_text("--machines", options.machines, "NAMES", "workers who are machines, divided by commas");
  command.add_text("--workers", options.workers, "FILE",
                   "a table of workers: worker, kind (human or machine), family, version, price",
                   {ValueHint::Kind::file});
  command.add_text("--items", options.items, "FILE",
                   "a table of what is judged: item (or task), family (who made it), length", {ValueHint::Kind::file});
  command.add_text("--gold,-g", options.gold, "FILE", "tasks whose truth is known", {ValueHint::Kind::file});
}

}  // namespace

void add_judges(CommandSet& commands) {
  Command& command = commands.add("judges", "how far machines that judge can be believed, measured by people");
  command.details =
      "People and machines (language models, rules) answer the same tasks: classes, ordered scores (--ordered), or "
      "which of two items is better. Who is a machine is said by a column kind (human or machine) of the answers, by "
      "--workers, by --machines, or by a table of their own, --machine-answers; predictions in files of platforms are "
      "machines.\n"
      "Shows for each machine how often it is right, by the truth of all together and by people alone, agreement and "
      "kappa, what it leans towards (the side shown first; the longer text; its own family's work), whether it "
      "repeats itself, what changed between versions, and shares of classes corrected for its errors. Answers may be "
      "probabilities (columns p_<class> or logprob_<class>), which are calibrated for each judge. Machines of one "
      "family (column family) may err together and do not count as so many voices; without families, those that "
      "answer as one are looked for.\n"
      "--target-width says how well each machine is to be known, and how many more answers of people that takes; "
      "--next chooses the tasks to show to them.";
  auto options = std::make_shared<JudgesArguments>();
  add_judge_files(command, *options);
  command.add_number("--target-width", options->target_width, 0.001, 0.499,
                     "± within which each machine's share of right answers is to be known (0.05)");
  command.add_count("--next", options->next, 1, 1000000, "choose so many tasks to show to people");
  command.add_flag("--ordered", options->ordered, "the order of classes means something: scores");
  command.add_text("--positive", options->positive, "CLASS",
                   "of classes without order, the one that leanings are about (of two the second)");
  command.add_flag("--independent", options->independent, "count each machine as a voice of its own, family or not");
  command.add_text("--columns,-c", options->columns, "NAMES",
                   "columns as TASK,WORKER,LABEL or QUESTION,WORKER,LEFT,RIGHT,LABEL");
  command.add_text("--classes", options->classes, "LIST", "the classes in order, divided by commas");
  add_platform_format(command, options->format);
  command.add_text("--question", options->question, "NAME", "which question of a platform's file");
  command.add_flag("--lenient", options->lenient, "drop bad rows and say how many, instead of refusing");
  command.add_text("--out,-o", options->out, "DIR", "where to write judges.csv, biases.csv, labels.csv and more",
                   ValueHint::written_folder());
  command.add_text("--report", options->report, "FILE",
                   "also write a page: judges beside people, leanings, leaderboard", ValueHint::written_file());
  add_force(command, options->force);
  command.add_flag("--json", options->json, "print one JSON object instead of the summary");
  options->run.add_to(command, true);
  options->run.add_warning_flag(command);
  command.examples =
      "wisecrowd simulate dawid_skene --tasks 300 --workers 8 --out crowd\n"
      "wisecrowd judges crowd/answers.csv --machines worker_000006,worker_000007\n"
      "wisecrowd judges crowd/answers.csv --machines worker_000006,worker_000007 --target-width 0.03 --next 20 --out "
      "judged";
  command.run = [options](Session& session) { run_judges(*options, session); };
}

}  // namespace wisecrowd::app
