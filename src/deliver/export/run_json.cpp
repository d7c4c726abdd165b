#include "deliver/export/run_json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace wisecrowd {
namespace {

using Json = nlohmann::ordered_json;

Json value_json(const ParameterValue& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

template <class Value, class Convert>
Json object_of(const std::vector<std::pair<std::string, Value>>& entries, const Convert& convert) {
  Json object = Json::object();
  for (const auto& [name, value] : entries) object[name] = convert(value);
  return object;
}
template <class Value>
Json object_of(const std::vector<std::pair<std::string, Value>>& entries) {
  return object_of(entries, [](const Value& value) { return Json(value); });
}

Json names_json(const NameTable& names) {
  Json list = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) list.push_back(std::string(names[i]));
  return list;
}

Json estimate_json(const Estimate& estimate) {
  return {{"value", estimate.value}, {"low", estimate.low}, {"high", estimate.high}};
}

Json counts_json(const CategoryAnswers& answers) {
  return {{"hash", fmt::format("{:016x}", answers.content_hash())},
          {"tasks", answers.task_count()},
          {"workers", answers.worker_count()},
          {"answers", answers.answer_count()},
          {"classes", names_json(answers.class_names())}};
}

Json warnings_json(std::span<const Warning> warnings) {
  Json list = Json::array();
  for (const Warning& warning : warnings) list.push_back({{"code", warning.code}, {"message", warning.message}});
  return list;
}

}  // namespace

Json evaluation_json(const Evaluation& evaluation) {
  Json json = {{"tasks", evaluation.tasks},
               {"abstained", evaluation.abstained},
               {"accuracy", estimate_json(evaluation.accuracy)},
               {"macro_f1", estimate_json(evaluation.macro_f1)}};
  const auto add = [&](const char* name, const std::optional<Estimate>& estimate) {
    json[name] = estimate ? estimate_json(*estimate) : Json(nullptr);
  };
  add("log_loss", evaluation.log_loss);
  add("brier", evaluation.brier);
  add("ece", evaluation.ece);
  return json;
}

Json run_record_json(const Result& result) {
  const RunRecord& record = result.record;
  const CategoryFit& fit = result.aggregation;
  Json json;
  json["version"] = record.version;
  json["command"] = record.command;
  json["method"] = record.method;
  json["parameters"] = object_of(record.parameters, value_json);
  for (const StageRecord& stage : record.stages) {
    json[stage.role] = {{"method", stage.method}, {"parameters", object_of(stage.parameters, value_json)}};
    if (!stage.handoff.empty()) json[stage.role]["hands_over"] = stage.handoff;
  }
  json["seed"] = record.seed;
  json["threads"] = record.threads;
  json["data"] = counts_json(result.data.answers);
  json["data"]["inputs"] = object_of(record.inputs);
  if (!record.reading.empty()) json["data"]["reading"] = object_of(record.reading);
  json["data"]["gold"] = {{"tasks", record.gold_tasks}, {"used_for", record.gold_use}};
  json["status"] = std::string(to_string(fit.status));
  json["iterations"] = fit.iterations;
  json["objective"] = fit.objective_name.empty() ? Json(nullptr) : Json(fit.objective_name);
  json["trace"] = fit.trace;
  json["log_likelihood"] = fit.has_log_likelihood ? Json(fit.log_likelihood) : Json(nullptr);
  json["tie_rule"] = std::string(to_string(fit.tie_rule));
  json["class_prior"] = fit.class_prior;
  json["learned"] = object_of(fit.learned);
  if (!fit.explanation.empty()) json["explanation"] = fit.explanation;
  if (record.abstain_below > 0) {
    const auto labels = delivered_labels(fit, record.abstain_below);
    json["abstention"] = {{"below", record.abstain_below},
                          {"tasks", std::count(labels.begin(), labels.end(), kNoClass)}};
  }
  if (record.evaluation) json["evaluation"] = evaluation_json(*record.evaluation);
  std::vector<Warning> warnings = record.data_warnings;
  warnings.insert(warnings.end(), fit.warnings.begin(), fit.warnings.end());
  json["warnings"] = warnings_json(warnings);
  json["timings"] = object_of(record.timings);
  json["timings"]["per_iteration"] = fit.seconds_per_iteration;
  return json;
}

}  // namespace wisecrowd
