#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "aggregate_run.hpp"
#include "common_options.hpp"
#include "compare_learners.hpp"
#include "failure.hpp"
#include "kind_commands.hpp"
#include "run_summary.hpp"
#include "score_text.hpp"
#include "screen_text.hpp"
#include "shared_json.hpp"
#include "structure_flags.hpp"
#include "table.hpp"
#include "wisecrowd/evaluate.hpp"
#include "wisecrowd/evaluate_ordered.hpp"
#include "wisecrowd/held_out.hpp"
#include "wisecrowd/messages.hpp"
#include "wisecrowd/method_needs.hpp"
#include "wisecrowd/ordered_classes.hpp"

namespace wisecrowd::app {
namespace {

using Json = nlohmann::ordered_json;

struct CompareArguments {
  std::string labels;
  std::string gold;
  std::string methods;
  std::vector<std::string> settings;
  std::string without;
  std::uint64_t folds = HeldOutOptions{}.folds;
  double share = HeldOutOptions{}.share;
  bool json = false;
  FeatureFlags features;
  NetworkFlags network;
  ReadFlags read;
  StructureFlags structure;
  RunFlags run;
};

/// One method, and how it did; or why it could not.
struct Row {
  std::string method;
  std::string refusal;
  Evaluation evaluation;
  std::optional<RankScores> ranks;
  std::size_t iterations = 0;
  Status status = Status::converged;
  double seconds = 0;
};

std::vector<MethodStage> entrants_of(const CompareArguments& options) {
  std::vector<std::string> names = split_list(options.methods);
  if (options.methods.empty()) {
    names = method_names();
    std::erase_if(names, [&](const std::string& name) {  // those that would only say that they cannot
      return (uses_order(method_named(name)) && !options.structure.ordered) ||
             (uses_task_graph(method_named(name)) && !options.structure.has_graph());
    });
  }
  const auto parameters = parameters_for_each(
      names, [](const std::string& name) -> const std::vector<ParameterSpec>& { return method_named(name).parameters; },
      options.settings);
  std::vector<MethodStage> entrants;
  for (std::size_t i = 0; i < names.size(); ++i) entrants.push_back({method_named(names[i]).name, parameters[i]});
  return entrants;
}

/// Narrow, so that five measures with intervals fit 80 columns: "93.4 %", ".283".
std::string narrow(double value, bool is_share) {
  if (is_share) return value >= 0.9995 ? "100" : fixed(100 * value, 1);
  const std::string text = fixed(value, value < 0.9995 ? 3 : value < 9.995 ? 2 : 1);
  return text.starts_with("0.") ? text.substr(1) : text;
}

std::string table_text(const std::vector<Row>& rows, bool ordered, const Screen& screen) {
  std::vector<Column> columns = {{"method", Column::Side::left}};
  // The rank error takes the place of the Brier score, so that names of methods stay whole in 80 columns.
  std::vector<Measure> shown = measures();
  if (ordered) std::erase_if(shown, [](const Measure& measure) { return measure.name == "brier"; });
  for (const Measure& measure : shown) columns.push_back({measure.title});
  if (ordered) columns.push_back({"rank error"});
  Table table(std::move(columns), 1);
  for (const Row& row : rows) {
    std::vector<std::string> values = {row.method};
    std::vector<std::string> intervals = {row.refusal.empty()
                                              ? fmt::format("  {}{}, {}", grouped(row.iterations),
                                                            row.status == Status::iteration_limit ? "+ it." : " it.",
                                                            duration(row.seconds))
                                              : "  cannot"};
    for (const Measure& measure : shown) {
      const auto estimate = row.refusal.empty() ? measure.of(row.evaluation) : std::nullopt;
      values.push_back(estimate ? narrow(estimate->value, measure.is_share) + (measure.is_share ? " %" : "") : "–");
      intervals.push_back(estimate ? fmt::format("{}–{}", narrow(estimate->low, measure.is_share),
                                                 narrow(estimate->high, measure.is_share))
                                   : "");
    }
    if (row.ranks) {
      const Estimate& error = row.ranks->rank_error;
      values.push_back(narrow(error.value, false));
      intervals.push_back(fmt::format("{}–{}", narrow(error.low, false), narrow(error.high, false)));
    }
    table.add(std::move(values));
    table.add(std::move(intervals));
  }
  return table.text(screen.width, screen.dim_on(), screen.off());
}

std::string data_line(const CategoryAnswers& answers, const Screen& screen) {
  return fmt::format("{}    {} by {} to {}, {}\n", screen.bold("Data"), counted(answers.answer_count(), "answer"),
                     counted(answers.worker_count(), "worker"), counted(answers.task_count(), "task"),
                     counted(answers.class_count(), "class"));
}

Json parameters_json(const Parameters& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values.all()) {
    std::visit([&, &key = name](const auto& held) { json[key] = held; }, value);
  }
  return json;
}

std::string held_out_table(const std::vector<HeldOutScore>& scores, const Screen& screen) {
  Table table({{"method", Column::Side::left},
               {"log P"},
               {"95 %", Column::Side::right, true},
               {"behind the best"},
               {"95 %"},
               {"time"}},
              1);
  for (const HeldOutScore& score : scores) {
    if (!score.refusal.empty()) {
      table.add({score.method, "–", "", "–", "", "cannot"});
      continue;
    }
    const auto interval = [](const Estimate& mean, int digits) {
      return fmt::format("{}–{}", fixed(mean.low, digits), fixed(mean.high, digits));
    };
    const bool best = score.behind_best.value == 0;
    table.add({score.method, fixed(score.log_probability.value, 4),
               fmt::format("{} to {}", fixed(score.log_probability.low, 3), fixed(score.log_probability.high, 3)),
               best ? "best" : fixed(score.behind_best.value, 4), best ? "" : interval(score.behind_best, 4),
               duration(score.seconds)});
  }
  return table.text(screen.width, screen.dim_on(), screen.off());
}

/// Without gold: by held-out answers.
void run_held_out(const CompareArguments& options, const std::vector<MethodStage>& entrants, const CategoryData& data,
                  const DataReport& report, Session& session, Work& work) {
  const HeldOut held_out(data, {.folds = options.folds, .share = options.share}, work.context());
  if (held_out.hidden_count() == 0) {
    throw Failure(EX_DATAERR, "no answer can be held out, because each task has one at most: give --gold to score on");
  }
  std::vector<HeldOutScore> scores = score_by_held_out_answers(held_out, entrants, work.context());
  work.check_stopped();
  std::vector<std::size_t> order(scores.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (scores[a].refusal.empty() != scores[b].refusal.empty()) return scores[a].refusal.empty();
    return scores[a].log_probability.value > scores[b].log_probability.value;
  });
  session.warn(report.warnings);
  if (options.json) {
    Json json = {{"tasks", data.answers.task_count()},
                 {"hidden_answers", held_out.hidden_count()},
                 {"folds", held_out.folds()},
                 {"methods", Json::array()}};
    for (const std::size_t i : order) {
      const HeldOutScore& score = scores[i];
      Json entry = {{"method", score.method}, {"parameters", parameters_json(entrants[i].parameters)}};
      if (!score.refusal.empty()) {
        entry["error"] = score.refusal;
      } else {
        const auto mean = [](const Estimate& m) { return Json{{"value", m.value}, {"low", m.low}, {"high", m.high}}; };
        entry["log_probability"] = mean(score.log_probability);
        entry["behind_best"] = mean(score.behind_best);
        entry["seconds"] = score.seconds;
      }
      json["methods"].push_back(std::move(entry));
    }
    json["warnings"] = warnings_json(report.warnings);
    session.out.add_json(json);
    return;
  }
  std::vector<HeldOutScore> ranked;
  for (const std::size_t i : order) ranked.push_back(std::move(scores[i]));
  const Screen& screen = session.out_screen;
  session.out.add(data_line(data.answers, screen));
  session.out.add(fmt::format("{}  by {} that the methods did not see, in {}\n\n", screen.bold("Scored"),
                              counted(held_out.hidden_count(), "answer"), counted(held_out.folds(), "fold")));
  session.out.add(held_out_table(ranked, screen));
  session.out.add(
      "\n  " +
      wrapped("log P is the mean logarithm of the probability that a method, fitted to the other answers, gives to a "
              "held-out one: higher is better. A method that predicts answers well has understood workers and truth; a "
              "difference whose interval contains 0 means nothing.",
              screen.width, 2) +
      "\n");
  for (const HeldOutScore& score : ranked) {
    if (!score.refusal.empty()) session.out.add(fmt::format("  {}: {}\n", score.method, score.refusal));
  }
}

