#include "result/stored_record.hpp"

#include <fmt/core.h>

#include <charconv>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/csv_rows.hpp"
#include "base/csv_text.hpp"
#include "base/json_depth.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"
#include "wisecrowd/read_result.hpp"

namespace wisecrowd {
namespace {

using Json = nlohmann::ordered_json;

double real(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

std::vector<double> reals(const Json& list) {
  std::vector<double> values;
  for (const Json& value : list) values.push_back(real(value));
  return values;
}

ParameterValue parameter(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_float()) return value.get<double>();
  if (value.is_number()) return value.get<std::int64_t>();
  if (value.is_null()) return real(value);
  return value.get<std::string>();
}

std::vector<std::pair<std::string, ParameterValue>> parameters(const Json& object) {
  std::vector<std::pair<std::string, ParameterValue>> list;
  for (const auto& [name, value] : object.items()) list.emplace_back(name, parameter(value));
  return list;
}

std::vector<std::pair<std::string, std::string>> texts(const Json& object) {
  std::vector<std::pair<std::string, std::string>> list;
  for (const auto& [name, value] : object.items()) list.emplace_back(name, value.get<std::string>());
  return list;
}

Estimate estimate(const Json& object) {
  return {real(object.at("value")), real(object.at("low")), real(object.at("high"))};
}

Evaluation evaluation(const Json& object) {
  Evaluation score;
  score.tasks = object.at("tasks").get<std::size_t>();
  score.abstained = object.at("abstained").get<std::size_t>();
  score.accuracy = estimate(object.at("accuracy"));
  score.macro_f1 = estimate(object.at("macro_f1"));
  const auto optional = [&](const char* name) -> std::optional<Estimate> {
    return object.at(name).is_null() ? std::nullopt : std::optional(estimate(object.at(name)));
  };
  score.log_loss = optional("log_loss");
  score.brier = optional("brier");
  score.ece = optional("ece");
  return score;
}

LearnSummary learned(const Json& json) {
  LearnSummary summary;
  const Json& network = json.at("network");
  summary.network.kind = network.at("kind").get<std::string>();
  summary.network.hidden = network.value("hidden", summary.network.hidden);
  summary.network.layers = network.value("layers", summary.network.layers);
  summary.network.dropout = network.value("dropout", summary.network.dropout);
  const Json& features = json.at("features");
  summary.rows = features.at("rows").get<std::size_t>();
  summary.row_shape = features.at("shape").get<std::vector<std::size_t>>();
  summary.train_rows = features.at("train").get<std::size_t>();
  summary.valid_rows = features.at("valid").get<std::size_t>();
  summary.test_rows = features.at("test").get<std::size_t>();
  summary.epochs = json.at("epochs").get<std::size_t>();
  summary.chosen_epoch = json.at("chosen_epoch").get<std::size_t>();
  const auto objective = reals(json.at("learning_curve").at("objective"));
  const auto held_out = reals(json.at("learning_curve").at("held_out_log_probability"));
  for (std::size_t e = 0; e < objective.size(); ++e) summary.curve.push_back({objective[e], held_out.at(e)});
  if (json.contains("evaluation")) {
    for (const auto& [part, scores] : json.at("evaluation").items()) {
      summary.scores.push_back({part, evaluation(scores.at("chosen_epoch")), evaluation(scores.at("last_epoch"))});
    }
  }
  return summary;
}

Status status_named(const std::string& name) {
  for (const Status status : {Status::converged, Status::iteration_limit, Status::cancelled}) {
    if (to_string(status) == name) return status;
  }
  throw Error(ErrorCode::bad_input, fmt::format("unknown status '{}'", name));
}

// The names under which read options are recorded.
constexpr std::string_view kFormats[] = {"automatic", "csv", "tsv", "jsonl"};
constexpr std::string_view kLayouts[] = {"automatic", "long", "wide"};
constexpr std::string_view kDuplicates[] = {"keep-last", "reject", "repeat"};

template <class Enum, std::size_t n>
Enum named(const std::string_view (&names)[n], const std::string& name) {
  for (std::size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  throw Error(ErrorCode::bad_input, fmt::format("unknown way of reading '{}'", name));
}

/// Of a run that an older version wrote: that of the method that had the last word.
TieRule tie_rule_of(const RunRecord& record) {
  const bool finished = !record.stages.empty() && record.stages.back().role == "finish";
  for (const auto& [name, value] : finished ? record.stages.back().parameters : record.parameters) {
    if (name == "ties") return tie_rule_named(to_string(value));
  }
  return TieRule::lowest;
}

StoredRecord understood(const Json& json) {
  StoredRecord stored;
  RunRecord& record = stored.record;
  record.version = json.at("version").get<std::string>();
  record.command = json.at("command").get<std::string>();
  record.method = json.at("method").get<std::string>();
  record.parameters = parameters(json.at("parameters"));
  for (const char* role : {"init", "finish"}) {
    if (!json.contains(role)) continue;
    const Json& stage = json.at(role);
    record.stages.push_back({role, stage.at("method").get<std::string>(), stage.value("hands_over", ""),
                             parameters(stage.at("parameters"))});
  }
  record.seed = json.at("seed").get<std::uint64_t>();
  record.threads = json.at("threads").get<unsigned>();
  const Json& data = json.at("data");
  const std::string hash = data.at("hash").get<std::string>();
  if (std::from_chars(hash.data(), hash.data() + hash.size(), stored.hash, 16).ec != std::errc()) {
    throw Error(ErrorCode::bad_input, fmt::format("'{}' is no hash", hash));
  }
  stored.tasks = data.at("tasks").get<std::size_t>();
  stored.workers = data.at("workers").get<std::size_t>();
  stored.answers = data.at("answers").get<std::size_t>();
  record.inputs = texts(data.at("inputs"));
  if (data.contains("reading")) record.reading = texts(data.at("reading"));
  stored.read = read_options(record.reading);
  stored.read.classes = data.at("classes").get<std::vector<std::string>>();
  // The file of answers has the names as they were before.
  for (std::string& name : stored.read.classes) {
    if (stored.read.safe_names && name.starts_with('\'') && spreadsheet_safe(name.substr(1)) == name) name.erase(0, 1);
  }
  record.data_hash = stored.hash;
  record.gold_tasks = data.at("gold").at("tasks").get<std::uint64_t>();
  record.gold_use = data.at("gold").at("used_for").get<std::string>();
  if (json.contains("abstention")) record.abstain_below = json.at("abstention").at("below").get<double>();
  for (const Json& warning : json.at("warnings")) {
    record.data_warnings.push_back({warning.at("code").get<std::string>(), warning.at("message").get<std::string>()});
  }
  for (const auto& [stage, seconds] : json.at("timings").items()) {
    if (stage == "per_iteration") {
      stored.fit.seconds_per_iteration = real(seconds);
    } else {
      record.timings.emplace_back(stage, real(seconds));
    }
  }

  CategoryFit& fit = stored.fit;
  fit.status = status_named(json.at("status").get<std::string>());
  fit.iterations = json.at("iterations").get<std::size_t>();
  if (!json.at("objective").is_null()) fit.objective_name = json.at("objective").get<std::string>();
  if (json.contains("trace")) fit.trace = reals(json.at("trace"));
  fit.has_log_likelihood = !json.at("log_likelihood").is_null();
  if (fit.has_log_likelihood) fit.log_likelihood = real(json.at("log_likelihood"));
  fit.class_prior = reals(json.at("class_prior"));
  for (const auto& [name, value] : json.at("learned").items()) fit.learned.emplace_back(name, real(value));
  fit.explanation = json.value("explanation", "");
  fit.tie_rule =
      json.contains("tie_rule") ? tie_rule_named(json.at("tie_rule").get<std::string>()) : tie_rule_of(record);
  if (json.contains("network")) {
    stored.learned = learned(json);
  } else if (json.contains("evaluation")) {
    record.evaluation = evaluation(json.at("evaluation"));
  }
  return stored;
}

}  // namespace

StoredRecord read_record(const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / "run.json").string();
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) {
    const bool replay = std::filesystem::exists(std::filesystem::path(folder) / "summary.json", unknown);
    throw Error(
        ErrorCode::io,
        fmt::format("'{}' holds no run.json: {}", folder,
                    replay ? "it is no result, but perhaps a replay; name the folder of a result, and give this "
                             "one with --replay"
                           : "name a folder that wisecrowd aggregate or learn wrote with --out"));
  }
  const std::string text = read_text_file(path);
  try {
    if (nests_too_deep(text)) throw std::invalid_argument("its lists are nested too deeply");
    return understood(Json::parse(text));
  } catch (const std::exception& problem) {
    throw Error(ErrorCode::bad_input, fmt::format("'{}' cannot be understood ({}): write the result again with this "
                                                  "version of wisecrowd",
                                                  path, problem.what()));
  }
}

