#include "wisecrowd/crowd_loss.hpp"

#include "features.hpp"
#include "support.hpp"

namespace wisecrowd::python {
namespace {

using Rows = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;
using Reals = py::array_t<double, py::array::c_style>;
using Codes = py::array_t<std::int32_t, py::array::c_style | py::array::forcecast>;

std::span<const double> span_of(const Reals& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

/// A loss with what it is about.
class Criterion {
 public:
  Criterion(LearningData data, const std::string& method, const py::dict& parameters, std::uint64_t seed,
            unsigned threads)
      : data_(std::move(data)), context_(RunOptions{.seed = seed, .threads = threads}) {
    loss_ = make_crowd_loss(data_, method, parameters_from(learning_method(method).parameters, parameters), context_);
  }
  [[nodiscard]] CrowdLoss& loss() { return *loss_; }
  [[nodiscard]] const LearningData& data() const { return data_; }

 private:
  LearningData data_;
  RunContext context_;
  std::unique_ptr<CrowdLoss> loss_;
};

std::unique_ptr<Criterion> make_criterion(const Answers& answers, const py::object& features,
                                          const py::array& row_names, const Rows& row_of_task,
                                          const py::array_t<bool>& hidden, const std::string& method,
                                          const py::dict& parameters, const std::optional<Codes>& gold,
                                          std::uint64_t seed, unsigned threads) {
  LearningData data;
  data.crowd =
      CategoryData{.answers = answers.annotations, .trusted = answers.trusted, .worker_groups = answers.worker_groups};
  if (gold) data.crowd.gold = classes_from(*gold);
  data.features = features_from(features);
  data.row_names = names_from(row_names);
  data.split.assign(data.features.rows, Split::train);
  for (py::ssize_t row = 0; row < hidden.size(); ++row) {
    if (hidden.at(row)) data.split.at(static_cast<std::size_t>(row)) = Split::valid;
  }
  data.row_of_task.assign(row_of_task.data(), row_of_task.data() + row_of_task.size());
  return std::make_unique<Criterion>(std::move(data), method, parameters, seed, threads);
}

/// A function of Python that gives the network's outputs for all tasks.
CrowdLoss::Fill filling(const py::object& function, const char* name) {
  return [function, name](std::span<double> out) {
    if (function.is_none()) {
      throw py::value_error(
          std::string("this method infers labels between epochs, so it asks what the network says: give ") + name +
          "=, a function that returns its outputs for all rows");
    }
    const auto values = function().cast<py::array_t<double, py::array::c_style | py::array::forcecast>>();
    if (static_cast<std::size_t>(values.size()) != out.size()) {
      throw py::value_error(std::string(name) + ": the network must give " + std::to_string(out.size()) +
                            " numbers, but gives " + std::to_string(values.size()));
    }
    std::copy_n(values.data(), out.size(), out.begin());
  };
}

CrowdLoss::Epoch epoch_of(std::size_t number, std::size_t total, const py::object& predict, const py::object& sample) {
  return {
      .number = number, .total = total, .predict = filling(predict, "predict"), .sample = filling(sample, "sample")};
}

double loss_of_batch(Criterion& criterion, const Rows& tasks, const Reals& outputs, Reals& gradients) {
  if (gradients.size() != outputs.size()) throw py::value_error("gradients are as many as outputs");
  const std::span<const std::uint32_t> batch(tasks.data(), static_cast<std::size_t>(tasks.size()));
  const std::span<double> out(gradients.mutable_data(), static_cast<std::size_t>(gradients.size()));
  const py::gil_scoped_release unlocked;
  return criterion.loss().loss(batch, span_of(outputs), out);
}

py::dict conclusion(Criterion& criterion, const Reals& outputs) {
  Learned learned = criterion.loss().conclude(span_of(outputs));
  py::dict dict;
  const auto classes = static_cast<py::ssize_t>(learned.crowd.class_count);
  const auto rows = static_cast<py::ssize_t>(criterion.data().features.rows);
  dict["row_probabilities"] = to_array(std::move(learned.row_probabilities), {rows, classes});
  dict["answer_reliability"] = learned.answer_reliability.empty()
                                   ? py::object(py::none())
                                   : py::object(to_array(std::move(learned.answer_reliability)));
  dict["fit"] = std::move(learned.crowd);
  return dict;
}

}  // namespace

void define_crowd_loss(py::module_& module) {
  module.def("crowd_losses", &crowd_losses, "The learners that are a loss on a network's outputs.");
  py::class_<Criterion>(module, "CrowdLoss", "The loss of answers at the outputs of a network.")
      .def(py::init(&make_criterion), py::arg("answers"), py::arg("features"), py::arg("row_names"),
           py::arg("row_of_task"), py::arg("hidden"), py::arg("method"), py::arg("parameters"), py::arg("gold"),
           py::arg("seed"), py::arg("threads"))
      .def_property_readonly("outputs", [](Criterion& c) { return c.loss().outputs(); })
      .def_property_readonly(
          "rows", [](Criterion& c) { return to_array(std::vector(c.loss().rows().begin(), c.loss().rows().end())); })
      .def_property_readonly(
          "hidden_rows",
          [](Criterion& c) {
            return to_array(std::vector(c.loss().hidden_rows().begin(), c.loss().hidden_rows().end()));
          })
      .def("begin_epoch",
           [](Criterion& c, std::size_t number, std::size_t total, const py::object& predict,
              const py::object& sample) { c.loss().begin_epoch(epoch_of(number, total, predict, sample)); })
      .def("end_epoch", [](Criterion& c, std::size_t number, std::size_t total, const py::object& predict,
                           const py::object& sample) { c.loss().end_epoch(epoch_of(number, total, predict, sample)); })
      .def("end_training",
           [](Criterion& c, std::size_t number, std::size_t total, const py::object& predict,
              const py::object& sample) { c.loss().end_training(epoch_of(number, total, predict, sample)); })
      .def("loss", &loss_of_batch, py::arg("tasks"), py::arg("outputs").noconvert(), py::arg("gradients").noconvert())
      .def("step", [](Criterion& c, double pace) { c.loss().step(pace); })
      .def("hidden_likelihoods",
           [](Criterion& c, const Reals& outputs) { return to_array(c.loss().hidden_likelihoods(span_of(outputs))); })
      .def("classify", [](Criterion& c, const Reals& outputs) { return to_array(c.loss().classify(span_of(outputs))); })
      .def("conclude", &conclusion);
}

}  // namespace wisecrowd::python
