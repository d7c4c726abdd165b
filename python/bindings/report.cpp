#include "wisecrowd/report.hpp"

#include "report_frame.hpp"
#include "wisecrowd/learn.hpp"
#include "wisecrowd/learn_numbers.hpp"

namespace wisecrowd::python {
namespace {

using Codes = py::array_t<std::int32_t, py::array::c_style | py::array::forcecast>;

/// What a report says of learning; scores are those of the answered tasks, which the report measures itself.
LearnSummary learned_from(const py::dict& found, const py::dict& network) {
  LearnSummary learned;
  learned.network.kind = network["network"].cast<std::string>();
  learned.network.hidden = network["hidden"].cast<std::size_t>();
  learned.network.layers = network["layers"].cast<std::size_t>();
  learned.network.dropout = network["dropout"].cast<double>();
  learned.rows = learned.train_rows = static_cast<std::size_t>(found["row_probabilities"].cast<Reals>().shape(0));
  const auto objective = reals(found["curve_objective"]), held_out = reals(found["curve_held_out"]);
  for (std::size_t e = 0; e < objective.size(); ++e) learned.curve.push_back({objective[e], held_out[e]});
  learned.epochs = found["epochs"].cast<std::size_t>();
  learned.chosen_epoch = found["chosen_epoch"].cast<std::size_t>();
  return learned;
}

/// The page, or the data alone. `gold` was part of inference when `gold_seen`, otherwise the labels are scored on it.
py::str make_report(const Answers& answers, const CategoryFit& fit, const std::string& method,
                    const py::dict& parameters, const std::optional<py::dict>& network,
                    const std::optional<py::dict>& found, const std::optional<Codes>& gold, bool gold_seen,
                    const std::string& title, bool compare, bool as_json, std::uint64_t seed, unsigned threads,
                    const py::object& progress) {
  if (!as_json) check_report_page();
  CategoryData data{.answers = answers.annotations};
  if (gold) data.gold = classes_from(*gold);
  RunRecord record;
  record.version = WISECROWD_VERSION;
  record.method = method;
  record.seed = seed;
  ReportOptions options;
  options.title = title;
  const auto describe_method = [&](const auto& info) {
    options.method_title = info.title;
    options.method_summary = info.summary;
    const Parameters checked = parameters_from(info.parameters, parameters);
    for (const auto& [name, value] : checked.all()) record.parameters.emplace_back(name, value);
  };
  if (network) {
    describe_method(learning_method(method));
    options.learned = learned_from(*found, *network);
  } else {
    describe_method(aggregation_method(method));
  }
  for (const ClassId truth : data.gold) record.gold_tasks += truth != kNoClass ? 1 : 0;
  if (record.gold_tasks > 0) record.gold_use = gold_seen ? "inference" : "evaluation";
  Work work(seed, threads, progress);
  const std::string text = work.run([&](const RunContext& context) {
    const CategoryResult result = make_result(std::move(data), fit, std::move(record), context);
    const std::size_t cells = result.data.answers.answer_count() * result.data.answers.class_count();
    if (compare && cells > 0 && cells <= kQuickFitCells) {
      CategoryData seen = result.data;
      if (!gold_seen) seen.gold.clear();
      options.comparison = compare_with(result, quick_fits(seen, result.record.method, context), context);
    } else if (compare) {
      options.comparison_note = "Other methods were not run, because that would take more than a second or two.";
    }
    return as_json ? report_json(result, options, context) : report_html(result, options, context);
  });
  return to_str(text);
}

/// The same of a fit to numbers, as fit_numbers returned it; `gold` is tasks × dimensions.
py::str make_number_report(const NumberAnswers& answers, const py::dict& found, const std::string& method,
                           const py::dict& parameters, const std::optional<Reals>& gold, bool gold_seen,
                           const std::string& title, bool as_json, std::uint64_t seed, unsigned threads,
                           const py::object& progress) {
  if (!as_json) check_report_page();
  const bool learned = found.contains("row_estimate");
  const EntryInfo& info = learned ? static_cast<const EntryInfo&>(number_learning_method(method))
                                  : static_cast<const EntryInfo&>(method_of<Numbers>(method));
  NumberData data{.answers = answers, .gold = gold ? reals(*gold) : std::vector<double>{}};
  validate(data);
  NumberFit fit;
  fit.task_count = answers.task_count();
  fit.worker_count = answers.worker_count();
  fit.dimensions = answers.dimensions();
  fit.estimate = reals(found["estimate"]);
  fit.deviation = reals(found["deviation"]);
  fit.low = reals(found["low"]);
  fit.high = reals(found["high"]);
  fit.bias = reals(found["bias"]);
  fit.scale = reals(found["scale"]);
  if (found.contains("slope")) fit.slope = reals(found["slope"]);
  fit.iterations = found["iterations"].cast<std::size_t>();
  fit.warnings = warnings_from(found["warnings"]);
  std::uint64_t known = 0;
  for (std::size_t i = 0; i < answers.task_count(); ++i) known += data.has_gold(TaskId(i)) ? 1 : 0;
  ReportFrame frame = report_frame(info, parameters, seed, title, known, gold_seen);
  Work work(seed, threads, progress);
  const std::string text = work.run([&](const RunContext& context) {
    const NumberResult result = make_result(std::move(data), std::move(fit), std::move(frame.record));
    return as_json ? report_json(result, frame.options, context) : report_html(result, frame.options, context);
  });
  return to_str(text);
}

}  // namespace

void define_report(py::module_& module) {
  module.def("report", &make_report);
  module.def("report_numbers", &make_number_report);
}

}  // namespace wisecrowd::python
