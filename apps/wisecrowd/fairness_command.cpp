#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "aggregate_run.hpp"
#include "common_options.hpp"
#include "failure.hpp"
#include "fairness_text.hpp"
#include "report_run.hpp"
#include "screen_text.hpp"
#include "wisecrowd/evaluate.hpp"
#include "wisecrowd/fairness_files.hpp"
#include "wisecrowd/read_features.hpp"
#include "wisecrowd/read_task_groups.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::app {
namespace {

struct FairnessArguments {
  std::string answers, tasks, group, positive, reference, gold, method, kappa = "10";
  std::vector<std::string> settings;
  bool shared_prior = false;
  std::uint64_t least_tasks = FairnessOptions{}.least_tasks;
  double limit_gap = -1;
  std::string gap{to_string(GapMeasure::demographic_parity)};
  bool randomise = false;
  std::uint64_t assign = 0, capacity = 0;
  double assign_gap = -1;
  std::string features, model = "linear";
  std::string out, report;
  bool force = false, json = false;
  ReadFlags read;
  RunFlags run;
};

/// The position of a name in a list; a usage error suggests the nearest.
std::size_t position_of(const std::string& name, const NameTable& names, const std::string& option,
                        const std::string& what) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return i;
    all.push_back(printable(names[i]));
  }
  const std::string near = suggestion(name, all);
  if (all.size() > 10) all.resize(10);
  throw usage_error(fmt::format("{}: there is no {} '{}'{}", option, what, printable(name),
                                near.empty() ? fmt::format(": choose {}", fmt::join(all, ", ")) : near));
}

void read_kappa(const std::string& text, GroupTableOptions& options) {
  if (text == "auto") {
    options.choose_kappa = true;
    return;
  }
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), options.kappa);
  if (code != std::errc() || end != text.data() + text.size() || !(options.kappa >= 0)) {
    throw usage_error(
        fmt::format("--kappa cannot be '{}': it takes a number from 0 on, inf, or auto", printable(text)));
  }
}

void check_combinations(const FairnessArguments& options) {
  const std::string* files[] = {&options.answers, &options.tasks, &options.gold, &options.features};
  if (std::count_if(std::begin(files), std::end(files), [](const std::string* path) { return *path == "-"; }) > 1) {
    throw usage_error("only one of ANSWERS, --tasks, --gold and --features can come from standard input");
  }
  if (options.answers == "-" && !options.features.empty()) {
    throw usage_error("--features reads the answers a second time, which standard input cannot be: name a file");
  }
  if (options.limit_gap < 0 && options.randomise) throw usage_error("--randomise needs --limit-gap");
  if (options.assign == 0 && options.assign_gap >= 0) throw usage_error("--assign-gap needs --assign");
  if (options.assign == 0 && options.capacity > 0) throw usage_error("--capacity needs --assign");
  if (!options.features.empty() && options.gold.empty()) {
    throw usage_error(
        "--features needs --gold: a classifier that learns from the labels is compared with one that "
        "learns from the truth");
  }
  if (!options.out.empty()) at_stage(Stage::creating, [&] { check_output_directory(options.out); });
  check_report({.path = options.report, .force = options.force});
}

/// Who should answer the tasks of --tasks: those that nobody has answered yet, or all if there is none.
PlannedAssignment plan_for(const FairnessArguments& options, const TaskGroupTable& table, const FairnessResult& result,
                           const RunContext& context) {
  const CategoryAnswers& answers = result.data.answers;
  std::vector<std::string> names, open_names;
  std::vector<GroupId> groups, open_groups;
  std::unordered_set<std::string_view> answered;
  for (std::size_t t = 0; t < answers.task_count(); ++t) answered.insert(answers.task_names()[t]);
  for (std::size_t t = 0; t < table.tasks.size(); ++t) {
    const GroupId group = table.groups.of_task[t];
    if (group == kNoGroup) continue;
    names.emplace_back(table.tasks[t]);
    groups.push_back(group);
    if (answered.contains(table.tasks[t])) continue;
    open_names.emplace_back(table.tasks[t]);
    open_groups.push_back(group);
  }
  PlannedAssignment assigned;
  assigned.tasks = NameTable(open_names.empty() ? names : open_names);
  assigned.groups = open_names.empty() ? groups : open_groups;
  AssignmentRequest& request = assigned.request;
  request.answers_per_task = options.assign;
  if (options.assign_gap >= 0) request.limit = options.assign_gap;
  request.group_tasks.assign(table.groups.count(), 0);
  for (const GroupId group : assigned.groups) ++request.group_tasks[index(group)];
  request.accuracy = group_accuracies(result.study.workers_fit, table.groups.count());
  for (std::size_t w = 0; w < answers.worker_count(); ++w) {
    // What a worker has answered so far is what it can be expected to answer again.
    request.capacity.push_back(options.capacity > 0 ? options.capacity : answers.tasks_of(WorkerId(w)).size());
  }
  assigned.plan = plan_assignment(request, context);
  if (assigned.plan.feasible) {
    assigned.answers = hand_out(assigned.plan, assigned.groups, table.groups.count(), context);
  }
  return assigned;
}

