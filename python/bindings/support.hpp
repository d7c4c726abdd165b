#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coding.hpp"
#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/category_answers.hpp"
#include "wisecrowd/parameters.hpp"
#include "wisecrowd/run_context.hpp"
#include "wisecrowd/task_groups.hpp"

namespace wisecrowd::python {

namespace py = pybind11;

/// The answers of a table, built once, and what building them found.
struct Answers {
  CategoryAnswers annotations;
  BuildReport report;
  std::vector<WorkerId> trusted;             ///< CategoryData::trusted
  std::vector<std::uint32_t> worker_groups;  ///< CategoryData::worker_groups
};

[[nodiscard]] py::object to_object(const ParameterValue& value);
/// A text of the engine as str; bytes that are no UTF-8 are replaced, never an error.
[[nodiscard]] py::str to_str(std::string_view text);
/// Names as an array of str objects.
[[nodiscard]] py::array to_objects(const NameTable& names);
/// The texts of an array of str objects.
[[nodiscard]] NameTable names_from(const py::array& objects);

/// A vector as an array that owns it: nothing is copied.
template <class T>
[[nodiscard]] py::array_t<T> to_array(std::vector<T> values, std::vector<py::ssize_t> shape = {}) {
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  if (shape.empty()) shape.push_back(static_cast<py::ssize_t>(owner->size()));
  T* const data = owner->data();
  const py::capsule keeper(owner.release(), [](void* held) { delete static_cast<std::vector<T>*>(held); });
  return py::array_t<T>(std::move(shape), data, keeper);
}

/// Classes as int32, -1 for none.
[[nodiscard]] py::array_t<std::int32_t> to_codes(std::span<const ClassId> classes);
[[nodiscard]] std::vector<ClassId> classes_from(const py::array_t<std::int32_t>& codes);

/// Pairs of code and text.
[[nodiscard]] py::list to_list(const std::vector<Warning>& warnings);
[[nodiscard]] py::list to_list(std::span<const ParameterSpec> specs);
/// Checked parameters from a dict; errors name the parameter, the value and what would have been right.
[[nodiscard]] Parameters parameters_from(std::span<const ParameterSpec> specs, const py::dict& given);
[[nodiscard]] py::dict to_dict(const Parameters& parameters);

/// What methods and selectors all say about themselves.
template <class Info>
[[nodiscard]] py::dict info_of(const Info& info) {
  py::dict entry;
  entry["name"] = info.name;
  entry["title"] = info.title;
  entry["summary"] = info.summary;
  entry["when_to_use"] = info.when_to_use;
  entry["reference"] = info.reference;
  entry["parameters"] = to_list(info.parameters);
  return entry;
}

/// "keep_last", "reject" or "repeat"; others are refused with what they mean.
[[nodiscard]] DuplicatePolicy duplicate_policy(const std::string& name);
[[nodiscard]] std::string duplicate_policy_name(DuplicatePolicy policy);

/// Runs long work without the interpreter's lock, and takes it now and then to show progress and to notice Ctrl-C.
class Work {
 public:
  /// `progress(stage, done, total, objective)` is called from the calling thread; None for none.
  Work(std::uint64_t seed, unsigned threads, py::object progress);

  template <class Function>
  auto run(Function&& function) {
    std::optional<decltype(function(*context_))> value;
    try {
      const py::gil_scoped_release unlocked;
      value.emplace(function(*context_));
    } catch (...) {
      if (failure_) throw std::move(*failure_);  // it was cancelled because of this
      throw;
    }
    if (failure_) throw std::move(*failure_);
    return std::move(*value);
  }

 private:
  void look(const Progress& progress);

  py::object progress_;
  std::atomic<bool> cancel_{false};
  std::optional<py::error_already_set> failure_;
  std::chrono::steady_clock::time_point last_look_;
  std::unique_ptr<RunContext> context_;
};

void define_report(py::module_& module);
void define_tables(py::module_& module);
void define_answers(py::module_& module);
void define_category_fit(py::module_& module);
void define_fits(py::module_& module);
void define_crowd_loss(py::module_& module);
void define_question_loop(py::module_& module);
void define_tools(py::module_& module);
void define_state(py::module_& module);
void define_asking(py::module_& module);
void define_trust(py::module_& module);
void define_numbers(py::module_& module);
void define_similarities(py::module_& module);
void define_comparisons(py::module_& module);
void define_sets(py::module_& module);
void define_sequences(py::module_& module);
void define_fairness(py::module_& module);
void define_platforms(py::module_& module);
/// Groups of tasks from codes, -1 for none.
[[nodiscard]] TaskGroups task_groups(const py::array_t<std::int32_t, py::array::c_style | py::array::forcecast>& codes,
                                     const py::array& names);

}  // namespace wisecrowd::python
