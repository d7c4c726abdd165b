#include "set_evaluate.hpp"

#include <fmt/core.h>

#include <map>
#include <nlohmann/json.hpp>

#include "failure.hpp"
#include "screen_text.hpp"
#include "set_text.hpp"
#include "shared_json.hpp"

namespace wisecrowd::app {
namespace {

/// Sets and gold of the tasks that have both, over the classes of both files.
struct MatchedSets {
  GoldSets predicted, gold;
  std::vector<std::string> classes;
  std::size_t only_predicted = 0, only_gold = 0;
};

MatchedSets match_sets(const SetTable& predicted, const SetTable& gold) {
  MatchedSets matched;
  std::map<std::string, ClassId> ids;
  const auto id_of = [&](std::string_view name) {
    const auto [at, added] = ids.emplace(std::string(name), ClassId(matched.classes.size()));
    if (added) matched.classes.emplace_back(name);
    return at->second;
  };
  const auto translated = [&](const SetTable& table, std::size_t row) {
    std::optional<std::vector<ClassId>> set;
    if (!table.sets[row]) return set;
    set.emplace();
    for (const ClassId label : *table.sets[row]) set->push_back(id_of(table.classes[index(label)]));
    std::sort(set->begin(), set->end());
    return set;
  };
  for (std::size_t k = 0; k < predicted.classes.size(); ++k) (void)id_of(predicted.classes[k]);
  for (std::size_t k = 0; k < gold.classes.size(); ++k) (void)id_of(gold.classes[k]);
  std::map<std::string_view, std::size_t> row_of;
  for (std::size_t t = 0; t < predicted.tasks.size(); ++t) row_of.emplace(predicted.tasks[t], t);
  for (std::size_t g = 0; g < gold.tasks.size(); ++g) {
    const auto at = row_of.find(gold.tasks[g]);
    if (at == row_of.end()) {
      ++matched.only_gold;
      continue;
    }
    matched.predicted.push_back(translated(predicted, at->second));
    matched.gold.push_back(translated(gold, g));
  }
  matched.only_predicted = predicted.tasks.size() - matched.gold.size();
  return matched;
}

}  // namespace

void evaluate_sets_file(const KindRequest& request, std::vector<Warning> warnings, Session& session) {
  Work work(session, request.run);
  ReadFlags flags = request.read;
  flags.columns.clear();
  flags.gold_columns.clear();
  const auto read = [&](const std::string& path, const ReadOptions& options) {
    DataReport report;
    SetTable table = at_stage(Stage::reading, [&] { return read_set_table(path, options, work.context(), &report); });
    work.check_stopped();
    warnings.insert(warnings.end(), report.warnings.begin(), report.warnings.end());
    return table;
  };
  ReadOptions options = flags.options();
  options.blank_labels = true;  // a task without a set
  options.safe_names = false;   // they are safe already
  read_columns(request.read.columns, "--columns", {&options.task_column, &options.label_column}, "--columns task,set");
  const SetTable predicted = read(request.answers, options);
  options = flags.options();
  read_columns(request.read.gold_columns, "--gold-columns", {&options.task_column, &options.label_column},
               "--gold-columns task,truth");
  const SetTable gold = read(request.gold, options);
  const MatchedSets matched = match_sets(predicted, gold);
  if (matched.gold.empty()) {
    throw Failure(EX_DATAERR, fmt::format("no task of {} stands in {}: are both of the same tasks?",
                                          printable(request.gold), printable(request.answers)));
  }
  const NameTable classes(matched.classes);
  const SetEvaluation evaluation = evaluate_sets(matched.predicted, matched.gold, classes.size());
  session.warn(warnings);
  if (request.json) {
    auto json = set_evaluation_json(evaluation, classes);
    json["tasks_without_gold"] = matched.only_predicted;
    json["gold_without_set"] = matched.only_gold;
    json["warnings"] = warnings_json(warnings);
    session.out.add_json(json);
    return;
  }
  const Screen& screen = session.out_screen;
  std::string text = fmt::format("{}   {} against gold", screen.bold("Scored"), counted(evaluation.tasks, "task"));
  if (matched.only_predicted > 0) text += fmt::format("; {} without gold", grouped(matched.only_predicted));
  if (matched.only_gold > 0) text += fmt::format("; {} gold only", grouped(matched.only_gold));
  if (evaluation.missing > 0) text += fmt::format("; {} without a set", grouped(evaluation.missing));
  session.out.add(text + "\n" + set_score_lines(evaluation, classes, screen));
}

}  // namespace wisecrowd::app
