#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/math.hpp"
#include "base/output_folder.hpp"
#include "store/category_tables.hpp"
#include "store/value_tables.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/judge_files.hpp"
#include "wisecrowd/messages.hpp"

namespace wisecrowd {
namespace {

using JudgesJson = nlohmann::ordered_json;

JudgesJson finite(double value) { return std::isfinite(value) ? JudgesJson(value) : JudgesJson(nullptr); }

/// A row as an object.
JudgesJson row_json(const ValueTable& table, std::size_t row) {
  JudgesJson json = JudgesJson::object();
  for (const TableColumn& column : table.columns) {
    JudgesJson& cell = json[column.name];
    if (const auto* texts = std::get_if<std::vector<std::string>>(&column.values)) cell = (*texts)[row];
    if (const auto* numbers = std::get_if<std::vector<double>>(&column.values)) cell = finite((*numbers)[row]);
    if (const auto* counts = std::get_if<std::vector<std::uint64_t>>(&column.values)) cell = (*counts)[row];
    if (const auto* flags = std::get_if<std::vector<bool>>(&column.values)) cell = static_cast<bool>((*flags)[row]);
  }
  return json;
}

JudgesJson judges_record(const JudgeRun& run) {
  const JudgeStudy& study = run.study;
  JudgesJson record = {{"version", run.record.version}, {"kind", "judges"}, {"command", run.record.command}};
  record["seed"] = run.record.seed;
  record["threads"] = run.record.threads;
  JudgesJson& data = record["data"] = JudgesJson::object();
  for (const auto& [role, path] : run.record.inputs) data[role] = path;
  data["answers_kind"] = to_string(run.data.kind);
  data["tasks"] = run.data.tasks.size();
  data["workers"] = run.data.workers.size();
  data["machines"] = study.judges.size();
  data["answer_count"] = run.data.answers.size();
  data["people_tasks"] = study.people_tasks;
  JudgesJson& classes = data["classes"] = JudgesJson::array();
  for (std::size_t k = 0; k < run.data.class_count(); ++k) classes.push_back(run.data.classes[k]);
  record["target_width"] = run.options.target_width;
  record["fit"] = {{"iterations", study.fit.iterations},
                   {"status", to_string(study.fit.status)},
                   {"log_likelihood", finite(study.fit.log_likelihood)}};
  record["agreement"] = {{"people_alpha", finite(study.agreement.people)},
                         {"machines_alpha", finite(study.agreement.machines)},
                         {"everybody_alpha", finite(study.agreement.everybody)},
                         {"people_agree", finite(study.agreement.people_agree)}};
  for (const ValueTable& table : judge_tables(run.data, study)) {
    if (table.name == "labels") continue;  // one row per task: labels.csv
    JudgesJson& rows = record[table.name] = JudgesJson::array();
    for (std::size_t r = 0; r < table.rows(); ++r) rows.push_back(row_json(table, r));
  }
  JudgesJson& warnings = record["warnings"] = JudgesJson::array();
  for (const auto* list : {&run.record.data_warnings, &study.warnings}) {
    for (const Warning& warning : *list) {
      warnings.push_back({{"code", warning.code},
                          {"message", warning.message},
                          {"remedy", warning.remedy},
                          {"severity", to_string(warning.severity)}});
    }
  }
  JudgesJson& timings = record["timings"] = JudgesJson::object();
  for (const auto& [stage, seconds] : run.record.timings) timings[stage] = seconds;
  return record;
}

}  // namespace

std::string judged_preferences(const JudgeData& data, const MixedCrowdFit& fit) {
  if (data.kind != JudgedKind::comparisons) {
    throw Error(ErrorCode::bad_input, "preferences are made of comparisons: these answers are of another kind");
  }
  std::string lines;
  for (std::size_t t = 0; t < data.tasks.size(); ++t) {
    const auto q = fit.posterior_of(TaskId(t));
    if (index(fit.label_of(TaskId(t))) == 2 || !(q[0] + q[1] > 0)) continue;
    const bool first = q[0] >= q[1];
    const double p = std::max(q[0], q[1]) / (q[0] + q[1]);
    const ItemPair& pair = data.pairs[t];
    const JudgesJson line = {{"prompt", data.asked[t]},
                             {"chosen", data.items[index(first ? pair.first : pair.second)]},
                             {"rejected", data.items[index(first ? pair.second : pair.first)]},
                             {"probability", p},
                             {"margin", math::log(p / std::max(1 - p, 1e-12))},
                             {"weight", 2 * p - 1}};
    lines += line.dump(-1, ' ', false, JudgesJson::error_handler_t::replace) + "\n";
  }
  return lines;
}

Status write_judges(const JudgeRun& run, const std::string& directory, const RunContext& context) {
  OutputFolder folder(directory, "run.json");
  for (const ValueTable& table : judge_tables(run.data, run.study)) {
    if (table.rows() == 0) continue;
    const bool complete = add_file(folder, table.name + ".csv",
                                   [&](OutputFile& file) { return store::write_value_table(file, table, context); });
    if (!complete) return Status::cancelled;
  }
  if (run.data.kind == JudgedKind::comparisons) {
    const std::string lines = judged_preferences(run.data, run.study.fit);
    const bool complete = add_file(folder, "preferences.jsonl", [&](OutputFile& file) {
      file.append(lines);
      return true;
    });
    if (!complete) return Status::cancelled;
  }
  folder.commit(judges_record(run));
  return Status::converged;
}

std::string judges_json(const JudgeRun& run) { return json_text(judges_record(run)); }

}  // namespace wisecrowd
