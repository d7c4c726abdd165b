#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/csv_rows.hpp"
#include "base/csv_text.hpp"
#include "base/json_depth.hpp"
#include "base/rows_writer.hpp"
#include "store/category_tables.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/fairness_files.hpp"
#include "wisecrowd/messages.hpp"

namespace wisecrowd {
namespace {

using FairnessJson = nlohmann::ordered_json;

std::string_view group_name(const FairnessResult& result, GroupId group) {
  return group == kNoGroup ? std::string_view() : result.groups.names[index(group)];
}

std::string_view truth_of(const Gap& gap) {
  if (gap.measure == GapMeasure::demographic_parity) return "";
  return gap.by_gold ? "gold" : "posterior";
}

void append_estimate(TextBuffer& text, const Estimate& estimate) {
  for (const double value : {estimate.value, estimate.low, estimate.high}) {
    text.append(',');
    text.append_number(value);
  }
}

std::string gaps_csv(const FairnessResult& result) {
  TextBuffer text;
  text.append("labels,measure,positive,gap,low,high,highest,lowest,truth\n");
  for (const auto& labelling : result.study.labellings) {
    for (const Gap& gap : labelling.gaps) {
      text.append(labelling.name);
      text.append(',');
      text.append(to_string(gap.measure));
      text.append(',');
      text.append_field(result.data.answers.class_names()[index(gap.positive)]);
      append_estimate(text, gap.gap);
      for (const GroupId group : {gap.highest, gap.lowest}) {
        text.append(',');
        if (group != kNoGroup) text.append_field(group_name(result, group));
      }
      text.append(',');
      text.append(truth_of(gap));
      text.append('\n');
    }
  }
  return std::string(text.text());
}

std::string groups_csv(const FairnessResult& result) {
  TextBuffer text;
  text.append("labels,measure,positive,group,tasks,rate,low,high,truth\n");
  for (const auto& labelling : result.study.labellings) {
    for (const Gap& gap : labelling.gaps) {
      for (std::size_t g = 0; g < gap.rates.size(); ++g) {
        text.append(labelling.name);
        text.append(',');
        text.append(to_string(gap.measure));
        text.append(',');
        text.append_field(result.data.answers.class_names()[index(gap.positive)]);
        text.append(',');
        text.append_field(group_name(result, GroupId(g)));
        text.append(',');
        text.append_count(gap.tasks[g]);
        append_estimate(text, gap.rates[g]);
        text.append(',');
        text.append(truth_of(gap));
        text.append('\n');
      }
    }
  }
  return std::string(text.text());
}

bool write_bias(OutputFile& file, const FairnessResult& result, const RunContext& context) {
  file.append("worker,group,reference,positive,answers,reference_answers");
  for (const char* rate : {"false_positive", "true_positive", "positive", "accuracy"}) {
    file.append(fmt::format(",{0}_gap,{0}_low,{0}_high", rate));
  }
  file.append(",tail,biased\n");
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t i = begin; i < end; ++i) {
      const WorkerBias& bias = result.study.workers[i];
      text.append_field(result.data.answers.worker_names()[index(bias.worker)]);
      text.append(',');
      text.append_field(group_name(result, bias.group));
      text.append(',');
      text.append_field(group_name(result, result.study.reference));
      text.append(',');
      text.append_field(result.data.answers.class_names()[index(bias.positive)]);
      text.append(',');
      text.append_count(bias.answers);
      text.append(',');
      text.append_count(bias.reference_answers);
      for (const Estimate* gap :
           {&bias.false_positive_rate, &bias.true_positive_rate, &bias.positive_rate, &bias.accuracy}) {
        append_estimate(text, *gap);
      }
      text.append(',');
      text.append_number(std::isnan(bias.false_positive_rate.value) ? bias.false_positive_rate.value : bias.tail);
      text.append(bias.biased ? ",yes\n" : ",no\n");
    }
  };
  return write_rows(file, {result.study.workers.size(), 20, "writing workers"}, format, context);
}

bool write_fair_labels(OutputFile& file, const FairnessResult& result, const RunContext& context) {
  const CategoryAnswers& answers = result.data.answers;
  const auto& limited = result.study.limited;
  file.append(limited ? "task,group,label,probability,label_before,label_by_group,probability_by_group\n"
                      : "task,group,label,probability,label_by_group,probability_by_group\n");
  const auto fields = class_fields(answers.class_names());
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t t = begin; t < end; ++t) {
      const std::size_t label = index(limited ? limited->labels[t] : result.fit.labels[t]);
      const std::size_t by_group = index(result.study.labels_fit.labels[t]);
      text.append_field(answers.task_names()[t]);
      text.append(',');
      if (result.groups.of_task[t] != kNoGroup) text.append_field(group_name(result, result.groups.of_task[t]));
      text.append(',');
      text.append(fields[label]);
      text.append(',');
      text.append_probability(result.fit.posterior_of(TaskId(t))[label]);
      if (limited) {
        text.append(',');
        text.append(fields[index(result.fit.labels[t])]);
      }
      text.append(',');
      text.append(fields[by_group]);
      text.append(',');
      text.append_probability(result.study.labels_fit.posterior_of(TaskId(t))[by_group]);
      text.append('\n');
    }
  };
  return write_rows(file, {answers.task_count(), 8, "writing labels"}, format, context);
}

