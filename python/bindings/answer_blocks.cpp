#include "wisecrowd/answer_blocks.hpp"

#include "support.hpp"

namespace wisecrowd::python {
namespace {

template <class T>
using Column = py::array_t<T, py::array::c_style>;

template <class T>
std::span<const T> span_of(const Column<T>& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

py::dict step_of_block(const Column<std::uint32_t>& offsets, const Column<std::uint32_t>& workers,
                       const Column<std::uint16_t>& labels, std::size_t worker_count, std::size_t classes,
                       const Column<double>& log_rows, const Column<double>& log_prior, bool with_posterior) {
  BlockSums sums;
  sums.counts.assign(worker_count * classes * classes, 0);
  sums.class_mass.assign(classes, 0);
  std::vector<double> posterior(with_posterior ? static_cast<std::size_t>(offsets.size() - 1) * classes : 0);
  {
    const AnswerBlock block{span_of(offsets), span_of(workers), span_of(labels)};
    const py::gil_scoped_release unlocked;
    add_block(block, classes, span_of(log_rows), span_of(log_prior), sums, posterior);
  }
  py::dict dict;
  dict["counts"] = to_array(std::move(sums.counts));
  dict["class_mass"] = to_array(std::move(sums.class_mass));
  dict["log_likelihood"] = sums.log_likelihood;
  dict["answered_tasks"] = sums.answered_tasks;
  if (with_posterior) {
    dict["posterior"] = to_array(std::move(posterior), {offsets.size() - 1, static_cast<py::ssize_t>(classes)});
  }
  return dict;
}

py::tuple rows_of_counts(const std::string& method, double first, double second, std::size_t classes,
                         const Column<std::int64_t>& counts) {
  if (method != "dawid_skene" && method != "one_coin") throw py::value_error("there are no blocks for " + method);
  const BlockModel model{method == "one_coin" ? BlockModel::Kind::one_accuracy : BlockModel::Kind::confusion, first,
                         second};
  std::vector<double> rows(static_cast<std::size_t>(counts.size()));
  const double objective = update_rows(model, classes, span_of(counts), rows);
  return py::make_tuple(to_array(std::move(rows)), objective);
}

}  // namespace

void define_answer_blocks(py::module_& module) {
  module.attr("COUNT_UNIT") = kCountUnit;
  module.attr("LOG_UNIT") = kLogUnit;
  module.def("step_of_block", &step_of_block, py::arg("offsets"), py::arg("workers"), py::arg("labels"),
             py::arg("worker_count"), py::arg("classes"), py::arg("log_rows"), py::arg("log_prior"),
             py::arg("with_posterior"));
  module.def("rows_of_counts", &rows_of_counts, py::arg("method"), py::arg("first"), py::arg("second"),
             py::arg("classes"), py::arg("counts"));
}

}  // namespace wisecrowd::python
