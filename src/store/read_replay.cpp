#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/csv_rows.hpp"
#include "base/json_depth.hpp"
#include "base/percent.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/experiment_files.hpp"

namespace wisecrowd {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double real(const Json& value) { return value.is_number() ? value.get<double>() : kUnknown; }

/// Parses a file of ours and reads it; whatever is not as expected is one kind of error.
template <class Read>
auto understood(const std::string& path, const std::string& expected, const Read& read) {
  const std::string text = read_text_file(path);
  if (nests_too_deep(text)) {
    throw Error(
        ErrorCode::bad_input,
        fmt::format("'{}' cannot be understood (its lists are nested too deeply): it must be {}", path, expected));
  }
  try {
    return read(Json::parse(text));
  } catch (const Json::exception& problem) {
    throw Error(ErrorCode::bad_input,
                fmt::format("'{}' cannot be understood ({}): it must be {}", path, problem.what(), expected));
  }
}

/// Goes through a table of a replay. Throws bad_input unless it has the columns that are needed.
class ReplayTable {
 public:
  ReplayTable(std::string path, std::initializer_list<std::string_view> needed)
      : path_(std::move(path)), text_(read_text_file(path_)), rows_(text_) {
    const bool header = rows_.next();
    for (const std::string_view name : needed) {
      if (header && rows_.column(name) < rows_.fields().size()) continue;
      throw Error(ErrorCode::bad_input, fmt::format("'{}' has no column {}: write the replay again", path_, name));
    }
    columns_ = rows_.fields();
  }
  bool next() { return rows_.next(); }
  [[nodiscard]] std::string text(std::string_view name) const {
    const std::size_t at = column(name);
    return at < rows_.fields().size() ? rows_.fields()[at] : "";
  }
  /// NaN when it is blank or there is no such column.
  [[nodiscard]] double number(std::string_view name) const { return rows_.number(column(name)); }
  [[nodiscard]] bool has(std::string_view name) const { return column(name) < columns_.size(); }

 private:
  [[nodiscard]] std::size_t column(std::string_view name) const {
    return static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), name) - columns_.begin());
  }
  std::string path_;
  std::string text_;
  CsvRows rows_;
  std::vector<std::string> columns_;
};

std::vector<Savings::Curve> read_curves(const std::string& path) {
  ReplayTable table(path, {"policy", "answers", "accuracy"});
  std::vector<Savings::Curve> curves;
  while (table.next()) {
    const std::string policy = table.text("policy");
    if (curves.empty() || curves.back().policy != policy) curves.emplace_back().policy = policy;
    Savings::Curve& curve = curves.back();
    curve.answers.push_back(table.number("answers"));
    curve.accuracy.push_back(table.number("accuracy"));
    curve.low.push_back(table.number("low"));
    curve.high.push_back(table.number("high"));
  }
  return curves;
}

/// The tables of select --replay and of dalc-loop differ in names: the latter knows no slack and leaves blank what was
/// not reached.
std::vector<Savings::Row> read_rows(const std::string& path) {
  ReplayTable table(path, {"policy", "saved", "saved_low", "saved_high"});
  std::vector<Savings::Row> rows;
  while (table.next()) {
    Savings::Row& row = rows.emplace_back();
    row.policy = table.text("policy");
    row.slack = table.has("slack") ? table.number("slack") : 0;
    row.saved = table.number("saved");
    row.low = table.number("saved_low");
    row.high = table.number("saved_high");
    row.needed = table.number(table.has("answers") ? "answers" : "answers_to_reach");
    row.reached = table.has("reached") ? table.number("reached") == 1 : !std::isnan(row.saved);
  }
  return rows;
}

/// The sentence that people want to read.
std::string words_on(const Savings& savings, const std::string& first) {
  const Savings::Row* best = nullptr;
  for (const Savings::Row& row : savings.rows) {
    if (row.slack != 0 || !row.reached || row.policy == first) continue;
    if (best == nullptr || row.saved > best->saved) best = &row;
  }
  if (best == nullptr) return "No policy reached the accuracy of all answers with fewer of them.";
  std::string words = fmt::format("With {} the same accuracy would have been reached with {} {} answers", best->policy,
                                  percent(std::abs(best->saved)), best->saved >= 0 ? "fewer" : "more");
  if (!first.empty()) words += fmt::format(" than with {}", first);
  if (!std::isnan(best->low)) words += fmt::format(" (95 % interval {})", percents(best->low, best->high));
  return words + ".";
}

}  // namespace

Savings read_savings(const std::string& folder) {
  const std::filesystem::path at(folder);
  const std::string path = (at / "summary.json").string();
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) {
    throw Error(ErrorCode::io,
                fmt::format("'{}' holds no summary.json: name a folder that a replay (select) or dalc-loop "
                            "wrote with `out`",
                            folder));
  }
  Savings savings;
  bool against_first = false;
  understood(path, "the summary of a replay", [&](const Json& json) {
    against_first = json.contains("accuracy_of_all_answers");
    if (against_first) {
      savings.accuracy_of_all = real(json.at("accuracy_of_all_answers"));
      return;
    }
    double sum = 0;
    const Json& seeds = json.at("reference_accuracy");
    for (const Json& value : seeds) sum += real(value);
    savings.accuracy_of_all = seeds.empty() ? kUnknown : sum / static_cast<double>(seeds.size());
  });
  savings.curves = read_curves((at / "curves.csv").string());
  savings.rows = read_rows((at / "savings.csv").string());
  savings.words = words_on(savings, against_first && !savings.curves.empty() ? savings.curves.front().policy : "");
  return savings;
}

Comparison read_comparison(const std::string& path, const std::string& method) {
  return understood(path, "what wisecrowd compare printed with `json`", [&](const Json& json) {
    Comparison comparison;
    comparison.by = json.contains("gold_tasks") ? "gold" : "held-out";
    for (const Json& entry : json.at("methods")) {
      ComparedMethod& row = comparison.rows.emplace_back();
      row.method = entry.at("method").get<std::string>();
      row.is_this = row.method == method;
      if (entry.contains("error")) {
        row.note = entry.at("error").get<std::string>();
        continue;
      }
      const auto estimate = [&](const char* name) -> Estimate {
        const Json& value = entry.at(name);
        return {real(value.at("value")), real(value.at("low")), real(value.at("high"))};
      };
      if (comparison.by == "gold") {
        row.accuracy = estimate("accuracy");
        if (entry.contains("log_loss") && entry.at("log_loss").is_object()) row.log_loss = estimate("log_loss").value;
      } else {
        row.log_probability = estimate("log_probability");
      }
      row.seconds = real(entry.value("seconds", Json(nullptr)));
    }
    comparison.words =
        comparison.by == "gold"
            ? "How the methods do on gold tasks that they did not see. Differences within the intervals mean little."
            : "How well each method predicts answers that were held out: higher is better.";
    return comparison;
  });
}

}  // namespace wisecrowd
