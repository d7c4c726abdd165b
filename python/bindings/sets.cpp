#include "hidden_scores.hpp"
#include "report_frame.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/evaluate_sets.hpp"
#include "wisecrowd/set_methods.hpp"
#include "wisecrowd/set_result.hpp"

namespace wisecrowd::python {
namespace {

using SetIds = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;

/// Lists of sets from Python: classes one after the other, and where each set begins.
struct SetLists {
  std::vector<ClassId> members;
  std::vector<std::size_t> offsets{0};

  SetLists(const SetIds& sizes, const SetIds& classes) {
    for (py::ssize_t i = 0; i < classes.size(); ++i) {
      members.push_back(ClassId{static_cast<std::uint16_t>(classes.data()[i])});
    }
    for (py::ssize_t i = 0; i < sizes.size(); ++i) offsets.push_back(offsets.back() + sizes.data()[i]);
    if (offsets.back() != members.size()) throw Error(ErrorCode::bad_input, "sizes and classes of sets do not agree");
  }
  [[nodiscard]] std::size_t size() const { return offsets.size() - 1; }
  [[nodiscard]] std::span<const ClassId> operator[](std::size_t i) const {
    return std::span(members).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
};

/// Sets of tasks; `known` says which have one.
GoldSets gold_sets(const SetIds& known, const SetIds& sizes, const SetIds& classes) {
  const SetLists lists(sizes, classes);
  GoldSets gold;
  for (std::size_t t = 0; t < lists.size(); ++t) {
    auto& own = gold.emplace_back();
    if (known.data()[t] != 0) own.emplace(lists[t].begin(), lists[t].end());
  }
  return gold;
}
using GoldArguments = std::optional<std::tuple<SetIds, SetIds, SetIds>>;
GoldSets gold_sets(const GoldArguments& gold) {
  return gold ? gold_sets(std::get<0>(*gold), std::get<1>(*gold), std::get<2>(*gold)) : GoldSets{};
}

SetAnswers set_answers(const SetIds& tasks, const SetIds& workers, const SetIds& sizes, const SetIds& classes,
                       const py::array& task_names, const py::array& worker_names, const py::array& class_names,
                       const std::string& duplicates) {
  const SetLists lists(sizes, classes);
  const auto rows = static_cast<std::size_t>(tasks.size());
  if (static_cast<std::size_t>(workers.size()) != rows || lists.size() != rows) {
    throw Error(ErrorCode::bad_input, "tasks, workers and sets must have one row per answer");
  }
  std::vector<SetAnswer> answers;
  answers.reserve(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    answers.push_back({TaskId{tasks.data()[i]}, WorkerId{workers.data()[i]}, lists[i]});
  }
  return make_set_answers(answers, {names_from(task_names), names_from(worker_names), names_from(class_names)},
                          duplicate_policy(duplicates));
}

py::array_t<double> table_of(const std::vector<double>& values, std::size_t columns) {
  const auto rows = static_cast<py::ssize_t>(columns == 0 ? 0 : values.size() / columns);
  return to_array(values, {rows, static_cast<py::ssize_t>(columns)});
}

std::vector<std::uint32_t> codes_of(std::span<const ClassId> classes) {
  std::vector<std::uint32_t> codes;
  for (const ClassId label : classes) codes.push_back(static_cast<std::uint32_t>(label));
  return codes;
}

py::dict evaluation_dict(const SetEvaluation& evaluation) {
  py::dict dict;
  dict["tasks"] = evaluation.tasks;
  dict["missing"] = evaluation.missing;
  const auto add = [&](const char* name, const Estimate& estimate) {
    dict[name] = estimate.value;
    dict[py::str(std::string(name) + "_low")] = estimate.low;
    dict[py::str(std::string(name) + "_high")] = estimate.high;
  };
  add("exact_match", evaluation.exact_match);
  add("jaccard", evaluation.jaccard);
  add("micro_f1", evaluation.micro_f1);
  add("hamming", evaluation.hamming);
  dict["micro_precision"] = evaluation.micro_precision;
  dict["micro_recall"] = evaluation.micro_recall;
  dict["macro_f1"] = evaluation.macro_f1;
  py::list classes;
  for (const SetClassScore& own : evaluation.classes) {
    py::dict row;
    row["gold"] = own.gold;
    row["predicted"] = own.predicted;
    row["precision"] = own.precision();
    row["recall"] = own.recall();
    row["f1"] = own.f1();
    classes.append(row);
  }
  dict["classes"] = classes;
  return dict;
}

py::str make_set_report(const SetAnswers& answers, const SetFit& fit, const std::string& method,
                        const py::dict& parameters, const GoldArguments& gold, bool gold_seen, const std::string& title,
                        bool as_json, std::uint64_t seed, unsigned threads) {
  if (!as_json) check_report_page();
  SetData data{answers, gold_sets(gold)};
  validate(data);
  std::uint64_t known = 0;
  for (std::size_t t = 0; t < answers.task_count(); ++t) known += data.has_gold(TaskId(t)) ? 1 : 0;
  ReportFrame frame = report_frame(method_of<Sets>(method), parameters, seed, title, known, gold_seen);
  Work work(seed, threads, py::none());
  const std::string text = work.run([&](const RunContext& context) {
    SetResult result = make_result(std::move(data), fit, std::move(frame.record));
    if (result.record.gold_use == "evaluation") result.evaluation = evaluate_sets(result.fit, result.data.gold);
    return as_json ? report_json(result, frame.options, context) : report_html(result, frame.options, context);
  });
  return to_str(text);
}

void define_set_fit(py::module_& module) {
  py::class_<SetFit>(module, "SetFit")
      .def_property_readonly("offsets", [](const SetFit& f) { return to_array(f.offsets); })
      .def_property_readonly("candidates", [](const SetFit& f) { return to_array(codes_of(f.candidates)); })
      .def_property_readonly("probability", [](const SetFit& f) { return to_array(f.probability); })
      .def_property_readonly("known", [](const SetFit& f) { return to_array(f.known); })
      .def_property_readonly("class_prior", [](const SetFit& f) { return to_array(f.class_prior); })
      .def_property_readonly("sensitivity", [](const SetFit& f) { return table_of(f.sensitivity, f.class_count); })
      .def_property_readonly("specificity", [](const SetFit& f) { return table_of(f.specificity, f.class_count); })
      .def_readonly("threshold", &SetFit::threshold)
      .def_readonly("iterations", &SetFit::iterations)
      .def_readonly("explanation", &SetFit::explanation)
      .def_property_readonly("status", [](const SetFit& f) { return to_str(to_string(f.status)); })
      .def_property_readonly("warnings", [](const SetFit& f) { return to_list(f.warnings); });
}

py::list compare_sets(const SetAnswers& answers, const std::vector<std::string>& methods, std::size_t folds,
                      double share, std::uint64_t seed, unsigned threads) {
  return compare_by_hidden_answers<Sets>(SetData{answers, {}}, methods, folds, share, seed, threads);
}

}  // namespace

void define_sets(py::module_& module) {
  py::class_<SetAnswers>(module, "SetAnswers")
      .def_property_readonly("fingerprint", &SetAnswers::content_hash)
      .def("__len__", [](const SetAnswers& a) { return a.answer_count(); });
  define_set_fit(module);
  module.def("set_answers", &set_answers);
  module.def("set_methods", [] {
    py::list list;
    for (const MethodInfo& info : methods_of<Sets>()) list.append(info_of(info));
    return list;
  });
  module.attr("default_set_method") = std::string(default_method_of<Sets>());
  module.def("fit_sets",
             [](const SetAnswers& answers, const std::string& method, const py::dict& parameters,
                const GoldArguments& gold, std::uint64_t seed, unsigned threads, const py::object& progress) {
               const Parameters checked = parameters_from(method_of<Sets>(method).parameters, parameters);
               const SetData data{answers, gold_sets(gold)};
               Work work(seed, threads, progress);
               return work.run([&](const RunContext& context) { return aggregate(data, method, checked, context); });
             });
  module.def("evaluate_sets", [](const GoldArguments& predicted, const GoldArguments& gold, std::size_t classes) {
    return evaluation_dict(evaluate_sets(gold_sets(predicted), gold_sets(gold), classes));
  });
  module.def("compare_sets", &compare_sets);
  module.def("report_sets", &make_set_report);
}

}  // namespace wisecrowd::python