bool write_assignment(OutputFile& file, const FairnessResult& result, const RunContext& context) {
  const PlannedAssignment& assigned = *result.assignment;
  file.append("task,group,worker\n");
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t i = begin; i < end; ++i) {
      const AssignedAnswer& answer = assigned.answers[i];
      text.append_field(assigned.tasks[answer.task]);
      text.append(',');
      text.append_field(group_name(result, assigned.groups[answer.task]));
      text.append(',');
      text.append_field(result.data.answers.worker_names()[index(answer.worker)]);
      text.append('\n');
    }
  };
  return write_rows(file, {assigned.answers.size(), 3, "writing assignment"}, format, context);
}

FairnessJson number(double value) { return std::isfinite(value) ? FairnessJson(value) : FairnessJson(nullptr); }

FairnessJson estimate_json(const Estimate& e) {
  return {{"value", number(e.value)}, {"low", number(e.low)}, {"high", number(e.high)}};
}

FairnessJson gaps_json(const FairnessResult& result) {
  FairnessJson list = FairnessJson::array();
  for (const auto& labelling : result.study.labellings) {
    for (const Gap& gap : labelling.gaps) {
      FairnessJson entry = {{"labels", labelling.name},
                            {"measure", to_string(gap.measure)},
                            {"positive", result.data.answers.class_names()[index(gap.positive)]},
                            {"gap", estimate_json(gap.gap)},
                            {"highest", group_name(result, gap.highest)},
                            {"lowest", group_name(result, gap.lowest)},
                            {"truth", truth_of(gap)}};
      if (!gap.rates.empty()) {
        FairnessJson& rates = entry["rates"] = FairnessJson::array();
        for (const Estimate& rate : gap.rates) rates.push_back(estimate_json(rate));
      }
      list.push_back(std::move(entry));
    }
  }
  return list;
}

/// Those who are named, or else those nearest to it; the rest stands in workers.csv.
FairnessJson notable_workers(const FairnessResult& result) {
  constexpr std::size_t kMost = 50, kLeast = 5;
  std::vector<const WorkerBias*> order;
  for (const WorkerBias& bias : result.study.workers) {
    if (!std::isnan(bias.false_positive_rate.value)) order.push_back(&bias);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const WorkerBias* a, const WorkerBias* b) { return a->tail < b->tail; });
  FairnessJson list = FairnessJson::array();
  for (std::size_t i = 0; i < std::min(kMost, order.size()); ++i) {
    const WorkerBias& bias = *order[i];
    if (!bias.biased && i >= kLeast) break;
    list.push_back({{"worker", result.data.answers.worker_names()[index(bias.worker)]},
                    {"group", group_name(result, bias.group)},
                    {"positive", result.data.answers.class_names()[index(bias.positive)]},
                    {"answers", bias.answers + bias.reference_answers},
                    {"false_positive_gap", estimate_json(bias.false_positive_rate)},
                    {"true_positive_gap", estimate_json(bias.true_positive_rate)},
                    {"biased", bias.biased}});
  }
  return list;
}

FairnessJson model_json(const FairnessResult& result) {
  const FairnessStudy& study = result.study;
  FairnessJson model = {{"kappa", number(study.labels_fit.kappa)},
                        {"shared_prior", result.options.tables.shared_prior},
                        {"iterations", study.labels_fit.iterations},
                        {"status", to_string(study.labels_fit.status)}};
  if (!study.labels_fit.kappa_scores.empty()) {
    FairnessJson& scores = model["kappa_scores"] = FairnessJson::array();
    for (const auto& [kappa, score] : study.labels_fit.kappa_scores) {
      scores.push_back({{"kappa", kappa}, {"log_probability", score}});
    }
  }
  return model;
}

FairnessJson assignment_json(const FairnessResult& result) {
  const PlannedAssignment& assigned = *result.assignment;
  FairnessJson json = {{"answers_per_task", assigned.request.answers_per_task},
                       {"tasks", assigned.groups.size()},
                       {"limit", number(assigned.request.limit)},
                       {"feasible", assigned.plan.feasible}};
  if (!assigned.plan.feasible) {
    json["reason"] = assigned.plan.reason;
    json["smallest_gap"] = number(assigned.plan.smallest_gap);
    return json;
  }
  json["accuracy"] = assigned.plan.accuracy;
  json["gap_of_answers"] = assigned.plan.gap;
  FairnessJson& by_group = json["accuracy_by_group"] = FairnessJson::object();
  for (std::size_t g = 0; g < assigned.plan.group_accuracy.size(); ++g) {
    by_group[std::string(result.groups.names[g])] = number(assigned.plan.group_accuracy[g]);
  }
  return json;
}