/// With features: learners are compared instead of methods.
LearnerComparison learner_comparison(const CompareArguments& options) {
  LearnerComparison comparison;
  comparison.without = without_of(options.without);
  comparison.files = options.features.files(options.labels, options.gold, false);
  comparison.learners = options.methods.empty() ? learner_names() : split_list(options.methods);
  comparison.settings = options.settings;
  comparison.network = options.network;
  comparison.read = options.read.options();
  comparison.json = options.json;
  return comparison;
}

Row score_by_gold(const MethodStage& entrant, const CategoryData& data, std::span<const ClassId> gold, Work& work) {
  Row row;
  row.method = entrant.method;
  Stopwatch watch;
  try {
    const CategoryFit fit = aggregate(data, entrant.method, entrant.parameters, work.context());
    work.check_stopped();
    row.seconds = watch.lap();
    row.iterations = fit.iterations;
    row.status = fit.status;
    row.evaluation = evaluate(fit.labels, fit.posterior, gold, data.answers.class_count(), {.tie_rule = fit.tie_rule},
                              work.context());
    if (is_ordered(data.answers)) {
      row.ranks = evaluate_ranks(fit.labels, gold, data.answers.class_count(), work.context());
    }
    work.check_stopped();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    row.refusal = with_flags(error.what());
  }
  return row;
}

