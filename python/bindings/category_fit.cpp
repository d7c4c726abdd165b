#include <functional>

#include "support.hpp"
#include "wisecrowd/evaluate.hpp"
#include "wisecrowd/messages.hpp"

namespace wisecrowd::python {
namespace {

/// One field of a fit, as Python sees it. Attributes, copies with changes and pickles are all made from one list.
struct Field {
  const char* name;
  std::function<py::object(const CategoryFit&, const py::object& self)> get;
  std::function<void(CategoryFit&, const py::handle&)> set;
};

template <class Value, class Class>
Field plain(const char* name, Value Class::*member) {
  return {name, [member](const CategoryFit& fit, const py::object&) { return py::cast(fit.*member); },
          [member](CategoryFit& fit, const py::handle& given) { fit.*member = given.cast<Value>(); }};
}

template <class Class>
Field text(const char* name, std::string Class::*member) {
  return {name, [member](const CategoryFit& fit, const py::object&) { return py::object(to_str(fit.*member)); },
          [member](CategoryFit& fit, const py::handle& given) { fit.*member = given.cast<std::string>(); }};
}

/// Numbers of the fit where they lie; `shape` tells their axes. None for none where `optional`.
template <class Value>
Field array(const char* name, std::vector<Value> CategoryFit::*member, bool optional,
            std::vector<py::ssize_t> (*shape)(const CategoryFit&)) {
  return {name,
          [=](const CategoryFit& fit, const py::object& self) -> py::object {
            const std::vector<Value>& values = fit.*member;
            if (optional && values.empty()) return py::none();
            return py::array_t<Value>(shape(fit), values.data(), self);
          },
          [=](CategoryFit& fit, const py::handle& given) {
            (fit.*member).clear();
            if (given.is_none()) return;
            const auto values = given.cast<py::array_t<Value, py::array::c_style | py::array::forcecast>>();
            (fit.*member).assign(values.data(), values.data() + values.size());
          }};
}

py::ssize_t side(std::size_t count) { return static_cast<py::ssize_t>(count); }
std::vector<py::ssize_t> by_task_and_class(const CategoryFit& fit) {
  return {side(fit.task_count), side(fit.class_count)};
}
std::vector<py::ssize_t> by_class(const CategoryFit& fit) { return {side(fit.class_prior.size())}; }
std::vector<py::ssize_t> by_worker(const CategoryFit& fit) { return {side(fit.worker_count)}; }
std::vector<py::ssize_t> by_task(const CategoryFit& fit) { return {side(fit.task_count)}; }
std::vector<py::ssize_t> tables(const CategoryFit& fit) {
  return {side(fit.worker_count), side(fit.class_count), side(fit.class_count)};
}

Status status_named(const std::string& name) {
  for (const Status status : {Status::converged, Status::iteration_limit, Status::cancelled}) {
    if (to_string(status) == name) return status;
  }
  throw py::value_error("there is no status '" + name + "'");
}

Field status_field() {
  return {"status",
          [](const CategoryFit& fit, const py::object&) { return py::cast(std::string(to_string(fit.status))); },
          [](CategoryFit& fit, const py::handle& given) { fit.status = status_named(given.cast<std::string>()); }};
}

Field tie_rule_field() {
  return {"tie_rule",
          [](const CategoryFit& fit, const py::object&) { return py::cast(std::string(to_string(fit.tie_rule))); },
          [](CategoryFit& fit, const py::handle& given) { fit.tie_rule = tie_rule_named(given.cast<std::string>()); }};
}

Field labels_field() {
  return {"labels", [](const CategoryFit& fit, const py::object&) { return py::object(to_codes(fit.labels)); },
          [](CategoryFit& fit, const py::handle& given) {
            fit.labels =
                classes_from(given.cast<py::array_t<std::int32_t, py::array::c_style | py::array::forcecast>>());
          }};
}

/// None when the method has none.
Field log_likelihood_field() {
  return {"log_likelihood",
          [](const CategoryFit& fit, const py::object&) {
            return fit.has_log_likelihood ? py::cast(fit.log_likelihood) : py::object(py::none());
          },
          [](CategoryFit& fit, const py::handle& given) {
            fit.has_log_likelihood = !given.is_none();
            fit.log_likelihood = fit.has_log_likelihood ? given.cast<double>() : 0;
          }};
}

/// Tuples of code, message, remedy and severity.
Field warnings_field() {
  return {"warnings",
          [](const CategoryFit& fit, const py::object&) {
            py::list list;
            for (const Warning& warning : fit.warnings) {
              list.append(py::make_tuple(to_str(warning.code), to_str(warning.message), to_str(warning.remedy),
                                         std::string(to_string(warning.severity))));
            }
            return py::object(list);
          },
          [](CategoryFit& fit, const py::handle& given) {
            fit.warnings.clear();
            using Entry = std::tuple<std::string, std::string, std::string, std::string>;
            for (const auto& [code, message, remedy, severity] : given.cast<std::vector<Entry>>()) {
              fit.warnings.push_back({code, message, remedy, severity_named(severity)});
            }
          }};
}

Field learned_field() {
  return {"learned",
          [](const CategoryFit& fit, const py::object&) {
            py::dict dict;
            for (const auto& [name, value] : fit.learned) dict[to_str(name)] = value;
            return py::object(dict);
          },
          [](CategoryFit& fit, const py::handle& given) {
            fit.learned.clear();
            for (const auto& [name, value] : given.cast<py::dict>()) {
              fit.learned.emplace_back(name.cast<std::string>(), value.cast<double>());
            }
          }};
}

/// Who counts as one voice: a label per worker, or None if everybody is on its own.
Field voices_field() {
  return {"voices",
          [](const CategoryFit& fit, const py::object&) {
            if (!fit.dependence || !fit.dependence->counted_once) return py::object(py::none());
            return py::cast(fit.dependence->voices);
          },
          [](CategoryFit& fit, const py::handle& given) {
            if (given.is_none()) return;
            fit.dependence.emplace();
            fit.dependence->voices = given.cast<std::vector<std::uint32_t>>();
            fit.dependence->counted_once = true;
          }};
}

/// All there is. Sizes come first: shapes follow from them.
const std::vector<Field>& fields() {
  static const std::vector<Field> list = {
      plain("task_count", &CategoryFit::task_count),
      plain("worker_count", &CategoryFit::worker_count),
      plain("class_count", &CategoryFit::class_count),
      array("posterior", &CategoryFit::posterior, false, by_task_and_class),
      plain("posterior_is_averaged", &CategoryFit::posterior_is_averaged),
      labels_field(),
      tie_rule_field(),
      array("class_prior", &CategoryFit::class_prior, false, by_class),
      array("confusion", &CategoryFit::confusion, true, tables),
      array("skill", &CategoryFit::skill, true, by_worker),
      array("worker_group", &CategoryFit::worker_group, true, by_worker),
      voices_field(),
      text("task_score_name", &CategoryFit::task_score_name),
      array("task_score", &CategoryFit::task_score, true, by_task),
      text("objective_name", &CategoryFit::objective_name),
      plain("objective_is_monotone", &CategoryFit::objective_is_monotone),
      plain("trace", &CategoryFit::trace),
      log_likelihood_field(),
      plain("iterations", &CategoryFit::iterations),
      plain("seconds_per_iteration", &CategoryFit::seconds_per_iteration),
      status_field(),
      warnings_field(),
      text("explanation", &CategoryFit::explanation),
      learned_field(),
  };
  return list;
}

py::dict fields_of(const py::object& self) {
  const auto& fit = self.cast<const CategoryFit&>();
  py::dict dict;
  for (const Field& field : fields()) dict[field.name] = field.get(fit, self);
  return dict;
}

CategoryFit fit_from(const py::dict& given) {
  CategoryFit fit;
  for (const Field& field : fields()) field.set(fit, given[field.name]);
  return fit;
}

}  // namespace

void define_category_fit(py::module_& module) {
  py::class_<CategoryFit, std::shared_ptr<CategoryFit>> fit(module, "CategoryFit", "What a method found: a value.");
  for (const Field& field : fields()) {
    fit.def_property_readonly(field.name, py::cpp_function([get = field.get](const py::object& self) {
                                return get(self.cast<const CategoryFit&>(), self);
                              }));
  }
  fit.def_property_readonly("warning_texts", [](const CategoryFit& value) { return to_list(value.warnings); });
  fit.def("fields", &fields_of, "All fields by their names.");
  fit.def(
      "replaced",
      [](const py::object& self, const py::kwargs& changes) {
        py::dict all = fields_of(self);
        for (const auto& [name, value] : changes) {
          if (!all.contains(name)) throw py::type_error("a fit has no field " + name.cast<std::string>());
          all[name] = value;
        }
        return fit_from(all);
      },
      "A copy with some fields changed.");
  fit.def(py::pickle(&fields_of, &fit_from));
}

}  // namespace wisecrowd::python