ReadOptions read_options(const std::vector<std::pair<std::string, std::string>>& reading) {
  ReadOptions options;
  for (const auto& [name, value] : reading) {
    if (name == "task_column") options.task_column = value;
    if (name == "worker_column") options.worker_column = value;
    if (name == "label_column") options.label_column = value;
    if (name == "gold_task_column") options.gold_task_column = value;
    if (name == "gold_label_column") options.gold_label_column = value;
    if (name == "format") options.format = named<TableFormat>(kFormats, value);
    if (name == "layout") options.layout = named<TableLayout>(kLayouts, value);
    if (name == "duplicates") options.duplicates = named<DuplicatePolicy>(kDuplicates, value);
    if (name == "lenient") options.lenient = value == "yes";
    if (name == "safe_names") options.safe_names = value == "yes";
    CsvRows rows(value);
    while (name == "exclude_workers" && rows.next()) options.exclude_workers.push_back(rows.fields().at(0));
    while (name == "merge_workers" && rows.next()) {
      options.merge_workers.push_back({rows.fields().at(0), rows.fields().at(1)});
    }
  }
  return options;
}

std::vector<std::pair<std::string, std::string>> reading_record(const ReadOptions& options) {
  std::vector<std::pair<std::string, std::string>> record;
  const auto add = [&](const char* name, std::string_view value) {
    if (!value.empty()) record.emplace_back(name, value);
  };
  add("task_column", options.task_column);
  add("worker_column", options.worker_column);
  add("label_column", options.label_column);
  add("gold_task_column", options.gold_task_column);
  add("gold_label_column", options.gold_label_column);
  const ReadOptions usual;
  if (options.format != usual.format) add("format", kFormats[static_cast<std::size_t>(options.format)]);
  if (options.layout != usual.layout) add("layout", kLayouts[static_cast<std::size_t>(options.layout)]);
  if (options.duplicates != usual.duplicates) {
    add("duplicates", kDuplicates[static_cast<std::size_t>(options.duplicates)]);
  }
  if (options.lenient) add("lenient", "yes");
  // The names themselves, as CSV: the files may be gone when the answers are read again.
  std::string excluded, merged;
  for (const std::string& name : options.exclude_workers) excluded += csv_field(name) + "\n";
  for (const auto& [name, into] : options.merge_workers) merged += csv_field(name) + "," + csv_field(into) + "\n";
  if (options.safe_names) add("safe_names", "yes");
  add("exclude_workers", excluded);
  add("merge_workers", merged);
  return record;
}

}  // namespace wisecrowd