FairnessOptions study_options(const FairnessArguments& options, const FairnessResult& result) {
  FairnessOptions wanted;
  read_kappa(options.kappa, wanted.tables);
  wanted.tables.shared_prior = options.shared_prior;
  wanted.least_tasks = options.least_tasks;
  const NameTable& classes = result.data.answers.class_names();
  if (!options.positive.empty()) {
    wanted.workers.positive = {ClassId(position_of(options.positive, classes, "--positive", "class"))};
  }
  if (!options.reference.empty()) {
    wanted.workers.reference = GroupId(position_of(options.reference, result.groups.names, "--reference", "group"));
  }
  if (options.limit_gap >= 0) {
    if (classes.size() > 2 && options.positive.empty()) {
      throw usage_error(fmt::format("--limit-gap needs --positive: there are {} classes", classes.size()));
    }
    wanted.limit = GapLimit{.measure = value_in(kGapMeasureNames, "gap", options.gap),
                            .limit = options.limit_gap,
                            .positive = {},
                            .randomise = options.randomise};
  }
  return wanted;
}

/// What training on the labels does, where features were given.
void add_training(const FairnessArguments& options, FairnessResult& result, Session& session, Work& work) {
  LearningFiles files{.answers = options.answers, .gold = options.gold, .features = options.features};
  DataReport report;
  LearningInput input = at_stage(
      Stage::reading, [&] { return read_learning_data(files, options.read.options(), work.context(), &report); });
  work.check_stopped();
  session.warn(report.warnings);
  const NetworkSpec network{.kind = options.model};
  const auto& labels = result.study.limited ? result.study.limited->labels : result.fit.labels;
  result.training =
      training_effect(input.data, labels, input.task_gold, compared_groups(result.groups, result.study.compared),
                      result.study.positive.front(), network, work.context());
  work.check_stopped();
}

FairnessResult look(const FairnessArguments& options, Session& session, Work& work) {
  FairnessResult result;
  const std::string name = options.method.empty() ? std::string(default_aggregation_method()) : options.method;
  const MethodInfo& info = method_named(name);
  const Parameters parameters = parameters_from(info.parameters, options.settings, info.name);
  warn_of_former_names(session, parameters);
  RunRecord& record = result.record;
  record.version = WISECROWD_VERSION;
  record.command = session.typed;
  record.method = info.name;
  record.seed = work.context().seed();
  record.threads = work.context().threads();
  record.inputs = {{"answers", options.answers}, {"tasks", options.tasks}};
  if (!options.gold.empty()) record.inputs.emplace_back("gold", options.gold);
  result.group_column = options.group;

  Stopwatch watch;
  DataReport report, of_groups;
  const ReadOptions read = options.read.options();
  result.data = at_stage(Stage::reading, [&] {
    return read_dataset(options.answers, options.gold.empty() ? std::nullopt : std::optional(options.gold), read,
                        work.context(), &report);
  });
  work.check_stopped();
  ReadOptions task_reading = read;
  task_reading.format = TableFormat::automatic;
  const TaskGroupTable table = at_stage(Stage::reading, [&] {
    return read_task_groups(options.tasks, options.group, task_reading, work.context(), &of_groups);
  });
  work.check_stopped();
  result.groups = groups_of(table, result.data.answers.task_names());
  result.options = study_options(options, result);
  record.gold_tasks = 0;
  for (const ClassId gold : result.data.gold) record.gold_tasks += gold == kNoClass ? 0 : 1;
  record.gold_use = result.data.has_gold() ? "evaluation" : "none";
  record.timings.emplace_back("read", watch.lap());
  record.data_warnings = report.warnings;
  record.data_warnings.insert(record.data_warnings.end(), of_groups.warnings.begin(), of_groups.warnings.end());
  add_new(record.data_warnings, describe(result.data.answers).warnings);

  CategoryData unseen = result.data;
  unseen.gold.clear();
  result.fit = aggregate(unseen, info.name, parameters, work.context());
  work.check_stopped();
  add_new(record.data_warnings, result.fit.warnings);
  record.timings.emplace_back("fit", watch.lap());
  result.study = study_fairness(result.data, result.fit, result.groups, result.options, work.context());
  work.check_stopped();
  record.timings.emplace_back("study", watch.lap());
  if (options.assign > 0) {
    result.assignment = plan_for(options, table, result, work.context());
    work.check_stopped();
    record.timings.emplace_back("assign", watch.lap());
  }
  if (!options.features.empty()) {
    add_training(options, result, session, work);
    record.timings.emplace_back("train", watch.lap());
  }
  session.warn(record.data_warnings);
  session.warn(result.study.warnings);
  return result;
}

