#include <exception>

#include "judges.hpp"
#include "support.hpp"
#include "wisecrowd/answer_columns.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/learn.hpp"
#include "wisecrowd/method_needs.hpp"
#include "wisecrowd/ordered_classes.hpp"
#include "wisecrowd/simulate.hpp"
#include "wisecrowd/task_graph.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::python {

void define_answer_blocks(py::module_& module);

namespace {

using Codes = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;

std::span<PyObject* const> objects_of(const py::array& array) {
  if (array.ndim() != 1 || !array.dtype().is(py::dtype("O")) || (array.flags() & py::array::c_style) == 0) {
    throw py::type_error("a column must be a contiguous array of objects");
  }
  return {static_cast<PyObject* const*>(array.data()), static_cast<std::size_t>(array.size())};
}

/// One entry per column: Coded, or the row of the first value that is no str.
py::list code_columns(const std::vector<py::array>& columns, unsigned threads) {
  std::vector<std::span<PyObject* const>> values;
  for (const py::array& column : columns) values.push_back(objects_of(column));
  std::vector<Coded> coded(values.size());
  // The lock of the interpreter stays with this thread all the while: nobody can change the columns.
  const auto foreign = code_strings(values, coded, Team(threads));
  py::list result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (foreign[i]) {
      result.append(*foreign[i]);
    } else {
      result.append(std::make_shared<Coded>(std::move(coded[i])));
    }
  }
  return result;
}

/// The objects that stand for the different values of a column, taken from where each was first met. They lie anywhere
/// in memory, so those that are needed soon are fetched ahead.
py::array first_values(const Coded& coded, const py::array& column, unsigned threads) {
  constexpr std::size_t kSoon = 24, kPerJob = std::size_t{1} << 14;
  const auto values = objects_of(column);
  const auto& rows = coded.first_rows;
  py::array array(py::dtype("O"), static_cast<py::ssize_t>(rows.size()));
  auto** const items = static_cast<PyObject**>(array.mutable_data());
  for (const std::uint64_t row : rows) {
    if (row >= values.size()) throw py::index_error("the column is not the one that was coded");
  }
  // Different values are different objects, so no two threads count references of the same one.
  Team(threads).run((rows.size() + kPerJob - 1) / kPerJob, [&](std::size_t job, unsigned) {
    const std::size_t end = std::min(rows.size(), (job + 1) * kPerJob);
    for (std::size_t i = job * kPerJob; i < end; ++i) {
      if (i + 2 * kSoon < end) __builtin_prefetch(&values[rows[i + 2 * kSoon]]);
      if (i + kSoon < end) __builtin_prefetch(values[rows[i + kSoon]], 1);
      PyObject* const value = values[rows[i]];
      Py_INCREF(value);
      items[i] = value;
    }
  });
  return array;
}

/// Uses the columns up: their names are moved.
Answers make_answers(Coded& tasks, Coded& workers, Coded& labels, const std::string& duplicates, unsigned threads) {
  const DuplicatePolicy policy = duplicate_policy(duplicates);
  Work work(0, threads, py::none());
  return work.run([&](const RunContext& context) {
    Answers answers;
    answers.annotations = make_category_answers(
        {tasks.codes, workers.codes, labels.codes},
        {std::exchange(tasks.names, {}), std::exchange(workers.names, {}), std::exchange(labels.names, {})}, policy,
        context, &answers.report);
    return answers;
  });
}

/// A view of what the answers own.
template <class To, class From>
py::array_t<To> view(std::span<const From> values, const py::object& owner) {
  static_assert(sizeof(To) == sizeof(From));
  py::array_t<To> array(static_cast<py::ssize_t>(values.size()), reinterpret_cast<const To*>(values.data()), owner);
  array.attr("flags").attr("writeable") = false;
  return array;
}

