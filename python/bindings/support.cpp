#include "support.hpp"

#include <algorithm>
#include <array>

#include "wisecrowd/error.hpp"
#include "wisecrowd/messages.hpp"

namespace wisecrowd::python {

py::object to_object(const ParameterValue& value) {
  return std::visit([](const auto& held) -> py::object { return py::cast(held); }, value);
}

namespace {

[[noreturn]] void refuse(const ParameterSpec& spec, const py::handle& value) {
  throw Error(ErrorCode::bad_parameter, "parameter '" + spec.name + "': " + std::string(py::repr(value)) +
                                            " will not do: it takes " + describe_range(spec));
}

/// A number of Python or numpy, whatever its width.
double number_from(const ParameterSpec& spec, const py::handle& value) {
  const double number = PyBool_Check(value.ptr()) ? -1 : PyFloat_AsDouble(value.ptr());
  if (PyBool_Check(value.ptr()) || PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse(spec, value);
  }
  return number;
}

/// Whether one of the choices is a list of shares, which stands for any such list. Names have no commas.
bool takes_shares(const ParameterSpec& spec) {
  return std::any_of(spec.choices.begin(), spec.choices.end(),
                     [](const std::string& choice) { return choice.find(',') != std::string::npos; });
}

/// A list or an array of numbers as the text that the engine reads.
std::string shares_from(const ParameterSpec& spec, const py::handle& value) {
  if (!py::isinstance<py::iterable>(value)) refuse(spec, value);
  std::string text;
  for (const py::handle& share : py::iter(value)) {
    if (!text.empty()) text += ',';
    text += py::repr(py::float_(number_from(spec, share))).cast<std::string>();
  }
  return text;
}

ParameterValue value_from(const ParameterSpec& spec, const py::handle& value) {
  if (std::holds_alternative<std::string>(spec.default_value)) {
    if (!PyUnicode_Check(value.ptr()) && takes_shares(spec)) return shares_from(spec, value);
    if (!PyUnicode_Check(value.ptr())) refuse(spec, value);
    return value.cast<std::string>();
  }
  if (std::holds_alternative<bool>(spec.default_value)) {
    const bool is_flag =
        PyBool_Check(value.ptr()) ||
        py::str(py::type::handle_of(value)).cast<std::string>().find("numpy.bool") != std::string::npos;
    if (!is_flag) refuse(spec, value);
    return PyObject_IsTrue(value.ptr()) == 1;
  }
  const double number = number_from(spec, value);
  if (std::holds_alternative<double>(spec.default_value)) return number;
  if (PyIndex_Check(value.ptr())) {
    const auto integer = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    const long long exact = integer ? PyLong_AsLongLong(integer.ptr()) : -1;
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      refuse(spec, value);
    }
    return std::int64_t{exact};
  }
  if (!(number >= -9e15 && number <= 9e15) || number != static_cast<double>(static_cast<std::int64_t>(number))) {
    refuse(spec, value);
  }
  return static_cast<std::int64_t>(number);
}

}  // namespace

py::str to_str(std::string_view text) {
  PyObject* const made = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(made);
}

py::array to_objects(const NameTable& names) {
  py::array array(py::dtype("O"), static_cast<py::ssize_t>(names.size()));
  auto** const items = static_cast<PyObject**>(array.mutable_data());
  for (std::size_t i = 0; i < names.size(); ++i) {
    PyObject* const old = items[i];
    items[i] = to_str(names[i]).release().ptr();
    Py_XDECREF(old);
  }
  return array;
}

NameTable names_from(const py::array& objects) {
  const auto* const items = static_cast<PyObject* const*>(objects.data());
  std::string characters, scratch;
  std::vector<std::uint64_t> offsets{0};
  offsets.reserve(static_cast<std::size_t>(objects.size()) + 1);
  for (py::ssize_t i = 0; i < objects.size(); ++i) {
    const auto text = text_of(items[i], scratch);
    if (!text) throw py::type_error("names must be str");
    characters.append(*text);
    offsets.push_back(characters.size());
  }
  return NameTable(std::move(characters), std::move(offsets));
}