/// The report of the labels that were looked at, with a section on fairness.
std::size_t report_on(const FairnessArguments& options, const FairnessResult& result, Work& work) {
  const CategoryResult shown = make_result(result.data, result.fit, result.record, work.context());
  work.check_stopped();
  return write_run_report(shown, std::nullopt, {.path = options.report, .compare = "none"}, work,
                          {.fairness = fairness_json(result), .trust = std::nullopt});
}

std::string written_text(const FairnessArguments& options, const FairnessResult& result, const Screen& screen) {
  const std::string folder = options.out + (options.out.ends_with('/') ? "" : "/");
  std::string text = fmt::format("\n{} {}\n", screen.bold("Written to"), shell_word(folder));
  const auto file = [&](const std::string& name, const std::string& what) {
    text += fmt::format("  {:<15} {}\n", name, what);
  };
  file("gaps.csv", "each gap with its interval, of answers and of labels");
  file("groups.csv", "the rates of each group behind them");
  file("workers.csv", "how each worker treats each group");
  file("labels.csv", result.study.limited ? "labels that keep the gap, and those before"
                                          : "labels, and those by the model of groups");
  if (result.assignment && result.assignment->plan.feasible) file("assignment.csv", "who should answer which task");
  file("run.json", "how it was made");
  return text;
}

void run_fairness(const FairnessArguments& options, Session& session) {
  check_combinations(options);
  Work work(session, options.run);
  const FairnessResult result = look(options, session, work);
  if (!options.out.empty()) {
    session.interrupts.writes_to(options.out);
    const Status status = at_stage(Stage::writing, [&] { return write_fairness(result, options.out, work.context()); });
    session.interrupts.writes_to("");
    if (status == Status::cancelled) throw Stopped();
  }
  const std::size_t report_bytes = options.report.empty() ? 0 : report_on(options, result, work);
  if (options.json) {
    session.out.add_json(nlohmann::ordered_json::parse(fairness_json(result)));
    return;
  }
  if (options.run.quiet) return;
  const Screen& screen = session.out_screen;
  session.out.add(fairness_text(result, screen));
  if (!options.out.empty()) session.out.add(written_text(options, result, screen));
  if (!options.report.empty()) session.out.add(report_line(options.report, report_bytes, screen));
  if (!options.out.empty() || !options.report.empty()) return;
  session.out.add("\n" + wrapped("Nothing was written. To keep all of it, add --out and a folder:", screen.width, 0) +
                  fmt::format("\n  {} --out fairness\n", session.typed));
}

/// How workers are modelled, and what to make of it all.
void add_choices(Command& command, FairnessArguments& options) {
  command.add_text(
      "--kappa", options.kappa, "X",
      "how firmly a worker's table of a group is held to the worker's own, in answers (10); inf: one table "
      "for all groups; auto: chosen by hidden answers");
  command.add_flag("--shared-prior", options.shared_prior,
                   "one set of class shares for all groups, so that none is expected to differ");
  command.add_number("--limit-gap", options.limit_gap, 0, 1, "make labels whose gap is at most this");
  command.add_choice(
      "--gap", options.gap,
      {std::string(to_string(GapMeasure::demographic_parity)), std::string(to_string(GapMeasure::equal_opportunity))},
      "the gap that --limit-gap is about (demographic_parity)");
  command.add_flag("--randomise", options.randomise,
                   "draw the label at the boundary of each group, so that the limit is kept exactly in the mean");
  command.add_count("--assign", options.assign, 1, 1000000,
                    "plan so many answers for each task of --tasks that has none yet (for all, if none is without)");
  command.add_number("--assign-gap", options.assign_gap, 0, 1,
                     "the most that groups may differ in the share of wrong answers; without, it is as it comes");
  command.add_count("--capacity", options.capacity, 1, 1000000000,
                    "answers that a worker can give (as many as it gave so far)");
  command.add_text("--features", options.features, "FILE",
                   "features of tasks, as for learn: shows what training a classifier on these labels, instead of on "
                   "gold, does to its accuracy and to its demographic parity",
                   {ValueHint::Kind::file});
  command.add_choice("--model", options.model, {"linear", "mlp"}, "the classifier that --features trains (linear)");
}

}  // namespace

