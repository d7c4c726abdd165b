#include "row_times.hpp"
#include "support.hpp"
#include "table_columns.hpp"
#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/report.hpp"
#include "wisecrowd/trust_study.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::python {
namespace {

using Reals = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Codes = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;

AnswerOrder order_named(const std::string& name) {
  if (name == "rows") return AnswerOrder::rows;
  if (name == "numbers") return AnswerOrder::numbers;
  return name == "dates" ? AnswerOrder::dates : AnswerOrder::unknown;
}

/// The answers as they stood in the rows of a table.
std::vector<CategoryAnswer> answers_of_rows(const Codes& tasks, const Codes& workers, const Codes& labels) {
  std::vector<CategoryAnswer> list;
  for (py::ssize_t i = 0; i < tasks.size(); ++i) {
    list.push_back(
        {TaskId{tasks.data()[i]}, WorkerId{workers.data()[i]}, ClassId{static_cast<std::uint16_t>(labels.data()[i])}});
  }
  return list;
}

/// The page of a study, or its data as JSON.
std::string page_of(TrustRun run, const MethodInfo& info, bool as_json, const RunContext& context) {
  run.record.method = info.name;
  run.record.version = WISECROWD_VERSION;
  run.record.seed = context.seed();
  run.record.threads = context.threads();
  run.record.gold_use = run.data.has_gold() ? "inference" : "none";
  for (const ClassId gold : run.data.gold) run.record.gold_tasks += gold == kNoClass ? 0 : 1;
  const CategoryResult result = result_of(run, context);
  ReportOptions options;
  options.method_title = info.title;
  options.method_summary = info.summary;
  options.comparison_note = "Other methods were not run.";
  options.trust = std::move(run.study);
  return as_json ? report_json(result, options, context) : report_html(result, options, context);
}

/// The tables of a study by name; `rows`: codes of tasks, workers and labels by row, and times. `report`: "", "html" or
/// "json", to get a page, too.
py::dict trust_answers(const Answers& answers, const py::object& gold, const std::string& method,
                       const py::dict& method_parameters, const py::object& rows, const std::string& order,
                       const std::string& report, std::uint64_t seed, unsigned threads, const py::object& progress) {
  if (report == "html") check_report_page();
  const MethodInfo& info = aggregation_method(method);
  const Parameters parameters = parameters_from(info.parameters, method_parameters);
  CategoryData data{.answers = answers.annotations, .trusted = answers.trusted, .worker_groups = answers.worker_groups};
  if (!gold.is_none()) data.gold = classes_from(gold.cast<py::array_t<std::int32_t>>());
  AnswerTimes times;
  if (!rows.is_none()) {
    times = {order_named(order), times_of_rows(data.answers, rows)};
  }
  Work work(seed, threads, progress);
  struct Outcome {
    std::vector<ValueTable> tables;
    std::vector<std::string> limits;
    std::vector<Warning> warnings;
    std::string page;
  };
  Outcome outcome = work.run([&](const RunContext& context) {
    Dependence found =
        data.worker_groups.empty() ? find_dependence(data, {.list_attacked_tasks = true}, context) : given_groups(data);
    const KnownGroups known = knowing_groups(data, parameters, found, info.uses_gold);
    CategoryFit fit = aggregate(known.data, info.name, known.parameters, context);
    found.counted_once = fit.dependence && fit.dependence->counted_once;
    Outcome made;
    if (context.cancelled()) return made;
    TrustStudy study = study_trust(data, fit, std::move(found), times, context);
    made.tables = trust_tables(data.answers, study);
    made.limits = trust_limits(data, study);
    made.warnings = fit.warnings;
    if (report.empty() || context.cancelled()) return made;
    made.page = page_of({std::move(data), std::move(fit), std::move(times), std::move(study), {}}, info,
                        report == "json", context);
    return made;
  });
  py::dict result;
  result["tables"] = tables_by_name(std::move(outcome.tables));
  result["limits"] = outcome.limits;
  result["page"] = to_str(outcome.page);
  result["warnings"] = to_list(outcome.warnings);
  return result;
}

}  // namespace

std::vector<double> times_of_rows(const CategoryAnswers& answers, const py::object& rows) {
  const auto parts = rows.cast<py::tuple>();
  const auto list = answers_of_rows(parts[0].cast<Codes>(), parts[1].cast<Codes>(), parts[2].cast<Codes>());
  const auto given = parts[3].cast<Reals>();
  return times_in_order(answers, list, std::span(given.data(), list.size()));
}

void define_trust(py::module_& module) {
  module.def("trust", &trust_answers, py::arg("answers"), py::arg("gold"), py::arg("method"),
             py::arg("method_parameters"), py::arg("rows"), py::arg("order"), py::arg("report"), py::arg("seed"),
             py::arg("threads"), py::arg("progress"));
}

}  // namespace wisecrowd::python