py::array_t<std::int32_t> to_codes(std::span<const ClassId> classes) {
  std::vector<std::int32_t> codes(classes.size());
  std::transform(classes.begin(), classes.end(), codes.begin(),
                 [](ClassId k) { return k == kNoClass ? -1 : static_cast<std::int32_t>(k); });
  return to_array(std::move(codes));
}

std::vector<ClassId> classes_from(const py::array_t<std::int32_t>& codes) {
  std::vector<ClassId> classes(static_cast<std::size_t>(codes.size()));
  const std::int32_t* const data = codes.data();
  for (std::size_t i = 0; i < classes.size(); ++i) {
    classes[i] = data[i] < 0 ? kNoClass : ClassId(static_cast<std::uint16_t>(data[i]));
  }
  return classes;
}

py::list to_list(const std::vector<Warning>& warnings) {
  py::list list;
  for (const Warning& warning : warnings) list.append(py::make_tuple(to_str(warning.code), to_str(full_text(warning))));
  return list;
}

py::list to_list(std::span<const ParameterSpec> specs) {
  py::list list;
  for (const ParameterSpec& spec : specs) {
    py::dict entry;
    entry["name"] = spec.name;
    entry["default"] = to_object(spec.default_value);
    entry["minimum"] = spec.minimum;
    entry["maximum"] = spec.maximum;
    entry["choices"] = spec.choices;
    entry["range"] = describe_range(spec);
    entry["help"] = spec.help;
    entry["former_names"] = spec.former_names;
    list.append(entry);
  }
  return list;
}

Parameters parameters_from(std::span<const ParameterSpec> specs, const py::dict& given) {
  Parameters parameters(specs);
  for (const auto& [key, value] : given) {
    const auto name = key.cast<std::string>();
    const auto spec =
        std::find_if(specs.begin(), specs.end(), [&](const ParameterSpec& s) { return is_called(s, name); });
    // Unknown ones are refused by set(), which says what there is.
    if (spec == specs.end()) {
      parameters.set(name, "");
    } else {
      parameters.set_value(name, value_from(*spec, value));
    }
  }
  for (const std::string& note : parameters.notes()) {
    if (PyErr_WarnEx(PyExc_FutureWarning, note.c_str(), 1) != 0) throw py::error_already_set();
  }
  return parameters;
}

py::dict to_dict(const Parameters& parameters) {
  py::dict dict;
  for (const auto& [name, value] : parameters.all()) dict[to_str(name)] = to_object(value);
  return dict;
}

DuplicatePolicy duplicate_policy(const std::string& name) {
  if (const auto policy = find_in(kDuplicatePolicyNames, name)) return *policy;
  throw Error(ErrorCode::bad_parameter,
              "duplicates='" + name +
                  "': choose keep_last, reject or repeat: what to do when a worker answered a task more than once");
}

std::string duplicate_policy_name(DuplicatePolicy policy) {
  std::string name(to_string(policy));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

Work::Work(std::uint64_t seed, unsigned threads, py::object progress) : progress_(std::move(progress)) {
  RunOptions options;
  options.seed = seed;
  options.threads = threads;
  options.cancel = &cancel_;
  options.on_progress = [this](const Progress& report) { look(report); };
  context_ = std::make_unique<RunContext>(options);
}

void Work::look(const Progress& report) {
  constexpr auto kBetween = std::chrono::milliseconds(50);
  const auto now = std::chrono::steady_clock::now();
  if (now - last_look_ < kBetween || failure_) return;
  last_look_ = now;
  const py::gil_scoped_acquire locked;
  try {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!progress_.is_none()) {
      progress_(to_str(report.stage), report.done, report.total,
                report.has_objective ? py::cast(report.objective) : py::object(py::none()));
    }
  } catch (py::error_already_set& error) {
    failure_.emplace(std::move(error));
    cancel_.store(true, std::memory_order_relaxed);
  }
}

}  // namespace wisecrowd::python