Json scores_json(const std::vector<Row>& rows, const std::vector<MethodStage>& entrants, const CategoryData& data,
                 std::size_t scored, const DataReport& report) {
  Json json = {{"tasks", data.answers.task_count()}, {"gold_tasks", scored}, {"methods", Json::array()}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    Json entry = {{"method", row.method}, {"parameters", parameters_json(entrants[i].parameters)}};
    if (!row.refusal.empty()) {
      entry["error"] = row.refusal;
    } else {
      entry.update(score_json(row.evaluation));
      if (row.ranks) {
        entry["rank_error"] = estimate_json(row.ranks->rank_error);
        entry["quadratic_kappa"] = estimate_json(row.ranks->quadratic_kappa);
      }
      entry["iterations"] = row.iterations;
      entry["status"] = std::string(to_string(row.status));
      entry["seconds"] = row.seconds;
    }
    json["methods"].push_back(std::move(entry));
  }
  json["warnings"] = warnings_json(report.warnings);
  return json;
}

/// With gold: known truth is the judge. Methods do not see what they are scored on.
void run_with_gold(const CompareArguments& options, const std::vector<MethodStage>& entrants, CategoryData data,
                   const DataReport& report, Session& session, Work& work) {
  const std::vector<ClassId> gold = std::exchange(data.gold, {});
  const auto scored =
      static_cast<std::size_t>(std::count_if(gold.begin(), gold.end(), [](ClassId k) { return k != kNoClass; }));
  if (scored == 0) {
    throw Failure(EX_DATAERR, gold_warning(report));
  }
  std::vector<Row> rows;
  for (const MethodStage& entrant : entrants) rows.push_back(score_by_gold(entrant, data, gold, work));
  session.warn(report.warnings);
  if (options.json) {
    session.out.add_json(scores_json(rows, entrants, data, scored, report));
    return;
  }
  const Screen& screen = session.out_screen;
  session.out.add(data_line(data.answers, screen));
  session.out.add(
      fmt::format("{}  on {} that the methods did not see\n\n", screen.bold("Scored"), counted(scored, "gold task")));
  session.out.add(table_text(rows, is_ordered(data.answers), screen));
  session.out.add(
      "\n  " +
      wrapped(fmt::format("Under each method: iterations, time and 95 % intervals. Log-loss, {} are best when small.",
                          is_ordered(data.answers) ? "ECE and rank error (mean distance of ranks)" : "Brier and ECE"),
              screen.width, 2) +
      "\n");
  if (std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.status == Status::iteration_limit; })) {
    session.out.add("  + stopped at its iteration limit; allow more with --set max_iterations=N\n");
  }
  for (const Row& row : rows) {
    if (!row.refusal.empty()) session.out.add(fmt::format("  {}: {}\n", row.method, row.refusal));
  }
}

