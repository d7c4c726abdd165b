#include "judges.hpp"

#include <optional>
#include <string>

#include "table_columns.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/judge_files.hpp"
#include "wisecrowd/judge_groups.hpp"
#include "wisecrowd/read_judges.hpp"

namespace wisecrowd::python {
namespace {

/// A table as (name, text), text None for a file.
std::optional<JudgeTable> table_from(const py::object& given) {
  if (given.is_none()) return std::nullopt;
  const auto pair = given.cast<std::pair<std::string, std::optional<std::string>>>();
  return JudgeTable{pair.first, pair.second};
}

ClassId class_named(const JudgeData& data, const std::string& name) {
  for (std::size_t k = 0; k < data.class_count(); ++k) {
    if (data.classes[k] == name) return ClassId(k);
  }
  throw Error(ErrorCode::bad_parameter, "`positive` is '" + name + "', which is no class of the answers");
}

JudgeReadOptions reading_from(const py::dict& given) {
  JudgeReadOptions options;
  options.ordered = given["ordered"].cast<bool>();
  options.machines = given["machines"].cast<std::vector<std::string>>();
  options.classes = given["classes"].cast<std::vector<std::string>>();
  options.lenient = given["lenient"].cast<bool>();
  const auto columns = given["columns"].cast<std::vector<std::string>>();
  if (columns.size() >= 3) {
    options.task_column = columns[0];
    options.worker_column = columns[1];
    options.label_column = columns.back();
  }
  if (columns.size() == 5) options.value_columns = {columns[2], columns[3]};
  return options;
}

py::dict study_of_judges(const py::dict& tables, const py::dict& given, std::uint64_t seed, unsigned threads,
                         const py::object& progress) {
  JudgeInputs inputs;
  inputs.answers = table_from(tables["answers"]).value();
  inputs.machine_answers = table_from(tables["machine_answers"]);
  inputs.workers = table_from(tables["workers"]);
  inputs.items = table_from(tables["items"]);
  inputs.gold = table_from(tables["gold"]);
  const JudgeReadOptions reading = reading_from(given);
  JudgeStudyOptions options;
  options.target_width = given["target_width"].cast<double>();
  options.next = given["next"].cast<std::uint64_t>();
  options.crowd.families = !given["independent"].cast<bool>();
  const auto positive = given["positive"].cast<std::string>();
  Work work(seed, threads, progress);
  JudgeRun run;
  work.run([&](const RunContext& context) {
    DataReport report;
    run.data = read_judges(inputs, reading, context, &report);
    if (!positive.empty()) options.positive = class_named(run.data, positive);
    if (options.crowd.families) find_judge_families(run.data, context);
    run.study = study_judges(run.data, options, context);
    run.study.warnings.insert(run.study.warnings.begin(), report.warnings.begin(), report.warnings.end());
    return 0;
  });
  py::dict out;
  out["tables"] = tables_by_name(judge_tables(run.data, run.study));
  out["kind"] = std::string(to_string(run.data.kind));
  py::dict agreement;
  agreement["people_alpha"] = run.study.agreement.people;
  agreement["machines_alpha"] = run.study.agreement.machines;
  agreement["everybody_alpha"] = run.study.agreement.everybody;
  agreement["people_agree"] = run.study.agreement.people_agree;
  out["agreement"] = agreement;
  out["people_tasks"] = run.study.people_tasks;
  out["preferences"] =
      run.data.kind == JudgedKind::comparisons ? to_str(judged_preferences(run.data, run.study.fit)) : to_str("");
  py::list warnings;
  for (const Warning& warning : run.study.warnings) {
    warnings.append(
        py::make_tuple(warning.code, warning.message + (warning.remedy.empty() ? "" : " " + warning.remedy)));
  }
  out["warnings"] = warnings;
  return out;
}

}  // namespace

void define_judges(py::module_& module) {
  module.def("study_judges", &study_of_judges, py::arg("tables"), py::arg("options"), py::arg("seed"),
             py::arg("threads"), py::arg("progress"));
}

}  // namespace wisecrowd::python