py::tuple state_of(const py::object& self) {
  const auto& answers = self.cast<const Answers&>();
  const CategoryAnswers& a = answers.annotations;
  const BuildReport& r = answers.report;
  return py::make_tuple(view<std::uint32_t>(a.task_offsets(), self), view<std::uint32_t>(a.workers(), self),
                        view<std::uint16_t>(a.labels(), self), to_objects(a.task_names()), to_objects(a.worker_names()),
                        to_objects(a.class_names()), r.duplicates_dropped, r.duplicates_contradicting, r.repeats,
                        is_ordered(a));
}

Answers from_state(const py::tuple& state) {
  const auto offsets = state[0].cast<Codes>();
  const auto workers = state[1].cast<Codes>();
  const auto labels = state[2].cast<Codes>();
  std::vector<std::uint32_t> tasks(static_cast<std::size_t>(workers.size()));
  for (py::ssize_t t = 0; t + 1 < offsets.size(); ++t) {
    std::fill(tasks.begin() + offsets.at(t), tasks.begin() + offsets.at(t + 1), static_cast<std::uint32_t>(t));
  }
  Answers answers;
  const auto span = [](const Codes& codes) { return std::span(codes.data(), static_cast<std::size_t>(codes.size())); };
  answers.annotations =
      make_category_answers({tasks, span(workers), span(labels)},
                            {names_from(state[3].cast<py::array>()), names_from(state[4].cast<py::array>()),
                             names_from(state[5].cast<py::array>())},
                            DuplicatePolicy::repeat, RunContext());
  answers.report = {state[6].cast<std::uint64_t>(), state[7].cast<std::uint64_t>(), state[8].cast<std::uint64_t>()};
  if (state.size() > 9 && state[9].cast<bool>()) {  // older versions knew no order
    CategoryData data{.answers = answers.annotations};
    order_classes(data, true);
    answers.annotations = data.answers;
  }
  return answers;
}

using Weights = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Rows = py::array_t<float, py::array::c_style | py::array::forcecast>;

/// Joins tasks, by their numbers.
void set_graph(Answers& answers, const Codes& tasks, const Codes& neighbours, const Weights& weights) {
  std::vector<TaskEdge> edges;
  for (py::ssize_t e = 0; e < tasks.size(); ++e) edges.push_back({tasks.at(e), neighbours.at(e), weights.at(e)});
  answers.annotations = with_task_graph(answers.annotations, make_task_graph(edges, answers.annotations.task_count()));
}

/// Joins every task to those with the nearest features; `rows` has the row of each task, or a number beyond.
void set_nearest(Answers& answers, const Rows& given, const Codes& rows, std::size_t neighbours, unsigned threads) {
  Features features;
  features.rows = static_cast<std::size_t>(given.shape(0));
  features.shape = {static_cast<std::size_t>(given.shape(1))};
  features.dense.assign(given.data(), given.data() + given.size());
  require_finite(features);
  std::vector<std::uint32_t> row_of_task;
  for (py::ssize_t t = 0; t < rows.size(); ++t) {
    row_of_task.push_back(rows.at(t) < features.rows ? rows.at(t) : kNoRow);
  }
  Work work(0, threads, py::none());
  answers.annotations = work.run([&](const RunContext& context) {
    return with_task_graph(answers.annotations, nearest_neighbour_graph(features, row_of_task, neighbours, context));
  });
}

/// What aggregators and learners both say about themselves.
template <class Info>
py::dict method_info_of(const Info& info) {
  py::dict entry = info_of(info);
  entry["assumptions"] = info.assumptions;
  entry["cost"] = info.cost;
  entry["uses_gold"] = info.uses_gold;
  entry["max_classes"] = info.max_classes;
  return entry;
}

/// An option of the engine that is called otherwise here.
std::string with_keywords(std::string message) {
  constexpr std::string_view kOption = "`trust_model`", kKeyword = "trust=True";
  const std::size_t at = message.find(kOption);
  if (at != std::string::npos) message.replace(at, kOption.size(), kKeyword);
  return message;
}