void run_compare(const CompareArguments& given, Session& session) {
  CompareArguments options = given;
  if (options.structure.neighbours > 0) {  // features are for the graph, not for learners
    options.structure.features = options.features.features;
    options.structure.tasks = options.features.tasks;
  }
  options.structure.check();
  if (const KindCommands* const kind = kind_commands(options.read)) {
    kind->refuse(!options.features.features.empty(), "--features");
    kind->refuse(!options.without.empty(), "--without");
    kind->refuse(options.structure.ordered, "--ordered");
    kind->refuse(options.structure.has_graph(), "a graph of tasks");
    KindRequest request;
    request.answers = options.labels;
    request.settings = options.settings;
    request.json = options.json;
    request.read = options.read;
    request.run = options.run;
    request.gold = options.gold;
    request.method = options.methods;
    request.folds = options.folds;
    request.share = options.share;
    return kind->compare(request, session);
  }
  if (!options.features.features.empty() && options.structure.neighbours == 0) {
    const LearnerComparison comparison = learner_comparison(options);
    Work work(session, options.run);
    return compare_learners(comparison, session, work);
  }
  const auto entrants = entrants_of(options);
  for (const MethodStage& entrant : entrants) warn_of_former_names(session, entrant.parameters);
  if (options.folds == 0 || options.share <= 0 || options.share * static_cast<double>(options.folds) > 1 + 1e-9) {
    throw usage_error(fmt::format("--folds {} and --hide {}: their product must be above 0 and at most 1",
                                  options.folds, options.share));
  }
  Work work(session, options.run);
  DataReport report;
  CategoryData data = at_stage(Stage::reading, [&] {
    const auto gold = options.gold.empty() ? std::nullopt : std::optional(options.gold);
    const ReadOptions read = options.read.options();
    CategoryData found = read_dataset(options.labels, gold, read, work.context(), &report);
    options.structure.apply(found, options.labels, read, work.context(), report.warnings);
    return found;
  });
  work.check_stopped();
  if (const CleaningRequest without = without_of(options.without); without.any()) {
    CategoryData seen = data;
    seen.gold.clear();  // it is there to score
    RunRecord record;
    leave_out(without, seen, record, work);
    data.answers = seen.answers;
    session.warn(record.data_warnings);
  }
  if (!data.has_gold()) {
    run_held_out(options, entrants, data, report, session, work);
  } else {
    run_with_gold(options, entrants, std::move(data), report, session, work);
  }
}

}  // namespace

void add_compare(CommandSet& commands) {
  Command& command = commands.add("compare", "run several methods and score each, by gold or by held-out answers");
  command.details =
      "With --gold: runs every method on the same answers, without showing it the gold tasks, and scores it on them.\n"
      "Without: holds out a share of the answers, fits every method to the rest, and scores it by the probability that "
      "it "
      "gives to those held out; several times, with other answers held out.\n"
      "With --features: trains every learner instead, and scores it by the probability of answers to held-out "
      "tasks, and with --gold on the test rows and on the answered tasks. With --neighbours, too, features only say "
      "which tasks are alike.\n"
      "Differences smaller than the intervals mean little; no method wins on all data.";
  auto options = std::make_shared<CompareArguments>();
  command
      .add_text("ANSWERS", options->labels, "FILE", "the answers, as for aggregate; - for standard input",
                {ValueHint::Kind::file})
      ->required();
  command.add_text("--gold,-g", options->gold, "FILE", "the truth to score on: task, label", {ValueHint::Kind::file});
  options->features.add_to(command, false, true);
  command.add_text("--methods,-m", options->methods, "A,B,C", "which methods or learners, in this order (all)",
                   {ValueHint::Kind::any_method});
  options->network.add_to(command);
  add_settings(command, options->settings, "set a parameter of all methods that have it, or of one: METHOD.NAME=VALUE");
  add_without(command, options->without);
  command.add_count("--folds", options->folds, 1, 1000, "without gold: how many times answers are held out (5)");
  command.add_number("--hide", options->share, 1e-6, 1, "without gold: the share of answers held out each time (0.1)");
  command.add_flag("--json", options->json, "print one JSON object");
  options->read.add_kind_to(command);
  options->read.add_to(command, true);
  options->read.add_trust_to(command);
  options->structure.add_order_to(command);
  options->structure.add_graph_to(command);
  options->run.add_to(command, true);
  options->run.add_warning_flag(command);
  command.examples =
      "wisecrowd simulate dawid_skene --tasks 400 --classes 3 --out crowd\n"
      "wisecrowd compare crowd/answers.csv\n"
      "wisecrowd compare crowd/answers.csv --gold crowd/gold.csv\n"
      "wisecrowd compare crowd/answers.csv --gold crowd/gold.csv --methods majority_vote,dawid_skene\n"
      "wisecrowd compare crowd/answers.csv --gold crowd/gold.csv --set max_iterations=20 --json\n"
      "wisecrowd simulate dawid_skene --tasks 300 --gaussian-features 1.5 --test-tasks 200 --out seen\n"
      "wisecrowd compare seen/answers.csv -f seen/features.npy -t seen/tasks.csv -g seen/gold.csv -m two_stage,ccem "
      "--set epochs=10";
  command.run = [options](Session& session) { run_compare(*options, session); };
}

}  // namespace wisecrowd::app
