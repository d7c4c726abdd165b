#include "features.hpp"
#include "hidden_scores.hpp"
#include "support.hpp"
#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/evaluate_numbers.hpp"
#include "wisecrowd/learn_numbers.hpp"
#include "wisecrowd/number_limits.hpp"

namespace wisecrowd::python {
namespace {

using NumberColumn = py::array_t<double, py::array::c_style | py::array::forcecast>;
using IdColumn = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;

py::array_t<double> to_matrix(std::vector<double> values, std::size_t columns) {
  const auto rows = static_cast<py::ssize_t>(values.size() / std::max<std::size_t>(columns, 1));
  return to_array(std::move(values), {rows, static_cast<py::ssize_t>(columns)});
}

/// rows × dimensions of answers, by code of task and worker; ids follow the order of the names given.
NumberAnswers number_answers(const IdColumn& tasks, const IdColumn& workers, const NumberColumn& values,
                             const py::array& task_names, const py::array& worker_names,
                             const std::vector<std::string>& dimensions, const std::string& duplicates) {
  const auto rows = static_cast<std::size_t>(tasks.size());
  if (static_cast<std::size_t>(workers.size()) != rows ||
      static_cast<std::size_t>(values.size()) != rows * dimensions.size()) {
    throw Error(ErrorCode::bad_input, "tasks, workers and values must have one row per answer");
  }
  std::vector<NumberAnswer> answers;
  answers.reserve(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    answers.push_back({TaskId{tasks.data()[i]}, WorkerId{workers.data()[i]},
                       std::span(values.data() + i * dimensions.size(), dimensions.size())});
  }
  return make_number_answers(answers, {names_from(task_names), names_from(worker_names), NameTable(dimensions)},
                             duplicate_policy(duplicates));
}

py::dict number_fit_dict(NumberFit fit) {
  py::dict dict;
  const std::size_t dimensions = fit.dimensions;
  dict["estimate"] = to_matrix(std::move(fit.estimate), dimensions);
  dict["deviation"] = to_matrix(std::move(fit.deviation), dimensions);
  dict["low"] = to_matrix(std::move(fit.low), dimensions);
  dict["high"] = to_matrix(std::move(fit.high), dimensions);
  dict["bias"] = to_matrix(std::move(fit.bias), dimensions);
  dict["scale"] = to_matrix(std::move(fit.scale), dimensions);
  if (!fit.slope.empty()) dict["slope"] = to_matrix(std::move(fit.slope), dimensions);
  py::list correlated;
  for (const CorrelatedWorkers& pair : fit.correlated) {
    correlated.append(
        py::make_tuple(index(pair.first), index(pair.second), pair.dimension, pair.correlation, pair.tasks));
  }
  dict["correlated"] = correlated;
  dict["iterations"] = fit.iterations;
  dict["status"] = to_str(to_string(fit.status));
  dict["warnings"] = to_list(fit.warnings);
  return dict;
}

py::dict score_dict(const NumberScore& score) {
  py::dict dict;
  dict["mae"] = score.absolute_error.value;
  dict["mae_low"] = score.absolute_error.low;
  dict["mae_high"] = score.absolute_error.high;
  dict["rmse"] = score.squared_error.value;
  dict["rmse_low"] = score.squared_error.low;
  dict["rmse_high"] = score.squared_error.high;
  dict["r_squared"] = score.r_squared;
  dict["bias"] = score.bias;
  dict["coverage"] = score.coverage;
  return dict;
}

py::dict learn_from_numbers(const NumberAnswers& answers, const py::object& features, const py::array& row_names,
                            const IdColumn& row_of_task, const std::string& method, const py::dict& parameters,
                            const py::dict& network, std::uint64_t seed, unsigned threads, const py::object& progress) {
  const Parameters checked = parameters_from(number_learning_method(method).parameters, parameters);
  const NetworkSpec spec = network_from(network);
  NumberLearningData data;
  data.crowd.answers = answers;
  data.features = features_from(features);
  data.row_names = names_from(row_names);
  data.split.assign(data.features.rows, Split::train);
  data.row_of_task.assign(row_of_task.data(), row_of_task.data() + row_of_task.size());
  Work work(seed, threads, progress);
  LearnedNumbers learned =
      work.run([&](const RunContext& context) { return learn_numbers(data, method, checked, spec, context); });
  py::dict dict = number_fit_dict(std::move(learned.crowd));
  dict["row_estimate"] = to_matrix(std::move(learned.row_estimate), answers.dimensions());
  dict["row_deviation"] = to_array(std::move(learned.row_deviation));
  add_curve(learned, dict);
  dict["regressor"] = std::const_pointer_cast<Regressor>(learned.regressor);
  return dict;
}

void define_number_learning(py::module_& module) {
  module.def("number_learning_methods", [] {
    py::list list;
    for (const LearnerInfo& info : number_learning_methods()) list.append(info_of(info));
    return list;
  });
  module.def("learn_numbers", &learn_from_numbers);
  py::class_<Regressor, std::shared_ptr<Regressor>>(module, "Regressor", "A trained network for numbers.")
      .def("predict",
           [](const Regressor& regressor, const py::object& given, unsigned threads) {
             const Features features = features_from(given);
             Work work(0, threads, py::none());
             return to_matrix(work.run([&](const RunContext& context) { return regressor.predict(features, context); }),
                              regressor.dimension_names().size());
           })
      .def("save", &Regressor::save);
  module.def("load_regressor", [](const std::string& folder, bool trust) {
    auto model = load_model(folder, RunContext(), {.trust = trust});
    if (!model.regressor) throw Error(ErrorCode::bad_input, folder + ": this model predicts classes, not numbers");
    return std::const_pointer_cast<Regressor>(model.regressor);
  });
}

}  // namespace

void define_numbers(py::module_& module) {
  define_number_learning(module);
  py::class_<NumberAnswers>(module, "NumberAnswers")
      .def_property_readonly("task_names", [](const NumberAnswers& a) { return to_objects(a.task_names()); })
      .def_property_readonly("worker_names", [](const NumberAnswers& a) { return to_objects(a.worker_names()); })
      .def_property_readonly("fingerprint", &NumberAnswers::content_hash)
      .def("__len__", [](const NumberAnswers& a) { return a.answer_count(); });
  module.def("number_answers", &number_answers);
  module.def("number_methods", [] {
    py::list list;
    for (const MethodInfo& info : methods_of<Numbers>()) list.append(info_of(info));
    return list;
  });
  module.attr("largest_number") = kLargestNumber;
  module.attr("default_number_method") = std::string(default_method_of<Numbers>());
  module.def("fit_numbers", [](const NumberAnswers& answers, const std::string& method, const py::dict& parameters,
                               const std::optional<NumberColumn>& gold, std::uint64_t seed, unsigned threads,
                               const py::object& progress) {
    const Parameters checked = parameters_from(method_of<Numbers>(method).parameters, parameters);
    NumberData data{.answers = answers, .gold = {}};
    if (gold) data.gold.assign(gold->data(), gold->data() + gold->size());
    Work work(seed, threads, progress);
    return number_fit_dict(
        work.run([&](const RunContext& context) { return aggregate(data, method, checked, context); }));
  });
  module.def("evaluate_numbers", [](const NumberColumn& estimate, const NumberColumn& low, const NumberColumn& high,
                                    const NumberColumn& gold, std::size_t dimensions) {
    const auto span = [](const NumberColumn& column) {
      return std::span(column.data(), static_cast<std::size_t>(column.size()));
    };
    const NumberEvaluation evaluation = evaluate_numbers(span(estimate), span(low), span(high), span(gold), dimensions);
    py::list scores;
    for (const NumberScore& score : evaluation.dimensions) scores.append(score_dict(score));
    return py::make_tuple(evaluation.tasks, evaluation.missing, scores);
  });
  module.def("compare_numbers", [](const NumberAnswers& answers, const std::vector<std::string>& methods,
                                   std::size_t folds, double share, std::uint64_t seed, unsigned threads) {
    return compare_by_hidden_answers<Numbers>(NumberData{.answers = answers, .gold = {}}, methods, folds, share, seed,
                                              threads, "log_density");
  });
}

}  // namespace wisecrowd::python