void add_fairness(CommandSet& commands) {
  Command& command = commands.add("fairness", "whether workers and labels treat groups of tasks alike");
  command.details =
      "Needs a table of tasks with a column that says which group each task belongs to. Shows how often a class is "
      "given to each group (demographic parity), how often rightly where it is the truth (equal opportunity) and "
      "wrongly where it is not (false positives), and how accurate labels are, each with the gap between groups and "
      "its "
      "95 % interval: of single answers, of the labels, and of labels by a model in which every worker may treat "
      "groups "
      "differently. Then the workers who do.\n"
      "With --gold the truth is known for those tasks; the labels are made without it. Without gold the truth is what "
      "the "
      "model expects, and a bias that all workers share cannot be known: where everybody sees the same tasks of a "
      "group "
      "in the same wrong way, it looks just like another share of the class. Give gold for some tasks of every group.\n"
      "--limit-gap makes labels that keep a gap at the least cost in errors. --assign plans who should answer, so that "
      "groups get equally good answers. Whether a gap should be closed is yours to say, not the program's.";
  auto options = std::make_shared<FairnessArguments>();
  command
      .add_text("ANSWERS", options->answers, "FILE",
                "the answers: CSV, TSV or JSON Lines, plain, .gz or .zst; - for standard input",
                {ValueHint::Kind::file})
      ->required();
  command
      .add_text("--tasks", options->tasks, "FILE", "a table with a row per task: CSV, TSV or JSON Lines",
                {ValueHint::Kind::file})
      ->required();
  command
      .add_text("--group", options->group, "COLUMN", "its column with the group; tasks where it is blank are left out")
      ->required();
  command.add_text("--positive", options->positive, "CLASS",
                   "the class that gaps are about (the second of two; of more, each in turn against all others)");
  command.add_text("--reference", options->reference, "GROUP",
                   "the group that workers' gaps are measured against (the one with the most tasks)");
  command.add_count("--least-tasks", options->least_tasks, 1, 1000000000,
                    "groups with fewer tasks are left out of gaps, as long as two others remain (10)");
  command.add_text("--gold,-g", options->gold, "FILE", "tasks whose truth is known: task, label",
                   {ValueHint::Kind::file});
  command.add_text("--method,-m", options->method, "NAME", "how the labels are made, as for aggregate",
                   {ValueHint::Kind::method});
  add_settings(command, options->settings, "set a parameter of the method; may be repeated");
  add_choices(command, *options);
  command.add_text("--out,-o", options->out, "DIR",
                   "where to write gaps.csv, groups.csv, workers.csv, labels.csv, assignment.csv and run.json",
                   ValueHint::written_folder());
  command.add_text("--report", options->report, "FILE", "also write a report of the labels with a section on fairness",
                   ValueHint::written_file());
  add_force(command, options->force);
  command.add_flag("--json", options->json, "print one JSON object instead of the summary");
  options->read.add_to(command, true);
  options->run.add_to(command, true);
  options->run.add_warning_flag(command);
  command.examples =
      "wisecrowd simulate group_bias --tasks 1000 --workers 20 --out crowd\n"
      "wisecrowd fairness crowd/answers.csv --tasks crowd/tasks.csv --group group\n"
      "wisecrowd fairness crowd/answers.csv --tasks crowd/tasks.csv --group group --gold crowd/gold.csv --out fair\n"
      "wisecrowd fairness crowd/answers.csv --tasks crowd/tasks.csv --group group --limit-gap 0.02 --out limited\n"
      "wisecrowd fairness crowd/answers.csv --tasks crowd/tasks.csv --group group --assign 2 --assign-gap 0.01 --out "
      "plan";
  command.run = [options](Session& session) { run_fairness(*options, session); };
}

}  // namespace wisecrowd::app
