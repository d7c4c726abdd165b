#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "failure.hpp"
#include "number_run.hpp"
#include "number_text.hpp"
#include "screen_text.hpp"
#include "shared_json.hpp"

namespace wisecrowd::app {
namespace {

constexpr std::string_view kEstimatePrefix = "estimate_";

bool holds(const std::vector<std::string>& header, const std::string& name) {
  return std::find(header.begin(), header.end(), name) != header.end();
}

/// The columns of a table of estimates, by dimension: "estimate", "low" and "high" for one, "estimate_x", "low_x" and
/// "high_x" for several. Other names are those that the user gave; such estimates have no interval.
struct EstimateColumns {
  std::vector<std::string> estimate, low, high;
  std::vector<std::string> names;  ///< of the dimensions

  void add(const std::string& column, const std::vector<std::string>& header) {
    const bool plain = column == "estimate";
    const bool prefixed = column.starts_with(kEstimatePrefix);
    estimate.push_back(column);
    names.push_back(plain ? "value" : prefixed ? column.substr(kEstimatePrefix.size()) : column);
    const std::string end = plain ? "" : "_" + names.back();
    if (!(plain || prefixed) || !holds(header, "low" + end) || !holds(header, "high" + end)) return;
    low.push_back("low" + end);
    high.push_back("high" + end);
  }
  [[nodiscard]] bool has_intervals() const { return !low.empty() && low.size() == estimate.size(); }
  /// What is to be read, estimates first.
  [[nodiscard]] std::vector<std::string> all() const {
    std::vector<std::string> columns = estimate;
    if (!has_intervals()) return columns;
    columns.insert(columns.end(), low.begin(), low.end());
    columns.insert(columns.end(), high.begin(), high.end());
    return columns;
  }
};

EstimateColumns estimate_columns(const std::vector<std::string>& header, const std::vector<std::string>& given,
                                 const std::string& file) {
  EstimateColumns found;
  for (const std::string& name : given) found.add(name, header);
  if (given.empty() && holds(header, "estimate")) {
    found.add("estimate", header);
  } else if (given.empty()) {
    for (const std::string& name : header) {
      if (name.starts_with(kEstimatePrefix)) found.add(name, header);
    }
  }
  if (found.estimate.empty()) {
    throw Failure(EX_DATAERR, fmt::format("{}: there is no column 'estimate', as a table that wisecrowd wrote for "
                                          "numbers has: name the columns with --columns TASK,ESTIMATE",
                                          printable(file)));
  }
  return found;
}

/// Estimates and gold of the tasks that have both.
struct MatchedNumbers {
  std::vector<double> estimate, low, high, gold;
  std::size_t only_predicted = 0, only_gold = 0;
};

MatchedNumbers match_numbers(const NumberTable& predicted, const NumberTable& gold, bool with_intervals) {
  const std::size_t dimensions = gold.columns.size(), width = predicted.columns.size();
  std::map<std::string_view, std::size_t> row_of;
  for (std::size_t t = 0; t < predicted.tasks.size(); ++t) row_of.emplace(predicted.tasks[t], t);
  MatchedNumbers matched;
  for (std::size_t g = 0; g < gold.tasks.size(); ++g) {
    const auto at = row_of.find(gold.tasks[g]);
    if (at == row_of.end()) {
      ++matched.only_gold;
      continue;
    }
    const double* const row = predicted.values.data() + at->second * width;
    const double* const truth = gold.values.data() + g * dimensions;
    matched.estimate.insert(matched.estimate.end(), row, row + dimensions);
    matched.gold.insert(matched.gold.end(), truth, truth + dimensions);
    if (!with_intervals) continue;
    matched.low.insert(matched.low.end(), row + dimensions, row + 2 * dimensions);
    matched.high.insert(matched.high.end(), row + 2 * dimensions, row + 3 * dimensions);
  }
  matched.only_predicted = predicted.tasks.size() - (gold.tasks.size() - matched.only_gold);
  return matched;
}

}  // namespace

void evaluate_numbers_file(const KindRequest& request, std::vector<Warning> warnings, Session& session) {
  Work work(session, request.run);
  ReadFlags flags = request.read;
  flags.columns.clear();
  flags.gold_columns.clear();
  const auto read = [&](const std::string& path, const ReadOptions& options, const ChooseColumns& choose) {
    DataReport report;
    NumberTable table =
        at_stage(Stage::reading, [&] { return read_number_table(path, options, choose, work.context(), &report); });
    work.check_stopped();
    warnings.insert(warnings.end(), report.warnings.begin(), report.warnings.end());
    return table;
  };
  ReadOptions options = flags.options();
  options.blank_labels = true;  // a task without an estimate
  options.safe_names = false;   // they are safe already
  const auto given = read_value_columns(request.read.columns, "--columns", {&options.task_column}, "task,estimate");
  EstimateColumns columns;
  const NumberTable predicted = read(request.answers, options, [&](const std::vector<std::string>& header) {
    columns = estimate_columns(header, given, request.answers);
    return columns.all();
  });
  options = flags.options();
  options.value_columns =
      read_value_columns(request.read.gold_columns, "--gold-columns", {&options.task_column}, "task,truth");
  const NumberTable gold = read(request.gold, options, [&](const std::vector<std::string>& header) {
    const bool named_alike = columns.names.size() > 1 || holds(header, columns.names[0]);
    return options.value_columns.empty() && named_alike ? columns.names : std::vector<std::string>{};
  });
  if (gold.columns.size() != columns.estimate.size()) {
    throw usage_error(fmt::format("--gold-columns names {} of numbers, but the estimates have {}",
                                  counted(gold.columns.size(), "column"),
                                  counted(columns.estimate.size(), "dimension")));
  }
  const MatchedNumbers matched = match_numbers(predicted, gold, columns.has_intervals());
  if (matched.gold.empty()) {
    throw Failure(EX_DATAERR, fmt::format("no task of {} stands in {}: are both of the same tasks?",
                                          printable(request.gold), printable(request.answers)));
  }
  const NumberEvaluation evaluation =
      evaluate_numbers(matched.estimate, matched.low, matched.high, matched.gold, columns.estimate.size());
  session.warn(warnings);
  if (request.json) {
    auto json = number_evaluation_json(evaluation, columns.names);
    json["tasks_without_gold"] = matched.only_predicted;
    json["gold_without_estimate"] = matched.only_gold;
    json["warnings"] = warnings_json(warnings);
    session.out.add_json(json);
    return;
  }
  const Screen& screen = session.out_screen;
  std::string text = fmt::format("{}   {} against gold", screen.bold("Scored"), counted(evaluation.tasks, "task"));
  if (matched.only_predicted > 0) text += fmt::format("; {} without gold", grouped(matched.only_predicted));
  if (matched.only_gold > 0) text += fmt::format("; {} gold only", grouped(matched.only_gold));
  if (evaluation.missing > 0) text += fmt::format("; {} without an estimate", grouped(evaluation.missing));
  session.out.add(text + "\n" + number_score_lines(evaluation, columns.names, screen));
}

}  // namespace wisecrowd::app