FairnessJson record_of(const FairnessResult& result) {
  const FairnessStudy& study = result.study;
  const CategoryAnswers& answers = result.data.answers;
  FairnessJson record = {{"version", result.record.version}, {"kind", "fairness"}, {"command", result.record.command}};
  record["method"] = result.record.method;
  record["seed"] = result.record.seed;
  record["threads"] = result.record.threads;
  FairnessJson& data = record["data"] = FairnessJson::object();
  for (const auto& [role, path] : result.record.inputs) data[role] = path;
  data["hash"] = fmt::format("{:016x}", answers.content_hash());
  data["tasks"] = answers.task_count();
  data["workers"] = answers.worker_count();
  data["answer_count"] = answers.answer_count();
  data["gold_tasks"] = result.record.gold_tasks;
  record["group_column"] = result.group_column;
  FairnessJson& groups = record["groups"] = FairnessJson::array();
  for (std::size_t g = 0; g < result.groups.count(); ++g) {
    groups.push_back(
        {{"group", result.groups.names[g]}, {"tasks", study.group_tasks[g]}, {"gold_tasks", study.group_gold[g]}});
  }
  record["tasks_without_group"] = study.tasks_without_group;
  record["reference"] = group_name(result, study.reference);
  record["model"] = model_json(result);
  record["gaps"] = gaps_json(result);
  std::uint64_t biased = 0, judged = 0;
  for (const WorkerBias& bias : study.workers) {
    biased += bias.biased ? 1 : 0;
    judged += std::isnan(bias.false_positive_rate.value) ? 0 : 1;
  }
  record["workers"] = {
      {"rows", study.workers.size()}, {"judged", judged}, {"biased", biased}, {"notable", notable_workers(result)}};
  if (study.limited) {
    record["limited"] = {{"measure", to_string(result.options.limit->measure)},
                         {"limit", result.options.limit->limit},
                         {"randomised", result.options.limit->randomise},
                         {"gap", study.limited->gap},
                         {"gap_before", study.limited->gap_before},
                         {"expected_error", study.limited->expected_error},
                         {"expected_error_before", study.limited->expected_error_before},
                         {"changed", study.limited->changed}};
  }
  if (result.assignment) record["assignment"] = assignment_json(result);
  if (result.training) {
    const TrainingEffect& effect = *result.training;
    record["training"] = {{"network", effect.network},
                          {"tasks", effect.tasks},
                          {"accuracy_by_truth", number(effect.accuracy_by_truth)},
                          {"accuracy_by_labels", number(effect.accuracy_by_labels)},
                          {"parity_by_truth", number(effect.parity_by_truth)},
                          {"parity_by_labels", number(effect.parity_by_labels)}};
  }
  FairnessJson& warnings = record["warnings"] = FairnessJson::array();
  for (const auto* list : {&result.record.data_warnings, &study.warnings}) {
    for (const Warning& warning : *list) {
      warnings.push_back({{"code", warning.code},
                          {"message", warning.message},
                          {"remedy", warning.remedy},
                          {"severity", to_string(warning.severity)}});
    }
  }
  FairnessJson& timings = record["timings"] = FairnessJson::object();
  for (const auto& [stage, seconds] : result.record.timings) timings[stage] = seconds;
  return record;
}

}  // namespace

Status write_fairness(const FairnessResult& result, const std::string& directory, const RunContext& context) {
  OutputFolder folder(directory, "run.json");
  const auto whole = [](const std::string& text) {
    return [&text](OutputFile& file) {
      file.append(text);
      return true;
    };
  };
  const std::string gaps = gaps_csv(result), groups = groups_csv(result);
  const bool done =
      add_file(folder, "gaps.csv", whole(gaps)) && add_file(folder, "groups.csv", whole(groups)) &&
      add_file(folder, "workers.csv", [&](OutputFile& file) { return write_bias(file, result, context); }) &&
      add_file(folder, "labels.csv", [&](OutputFile& file) { return write_fair_labels(file, result, context); }) &&
      (!result.assignment || !result.assignment->plan.feasible ||
       add_file(folder, "assignment.csv", [&](OutputFile& file) { return write_assignment(file, result, context); }));
  if (!done) return Status::cancelled;
  folder.commit(record_of(result));
  return Status::converged;
}

std::string fairness_json(const FairnessResult& result) { return json_text(record_of(result)); }

std::string read_fairness(const std::string& folder) {
  const std::string path = folder + (folder.ends_with('/') ? "" : "/") + "run.json";
  std::string text = read_text_file(path);
  const FairnessJson record = nests_too_deep(text) ? FairnessJson() : FairnessJson::parse(text, nullptr, false);
  if (!record.is_object() || record.value("program", FairnessJson()) != "wisecrowd" ||
      record.value("kind", FairnessJson()) != "fairness") {
    throw Error(ErrorCode::bad_input,
                fmt::format("'{}' is no record of fairness: name a folder that `fairness` wrote", path));
  }
  return text;
}

}  // namespace wisecrowd
