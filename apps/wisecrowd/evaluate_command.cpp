#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "common_options.hpp"
#include "failure.hpp"
#include "kind_commands.hpp"
#include "run_summary.hpp"
#include "score_text.hpp"
#include "screen_text.hpp"
#include "shared_json.hpp"
#include "table.hpp"
#include "wisecrowd/evaluate.hpp"
#include "wisecrowd/evaluate_ordered.hpp"
#include "wisecrowd/ordered_classes.hpp"

namespace wisecrowd::app {
namespace {

struct EvaluateArguments {
  std::string predicted;
  std::string gold;
  std::string columns;
  std::string gold_columns;
  std::string format;
  bool lenient = false;
  bool safe_csv = false;
  double abstain_below = 0;
  bool ordered = false;
  std::string classes;
  bool json = false;
  ReadFlags kind;  // for --answers alone
  RunFlags run;
};

/// Two tables brought together: by task name, over the classes of both.
struct Matched {
  std::size_t classes = 0;
  std::vector<ClassId> predicted;
  std::vector<double> probabilities;
  std::vector<ClassId> gold;
  std::size_t only_predicted = 0;
  std::size_t only_gold = 0;
};

double probability_of_label(const Matched& matched, std::size_t task) {
  return matched.probabilities[task * matched.classes + index(matched.predicted[task])];
}

/// The order in which classes stand: those of --classes first, which must be all if the order means something.
std::vector<std::uint32_t> class_ranks(std::span<const std::string_view> names, std::size_t listed, bool ordered) {
  if (listed == 0) return ordered ? ordered_class_order(names) : class_order(names);
  if (listed < names.size()) {
    throw Failure(EX_DATAERR, fmt::format("class '{}' is not among those of --classes", printable(names[listed])));
  }
  std::vector<std::uint32_t> order(names.size());
  for (std::uint32_t k = 0; k < order.size(); ++k) order[k] = k;
  return order;
}

/// The class list of both tables, and where each class of either stands in it.
std::size_t unite_classes(const LabelTable& a, const LabelTable& b, const EvaluateArguments& options,
                          std::vector<ClassId>& ids_of_a, std::vector<ClassId>& ids_of_b) {
  std::vector<std::string_view> names;
  std::unordered_map<std::string_view, std::size_t> at;
  const auto listed = options.classes.empty() ? std::vector<std::string>() : split_list(options.classes);
  for (const std::string& name : listed) {
    if (at.emplace(name, names.size()).second) names.push_back(name);
  }
  for (const LabelTable* table : {&a, &b}) {
    for (std::size_t k = 0; k < table->classes.size(); ++k) {
      if (at.emplace(table->classes[k], names.size()).second) names.push_back(table->classes[k]);
    }
  }
  std::vector<ClassId> ids(names.size());
  const auto order = class_ranks(names, listed.size(), options.ordered);
  for (std::size_t i = 0; i < order.size(); ++i) ids[order[i]] = ClassId{static_cast<std::uint16_t>(i)};
  const auto translate = [&](const LabelTable& table, std::vector<ClassId>& out) {
    for (std::size_t k = 0; k < table.classes.size(); ++k) out.push_back(ids[at.at(table.classes[k])]);
  };
  translate(a, ids_of_a);
  translate(b, ids_of_b);
  return names.size();
}

Matched match(const LabelTable& predicted, const LabelTable& gold, const EvaluateArguments& options) {
  Matched matched;
  std::vector<ClassId> predicted_ids;
  std::vector<ClassId> gold_ids;
  matched.classes = unite_classes(predicted, gold, options, predicted_ids, gold_ids);
  std::unordered_map<std::string_view, std::size_t> gold_at;
  gold_at.reserve(gold.tasks.size());
  for (std::size_t t = 0; t < gold.tasks.size(); ++t) gold_at.emplace(gold.tasks[t], t);
  const std::size_t known = predicted.classes.size();
  for (std::size_t t = 0; t < predicted.tasks.size(); ++t) {
    const auto found = gold_at.find(predicted.tasks[t]);
    if (found == gold_at.end()) {
      ++matched.only_predicted;
      continue;
    }
    const ClassId label = predicted.labels[t];
    matched.predicted.push_back(label == kNoClass ? kNoClass : predicted_ids[index(label)]);
    matched.gold.push_back(gold_ids[index(gold.labels[found->second])]);
    if (predicted.probabilities.empty()) continue;
    const std::size_t row = matched.probabilities.size();
    matched.probabilities.resize(row + matched.classes, 0.0);  // a class unknown to the prediction has probability 0
    for (std::size_t k = 0; k < known; ++k) {
      matched.probabilities[row + index(predicted_ids[k])] = predicted.probabilities[t * known + k];
    }
  }
  matched.only_gold = gold.tasks.size() - matched.gold.size();
  return matched;
}

/// Labels made with gold inside inference are no test on those tasks; the run.json beside them tells.
std::vector<Warning> leak_warnings(const std::string& predicted, const std::string& what) {
  const auto record_path = std::filesystem::path(predicted).parent_path() / "run.json";
  std::ifstream file(record_path, std::ios::binary);
  if (!file.is_open()) return {};
  const auto record = nlohmann::json::parse(file, nullptr, false);
  if (!record.is_object() || record.value("program", nlohmann::json()) != "wisecrowd") return {};
  const auto use = record.value("/data/gold/used_for"_json_pointer, std::string());
  if (use != "inference") return {};
  return {{"gold_was_seen",
           fmt::format("These {} were made with gold inside inference (says the run.json beside them): on those "
                       "tasks they are right by construction, so this is no test. Aggregate with --gold-for "
                       "evaluation, or score on other tasks.",
                       what)}};
}

std::string score_text(const Evaluation& evaluation, const std::optional<RankScores>& ranks, const Matched& matched,
                       const Screen& screen) {
  std::string text =
      fmt::format("{}  {} with both a label and gold", screen.bold("Scored"), counted(evaluation.tasks, "task"));
  if (matched.only_predicted > 0) text += fmt::format("; {} without gold", grouped(matched.only_predicted));
  if (matched.only_gold > 0) text += fmt::format("; {} gold only", grouped(matched.only_gold));
  if (evaluation.abstained > 0) {
    text += fmt::format("\n{}  {}: {} with gold has no label", screen.bold("Covers"), percent(evaluation.coverage()),
                        counted(evaluation.abstained, "task"));
  }
  text += "\n\n";
  Table table({{"measure", Column::Side::left}, {"value"}, {"95 % interval"}, {"", Column::Side::left}});
  for (const Measure& measure : measures()) {
    const auto estimate = measure.of(evaluation);
    if (!estimate) {
      table.add({measure.title, "–", "", "needs p_CLASS columns"});
    } else if (measure.is_share) {
      table.add({measure.title, percent(estimate->value),
                 fmt::format("{:.1f} – {:.1f}", 100 * estimate->low, 100 * estimate->high), measure.meaning});
    } else {
      table.add({measure.title, fixed(estimate->value, 4),
                 fmt::format("{} – {}", fixed(estimate->low, 4), fixed(estimate->high, 4)), measure.meaning});
    }
  }
  if (ranks) {
    const auto add = [&](const std::string& title, const Estimate& estimate, const std::string& meaning) {
      table.add({title, fixed(estimate.value, 4),
                 fmt::format("{} – {}", fixed(estimate.low, 4), fixed(estimate.high, 4)), meaning});
    };
    add("rank error", ranks->rank_error, "mean distance of ranks");
    add("quadratic kappa", ranks->quadratic_kappa, "far errors count more; 1 is best");
  }
  text += table.text(screen.width, screen.dim_on(), screen.off());
  if (evaluation.curve.empty()) return text;
  Table curve({{"the surest"}, {"accuracy"}, {"probability at least"}});
  for (const CoveragePoint& point : evaluation.curve) {
    curve.add({percent(point.coverage), percent(point.accuracy), fixed(point.threshold, 4)});
  }
  return text + "\n" + curve.text(screen.width, screen.dim_on(), screen.off());
}

void evaluate_other_kind(const KindCommands& kind, const EvaluateArguments& options, Session& session) {
  kind.refuse(options.abstain_below > 0, "--abstain-below");
  kind.refuse(options.ordered, "--ordered");
  KindRequest request;
  request.answers = options.predicted;
  request.gold = options.gold;
  request.json = options.json;
  request.read = options.kind;
  request.read.columns = options.columns;
  request.read.gold_columns = options.gold_columns;
  request.read.format = options.format;
  request.read.lenient = options.lenient;
  request.read.safe_csv = options.safe_csv;
  request.run = options.run;
  kind.evaluate(request, leak_warnings(options.predicted, "estimates"), session);
}

void run_evaluate(const EvaluateArguments& options, Session& session) {
  if (options.predicted == "-" && options.gold == "-") {
    throw usage_error("PREDICTED and GOLD cannot both come from standard input");
  }
  if (const KindCommands* const kind = kind_commands(options.kind)) return evaluate_other_kind(*kind, options, session);
  ReadFlags read;
  read.format = options.format;
  read.lenient = options.lenient;
  read.safe_csv = options.safe_csv;
  Work work(session, options.run);
  std::vector<Warning> warnings = leak_warnings(options.predicted, "labels");
  const auto table_of = [&](const std::string& path, const std::string& columns, const std::string& option) {
    ReadOptions table_options = read.options();
    table_options.blank_labels = option == "--columns";           // PREDICTED may abstain, GOLD may not
    if (option == "--columns") table_options.safe_names = false;  // it is safe already
    read_columns(columns, option, {&table_options.task_column, &table_options.label_column}, option + " task,label");
    DataReport report;
    LabelTable table =
        at_stage(Stage::reading, [&] { return read_label_table(path, table_options, work.context(), &report); });
    work.check_stopped();
    warnings.insert(warnings.end(), report.warnings.begin(), report.warnings.end());
    return table;
  };
  const LabelTable predicted = table_of(options.predicted, options.columns, "--columns");
  const LabelTable gold = table_of(options.gold, options.gold_columns, "--gold-columns");
  Matched matched = match(predicted, gold, options);
  if (options.abstain_below > 0) {
    if (matched.probabilities.empty()) throw usage_error("--abstain-below needs the p_CLASS columns of PREDICTED");
    for (std::size_t t = 0; t < matched.predicted.size(); ++t) {
      if (matched.predicted[t] != kNoClass && probability_of_label(matched, t) < options.abstain_below) {
        matched.predicted[t] = kNoClass;
      }
    }
  }
  if (matched.gold.empty()) {
    throw Failure(EX_DATAERR, fmt::format("no task of '{}' occurs in '{}': {}", printable(options.predicted),
                                          printable(options.gold), gold_mismatch_reason(gold, predicted.tasks)));
  }
  if (std::all_of(matched.predicted.begin(), matched.predicted.end(), [](ClassId k) { return k == kNoClass; })) {
    throw Failure(EX_DATAERR, "every task with gold is left without a label: there is nothing to score");
  }
  const Evaluation evaluation =
      evaluate(matched.predicted, matched.probabilities, matched.gold, matched.classes, {}, work.context());
  std::optional<RankScores> ranks;
  if (options.ordered) ranks = evaluate_ranks(matched.predicted, matched.gold, matched.classes, work.context());
  work.check_stopped();
  session.warn(warnings);
  if (options.json) {
    auto json = score_json(evaluation);
    if (ranks) {
      json["rank_error"] = estimate_json(ranks->rank_error);
      json["quadratic_kappa"] = estimate_json(ranks->quadratic_kappa);
    }
    json["abstained"] = evaluation.abstained;
    json["coverage"] = evaluation.coverage();
    json["accuracy_by_coverage"] = nlohmann::ordered_json::array();
    for (const CoveragePoint& point : evaluation.curve) {
      json["accuracy_by_coverage"].push_back(
          {{"coverage", point.coverage}, {"accuracy", point.accuracy}, {"threshold", point.threshold}});
    }
    json["tasks_without_gold"] = matched.only_predicted;
    json["gold_without_label"] = matched.only_gold;
    json["warnings"] = warnings_json(warnings);
    session.out.add_json(json);
    return;
  }
  session.out.add(score_text(evaluation, ranks, matched, session.out_screen));
}

}  // namespace

void add_evaluate(CommandSet& commands) {
  Command& command = commands.add("evaluate", "score labels against known truth");
  command.details =
      "Accuracy, macro-F1, log-loss, Brier score and expected calibration error of labels, each with a 95 % "
      "interval, and how accurate the surest labels are. Tasks are matched by name; a blank label is an abstention. "
      "PREDICTED is a labels.csv of wisecrowd, or any table of task and label; "
      "the last three measures need its p_CLASS columns.";
  auto options = std::make_shared<EvaluateArguments>();
  command
      .add_text("PREDICTED", options->predicted, "FILE", "labels: task, label, and p_CLASS for probabilities",
                {ValueHint::Kind::file})
      ->required();
  command.add_text("GOLD", options->gold, "FILE", "the truth: task, label", {ValueHint::Kind::file})->required();
  command.add_number("--abstain-below", options->abstain_below, 0, 1,
                     "score only labels whose probability is at least this, and say how many they are");
  options->kind.add_kind_to(command);
  command.add_flag("--ordered", options->ordered,
                   "the order of classes means something: by --classes from the lowest to the highest, else by number; "
                   "then rank error and quadratic kappa are scored, too");
  command.add_text("--classes", options->classes, "A,B,C", "all classes in order; otherwise those that occur");
  command.add_flag("--json", options->json, "print one JSON object");
  command.add_text(
      "--columns", options->columns, "T,L",
      "names of the task and label columns of PREDICTED, if unusual; numbers of several dimensions have one "
      "each, T,X,Y");
  command.add_text("--gold-columns", options->gold_columns, "T,L", "the same for GOLD");
  add_format(command, options->format, "how the files are written, if their names do not tell");
  command.add_flag("--lenient", options->lenient, "drop rows that cannot be read instead of refusing the file");
  command.add_flag("--safe-csv", options->safe_csv,
                   "PREDICTED was made with --safe-csv: read the names of GOLD as it did");
  options->run.add_to(command, true);
  options->run.add_warning_flag(command);
  command.examples =
      "wisecrowd simulate one_coin_beta --tasks 400 --out crowd\n"
      "wisecrowd aggregate crowd/answers.csv --out result --quiet\n"
      "wisecrowd evaluate result/labels.csv crowd/gold.csv\n"
      "wisecrowd evaluate result/labels.csv crowd/gold.csv --json";
  command.run = [options](Session& session) { run_evaluate(*options, session); };
}

}  // namespace wisecrowd::app
