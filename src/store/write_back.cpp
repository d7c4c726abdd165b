#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/csv_rows.hpp"
#include "base/csv_text.hpp"
#include "base/output_folder.hpp"
#include "result/report_facts.hpp"
#include "store/read_result.hpp"
#include "store/review_table.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/platform_files.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd {
namespace {

using Json = nlohmann::ordered_json;

/// One label, set or number of a task, as JSON, with how sure it is.
struct TaskValue {
  std::string task;
  Json value;
  Json score;  ///< null where there is none
};

Json json_probability(double p) { return written_probability(p); }

std::vector<TaskValue> values_of(const CategoryResult& result) {
  std::vector<TaskValue> values;
  const auto labels = delivered_labels(result.aggregation, result.record.abstain_below);
  for (std::size_t t = 0; t < labels.size(); ++t) {
    if (labels[t] == kNoClass) continue;
    values.push_back({std::string(result.data.answers.task_names()[t]),
                      std::string(result.data.answers.class_names()[index(labels[t])]),
                      json_probability(result.aggregation.posterior_of(TaskId(t))[index(labels[t])])});
  }
  return values;
}

std::vector<TaskValue> values_of(const SetResult& result) {
  std::vector<TaskValue> values;
  for (std::size_t t = 0; t < result.fit.task_count; ++t) {
    if (!result.fit.is_known(TaskId(t))) continue;
    Json names = Json::array();
    double sure = 1;
    for (const ClassId label : result.fit.set_of(TaskId(t))) {
      names.push_back(std::string(result.data.answers.class_names()[index(label)]));
      sure = std::min(sure, result.fit.probability_of(TaskId(t), label));
    }
    values.push_back({std::string(result.data.answers.task_names()[t]), names, json_probability(sure)});
  }
  return values;
}

std::vector<TaskValue> values_of(const NumberResult& result) {
  std::vector<TaskValue> values;
  if (result.fit.dimensions != 1) return values;
  for (std::size_t t = 0; t < result.fit.estimate.size(); ++t) {
    const double estimate = result.fit.estimate[t];
    if (estimate == estimate) {
      values.push_back({std::string(result.data.answers.task_names()[t]), written_number(estimate), nullptr});
    }
  }
  return values;
}

std::vector<TaskValue> values_of(const Result& result, std::string_view place) {
  std::vector<TaskValue> values;
  if (const auto* categories = std::get_if<CategoryResult>(&result)) values = values_of(*categories);
  if (const auto* sets = std::get_if<SetResult>(&result)) values = values_of(*sets);
  if (const auto* numbers = std::get_if<NumberResult>(&result)) values = values_of(*numbers);
  if (values.empty()) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} takes labels, sets or numbers of one dimension; this result has none", place));
  }
  return values;
}

/// What the platform's file says beyond the answers; empty tables where the answers come from another kind of file.
PlatformTables source_of(const std::string& answers, const ReadOptions& options, const RunContext& context) {
  try {
    return read_platform(answers, "", options, context);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::io) throw;
  }
  return {};
}

/// Whole numbers as such, as platforms have their ids.
Json id_of(const std::string& task) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(task.data(), task.data() + task.size(), number);
  return code == std::errc() && end == task.data() + task.size() ? Json(number) : Json(task);
}

std::string text_of_list(const std::vector<Json>& rows) {
  std::string text = "[\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += rows[i].dump(-1, ' ', false, Json::error_handler_t::replace) + (i + 1 < rows.size() ? ",\n" : "\n");
  }
  return text + "]\n";
}

/// A value as the control of that type holds it.
Json control_value(const std::string& type, const Json& value) {
  const Json list = value.is_array() ? value : Json::array({value});
  if (type == "taxonomy") {
    Json paths = Json::array();
    for (const Json& path : list) {
      Json steps = Json::array();
      const std::string text = path.is_string() ? path.get<std::string>() : path.dump();
      for (std::size_t at = 0; at <= text.size();) {
        const auto end = std::min(text.find('/', at), text.size());
        steps.push_back(text.substr(at, end - at));
        at = end + 1;
      }
      paths.push_back(steps);
    }
    return {{type, paths}};
  }
  if (type == "rating" || type == "number") {
    if (value.is_number()) return {{type, value}};
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    double number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code == std::errc() && end == text.data() + text.size()) return {{type, number}};
  }
  if (type == "textarea") return {{"text", list}};
  return {{"choices", list}};
}

WrittenBack label_studio_text(const Result& result, const WriteBackOptions& options, const std::string& agent,
                              const PlatformTables& source) {
  const std::string question = options.question.empty() ? source.question : options.question;
  const std::string target = options.target.empty() ? source.target : options.target;
  if (question.empty() || target.empty()) {
    throw Error(ErrorCode::bad_input,
                "the answers do not come from a Label Studio export, so the names of the labelling interface are not "
                "known: say `question` (its from_name) and `target` (its to_name)");
  }
  const std::string type = source.control.empty() ? "choices" : source.control;
  std::vector<Json> rows;
  for (const TaskValue& value : values_of(result, "Label Studio")) {
    Json part = {
        {"from_name", question}, {"to_name", target}, {"type", type}, {"value", control_value(type, value.value)}};
    Json row = {{"task", id_of(value.task)}, {"model_version", agent}};
    if (!value.score.is_null()) {
      part["score"] = value.score;
      row["score"] = value.score;
    }
    row["result"] = Json::array({part});
    rows.push_back(std::move(row));
  }
  return {.text = text_of_list(rows), .rows = rows.size()};
}