void raise(PyObject* type, const char* message) {
  const std::string words = with_keywords(message);
  PyObject* const text = PyUnicode_DecodeUTF8(words.data(), static_cast<Py_ssize_t>(words.size()), "replace");
  if (text == nullptr) return;
  PyErr_SetObject(type, text);
  Py_DECREF(text);
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Error& error) {
    switch (error.code()) {
      case ErrorCode::bad_input:
      case ErrorCode::bad_parameter:
      case ErrorCode::unsupported: return raise(PyExc_ValueError, error.what());
      case ErrorCode::io: return raise(PyExc_OSError, error.what());
      case ErrorCode::internal: return raise(PyExc_RuntimeError, error.what());
    }
  } catch (const Cancelled&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  }
}

/// What is known of classes and tasks beyond the answers.
void define_structure(py::class_<Answers>& answers_class) {
  answers_class
      .def("order_classes",
           [](Answers& answers) {
             CategoryData data{.answers = answers.annotations};
             order_classes(data, true);
             answers.annotations = data.answers;
           })
      .def_property_readonly("ordered", [](const Answers& a) { return is_ordered(a.annotations); })
      .def("set_graph", &set_graph, py::arg("tasks"), py::arg("neighbours"), py::arg("weights"))
      .def("set_nearest", &set_nearest, py::arg("features"), py::arg("rows"), py::arg("neighbours"), py::arg("threads"))
      .def_property_readonly("edge_count", [](const Answers& a) {
        const auto graph = task_graph(a.annotations);
        return graph ? graph->edge_count() : 0;
      });
}

}  // namespace

void define_answers(py::module_& module) {
  py::class_<Coded, std::shared_ptr<Coded>>(module, "Coded", "A column whose values were replaced by numbers.")
      .def("__len__", [](const Coded& coded) { return coded.names.size(); })
      .def_property_readonly("codes",
                             [](const py::object& self) {
                               const auto& coded = self.cast<const Coded&>();
                               return view<std::uint32_t>(std::span<const std::uint32_t>(coded.codes), self);
                             })
      .def_property_readonly("first_rows",
                             [](const py::object& self) {
                               const auto& coded = self.cast<const Coded&>();
                               return view<std::uint64_t>(std::span<const std::uint64_t>(coded.first_rows), self);
                             })
      .def("first_values", &first_values, py::arg("column"), py::arg("threads"))
      .def_property_readonly("names", [](const Coded& coded) { return to_objects(coded.names); });
  module.def("code_columns", &code_columns, py::arg("columns"), py::arg("threads") = 0);
  module.def(
      "code_integers",
      [](const py::array_t<std::int64_t, py::array::c_style>& values) {
        const std::span span(values.data(), static_cast<std::size_t>(values.size()));
        const py::gil_scoped_release unlocked;
        return std::make_shared<Coded>(code_integers(span));
      },
      py::arg("values"));
  module.def(
      "given_codes",
      [](const Codes& codes, const py::array& names) {
        auto coded = std::make_shared<Coded>();
        coded->codes = PlainArray<std::uint32_t>(static_cast<std::size_t>(codes.size()));
        std::copy_n(codes.data(), codes.size(), coded->codes.data());
        coded->names = names_from(names);
        return coded;
      },
      py::arg("codes"), py::arg("names"));

  py::class_<Answers> answers_class(module, "Answers", "The answers of a crowd, validated and in task order.");
  define_structure(answers_class);
  answers_class
      .def(py::init(&make_answers), py::arg("tasks"), py::arg("workers"), py::arg("labels"), py::arg("duplicates"),
           py::arg("threads"))
      .def(py::pickle(&state_of, &from_state))
      .def(
          "name_workers",
          [](Answers& answers, const std::vector<std::uint32_t>& trusted, const std::vector<std::uint32_t>& groups) {
            answers.trusted.clear();
            for (const std::uint32_t worker : trusted) answers.trusted.push_back(WorkerId{worker});
            answers.worker_groups = groups;
          },
          py::arg("trusted"), py::arg("groups"))
      .def_property_readonly("task_count", [](const Answers& a) { return a.annotations.task_count(); })
      .def_property_readonly("worker_count", [](const Answers& a) { return a.annotations.worker_count(); })
      .def_property_readonly("class_count", [](const Answers& a) { return a.annotations.class_count(); })
      .def_property_readonly("answer_count", [](const Answers& a) { return a.annotations.answer_count(); })
      .def_property_readonly("duplicates_dropped", [](const Answers& a) { return a.report.duplicates_dropped; })
      .def_property_readonly("duplicates_contradicting",
                             [](const Answers& a) { return a.report.duplicates_contradicting; })
      .def_property_readonly("task_offsets",
                             [](const py::object& self) {
                               return view<std::uint32_t>(self.cast<const Answers&>().annotations.task_offsets(), self);
                             })
      .def_property_readonly("workers",
                             [](const py::object& self) {
                               return view<std::uint32_t>(self.cast<const Answers&>().annotations.workers(), self);
                             })
      .def_property_readonly("labels", [](const py::object& self) {
        return view<std::uint16_t>(self.cast<const Answers&>().annotations.labels(), self);
      });
}