WrittenBack argilla_text(const Result& result, const WriteBackOptions& options, const std::string& agent,
                         const PlatformTables& source) {
  const std::string question = options.question.empty() ? source.question : options.question;
  if (question.empty()) {
    throw Error(ErrorCode::bad_input, "the answers do not name the question that they answer: say `question`");
  }
  std::vector<Json> rows;
  for (const TaskValue& value : values_of(result, "Argilla")) {
    Json suggestion = {{"question_name", question}, {"value", value.value}, {"agent", agent}, {"type", "model"}};
    if (!value.score.is_null()) suggestion["score"] = value.score;
    rows.push_back({{"id", value.task}, {"suggestions", Json::array({suggestion})}});
  }
  return {.text = text_of_list(rows), .rows = rows.size()};
}

WrittenBack ground_truth_text(const Result& result, const WriteBackOptions& options, const PlatformTables& source) {
  std::string question = options.question.empty() ? source.question : options.question;
  if (question.empty()) question = "label";
  std::vector<Json> rows;
  for (const TaskValue& value : values_of(result, "Ground Truth")) {
    Json content = {{value.value.is_array() ? "labels" : "label", value.value}};
    if (!value.score.is_null()) content["confidence"] = value.score;
    rows.push_back({{"datasetObjectId", value.task}, {"consolidatedAnnotation", {{"content", {{question, content}}}}}});
  }
  return {.text = text_of_list(rows), .rows = rows.size()};
}

/// Who should not be paid, with the reason: only whoever is advised to stop.
std::map<std::string, std::string> refused_workers(const CategoryResult& result, const RunContext& context) {
  std::vector<std::uint32_t> everybody(result.data.answers.worker_count());
  std::iota(everybody.begin(), everybody.end(), 0U);
  const AdviceFacts advice = advise(result, everybody, context);
  std::map<std::string, std::string> refused;
  for (std::size_t w = 0; w < advice.workers.size(); ++w) {
    if (advice.workers[w].advice != WorkerAdvice::stop) continue;
    refused.emplace(result.data.answers.worker_names()[w],
                    reason_of(advice.workers[w], result.data.answers.class_names()));
  }
  return refused;
}

WrittenBack review_text(const Result& result, bool mturk, const PlatformTables& source, const RunContext& context) {
  const auto* const categories = std::get_if<CategoryResult>(&result);
  if (categories == nullptr) {
    throw Error(ErrorCode::unsupported, "work is reviewed by the advice on workers, which is there for categories");
  }
  if (source.assignments.empty()) {
    throw Error(ErrorCode::bad_input,
                fmt::format("the answers hold no assignment that waits for review: a file of {} is wanted, with {}",
                            mturk ? "MTurk" : "Toloka",
                            mturk ? "AssignmentId and the status Submitted"
                                  : "ASSIGNMENT:assignment_id and the status SUBMITTED"));
  }
  const auto refused = refused_workers(*categories, context);
  const ReviewTable table = mturk ? ReviewTable::mturk : ReviewTable::toloka;
  WrittenBack written;
  written.text = review_header(table);
  CsvRows rows(source.assignments);
  for (rows.next(); rows.next(); ++written.rows) {
    const std::string& worker = rows.fields().at(1);
    const auto found = refused.find(worker);
    const bool bad = found != refused.end();
    written.refused += bad ? 1 : 0;
    written.text += review_row(table, rows.fields().at(0), worker,
                               bad ? std::optional<std::string_view>(found->second) : std::nullopt);
  }
  return written;
}

}  // namespace

WrittenBack write_back(const std::string& folder, WriteBack to, const WriteBackOptions& options,
                       const RunContext& context) {
  ReadResultOptions where;
  where.answers = options.answers;
  const StoredRun stored = read_result(folder, where, context);
  const RunRecord& record = record_of(stored.result);
  const std::string answers =
      options.answers ? *options.answers
                      : store::locate_input(folder, "answers", store::recorded_input(record, "answers").value_or("-"));
  const PlatformTables source = source_of(answers, read_options(record.reading), context);
  const std::string agent = "wisecrowd-" + record.method;
  WrittenBack written;
  switch (to) {
    case WriteBack::label_studio_predictions: written = label_studio_text(stored.result, options, agent, source); break;
    case WriteBack::argilla_suggestions: written = argilla_text(stored.result, options, agent, source); break;
    case WriteBack::ground_truth: written = ground_truth_text(stored.result, options, source); break;
    case WriteBack::mturk_review: written = review_text(stored.result, true, source, context); break;
    case WriteBack::toloka_review: written = review_text(stored.result, false, source, context); break;
  }
  written.inputs = record.inputs;
  written.inputs.emplace_back("answers", answers);
  return written;
}

void write_back_file(const WrittenBack& written, const std::string& path) { write_file_whole(path, written.text); }

}  // namespace wisecrowd