void define_tables(py::module_& module) {
  module.def("aggregation_methods", [] {
    py::list list;
    for (const MethodInfo& info : aggregation_methods()) {
      py::dict entry = method_info_of(info);
      entry["uses_task_priors"] = info.uses_task_priors;
      entry["uses_start"] = info.uses_start;
      entry["uses_order"] = uses_order(info);
      entry["uses_task_graph"] = uses_task_graph(info);
      list.append(entry);
    }
    return list;
  });
  module.def("learning_methods", [] {
    py::list list;
    for (const LearnerInfo& info : learning_methods()) {
      py::dict entry = method_info_of(info);
      entry["linear_only"] = info.linear_only;
      list.append(entry);
    }
    return list;
  });
  module.def("simulation_kinds", [] {
    py::list list;
    for (const SimulationInfo& info : simulation_kinds()) {
      py::dict entry;
      entry["name"] = info.name;
      entry["summary"] = info.summary;
      entry["parameters"] = to_list(info.parameters);
      list.append(entry);
    }
    return list;
  });
  module.def("network_defaults", [] {
    const NetworkSpec spec;
    py::dict defaults;
    defaults["network"] = spec.kind;
    defaults["hidden"] = spec.hidden;
    defaults["layers"] = spec.layers;
    defaults["dropout"] = spec.dropout;
    return defaults;
  });
  module.attr("default_aggregation_method") = std::string(default_aggregation_method());
  module.attr("default_learning_method") = std::string(default_learning_method());
  module.attr("NO_GROUP") = CategoryFit::kNoGroup;
  module.attr("__version__") = WISECROWD_VERSION;
  // Arrays of numpy 2 look different inside, which pybind11 knows from 2.12 on.
  module.attr("numpy_2") = PYBIND11_VERSION_HEX >= 0x020C0000;
}

}  // namespace wisecrowd::python

PYBIND11_MODULE(_engine, module) {
  using namespace wisecrowd::python;
  module.doc() = "The C++ engine of wisecrowd. The package wisecrowd is made for people; this is what it stands on.";
  py::register_exception_translator(&translate);
  define_report(module);
  define_tables(module);
  define_answers(module);
  define_category_fit(module);
  define_fits(module);
  define_crowd_loss(module);
  define_question_loop(module);
  define_answer_blocks(module);
  define_tools(module);
  define_state(module);
  define_asking(module);
  define_trust(module);
  define_numbers(module);
  define_similarities(module);
  define_comparisons(module);
  define_sets(module);
  define_sequences(module);
  define_fairness(module);
  define_judges(module);
  define_platforms(module);
}
