#include "features.hpp"
#include "support.hpp"
#include "torch_networks.hpp"
#include "wisecrowd/answered_rows.hpp"
#include "wisecrowd/category_result.hpp"
#include "wisecrowd/cleaning.hpp"
#include "wisecrowd/learn.hpp"
#include "wisecrowd/training_effect.hpp"

namespace wisecrowd::python {
namespace {

using Reals = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Floats = py::array_t<float, py::array::c_style | py::array::forcecast>;
using Codes = py::array_t<std::int32_t, py::array::c_style | py::array::forcecast>;

template <class T>
std::vector<T> to_vector(const py::array_t<T, py::array::c_style | py::array::forcecast>& array) {
  return std::vector<T>(array.data(), array.data() + array.size());
}

CategoryData dataset_from(const Answers& answers, const std::optional<Codes>& gold) {
  CategoryData data{.answers = answers.annotations, .trusted = answers.trusted, .worker_groups = answers.worker_groups};
  if (gold) data.gold = classes_from(*gold);
  return data;
}

CategoryFit aggregate_answers(const Answers& answers, const std::string& method, const py::dict& parameters,
                              const std::optional<Codes>& gold, const std::optional<Reals>& start, std::uint64_t seed,
                              unsigned threads, const py::object& progress) {
  const Parameters checked = parameters_from(aggregation_method(method).parameters, parameters);
  const CategoryData data = dataset_from(answers, gold);
  CategoryStart begin;
  if (start) begin.posterior = {start->data(), static_cast<std::size_t>(start->size())};
  Work work(seed, threads, progress);
  return work.run([&](const RunContext& context) {
    CategoryFit fit = aggregate(data, method, checked, context, begin);
    // The default warns of all that it can find; others are often run in a row on the same answers.
    if (fit.dependence) {
      for (Warning& warning : dependence_warnings(data, *fit.dependence)) fit.warnings.push_back(std::move(warning));
    }
    return fit;
  });
}

/// Answers without those of some workers, and what was left out.
struct CleanedAnswers {
  Answers answers;
  Cleaning cleaning;
};

CleanedAnswers clean_answers(const Answers& answers, const std::string& without, const std::optional<Codes>& gold,
                             unsigned threads) {
  const CleaningRequest request = cleaning_request(without);
  const CategoryData data = dataset_from(answers, gold);
  Work work(0, threads, py::none());
  Cleaned rest = work.run([&](const RunContext& context) { return cleaned(data, request, context); });
  CleanedAnswers result{answers, std::move(rest.cleaning)};
  result.answers.annotations = std::move(rest.data.answers);
  return result;
}

/// Columns: the number of the worker, reason, why, answers left out, answers that stay.
py::tuple left_out_columns(const Cleaning& cleaning) {
  py::list workers, reasons, whys, out, kept;
  for (const LeftOutWorker& worker : cleaning.workers) {
    workers.append(index(worker.worker));
    reasons.append(to_str(worker.reason));
    whys.append(to_str(worker.why));
    out.append(worker.answers);
    kept.append(worker.kept);
  }
  return py::make_tuple(workers, reasons, whys, out, kept);
}

/// What is known of the workers, whatever the method: the same columns as workers.csv.
py::dict summarise(const Answers& answers, const CategoryFit& fit, const std::optional<Codes>& gold, unsigned threads) {
  const CategoryData data = dataset_from(answers, gold);
  Work work(0, threads, py::none());
  auto [confusion, workers] = work.run([&](const RunContext& context) {
    auto tables = worker_confusion(data, fit, context);
    auto summaries = summarise_workers(data, fit, tables, context);
    return std::pair(std::move(tables), std::move(summaries));
  });
  py::dict dict;
  const auto column = [&](const char* name, auto member) {
    using Value = std::remove_cvref_t<decltype(WorkerSummary{}.*member)>;
    std::vector<Value> values;
    for (const WorkerSummary& worker : workers) values.push_back(worker.*member);
    dict[name] = to_array(std::move(values));
  };
  column("answers", &WorkerSummary::answers);
  column("accuracy", &WorkerSummary::accuracy);
  column("accuracy_low", &WorkerSummary::accuracy_low);
  column("accuracy_high", &WorkerSummary::accuracy_high);
  column("informativeness", &WorkerSummary::informativeness);
  if (gold) {
    column("gold_answers", &WorkerSummary::gold_answers);
    column("gold_accuracy", &WorkerSummary::gold_accuracy);
    column("gold_accuracy_low", &WorkerSummary::gold_accuracy_low);
    column("gold_accuracy_high", &WorkerSummary::gold_accuracy_high);
  }
  const auto side = static_cast<py::ssize_t>(fit.class_count);
  const auto count = static_cast<py::ssize_t>(fit.worker_count);
  py::object tables = py::none();
  if (!confusion.empty() || count * side == 0) tables = to_array(std::move(confusion), {count, side, side});
  return py::dict(py::arg("workers") = dict, py::arg("confusion") = tables);
}

}  // namespace

Features features_from(const py::object& given) {
  Features features;
  if (py::isinstance<py::tuple>(given)) {
    const auto parts = given.cast<py::tuple>();
    features.offsets = to_vector<std::uint64_t>(
        parts[0].cast<py::array_t<std::uint64_t, py::array::c_style | py::array::forcecast>>());
    features.indices = to_vector<std::uint32_t>(
        parts[1].cast<py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>>());
    features.values = to_vector<float>(parts[2].cast<Floats>());
    features.shape = {parts[3].cast<std::size_t>()};
    features.rows = features.offsets.size() - 1;
    return features;
  }
  const auto array = given.cast<Floats>();
  features.rows = static_cast<std::size_t>(array.shape(0));
  for (py::ssize_t axis = 1; axis < array.ndim(); ++axis) {
    features.shape.push_back(static_cast<std::size_t>(array.shape(axis)));
  }
  features.dense = to_vector<float>(array);
  return features;
}

NetworkSpec network_from(const py::dict& given) {
  NetworkSpec network;
  network.kind = given["network"].cast<std::string>();
  network.hidden = given["hidden"].cast<std::size_t>();
  network.layers = given["layers"].cast<std::size_t>();
  network.dropout = given["dropout"].cast<double>();
  if (given.contains("module")) network.foreign = python_networks(given["module"]);
  return network;
}

namespace {

py::dict learn_answers(const Answers& answers, const py::object& features, const py::array& row_names,
                       const py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>& row_of_task,
                       const std::string& method, const py::dict& parameters, const py::dict& network,
                       const std::optional<Codes>& gold, std::uint64_t seed, unsigned threads,
                       const py::object& progress) {
  const Parameters checked = parameters_from(learning_method(method).parameters, parameters);
  const NetworkSpec spec = network_from(network);
  LearningData data;
  data.crowd = dataset_from(answers, gold);
  data.features = features_from(features);
  data.row_names = names_from(row_names);
  data.split.assign(data.features.rows, Split::train);
  data.row_of_task = to_vector<std::uint32_t>(row_of_task);
  Work work(seed, threads, progress);
  Learned learned = work.run([&](const RunContext& context) { return learn(data, method, checked, spec, context); });

  const auto classes = static_cast<py::ssize_t>(answers.annotations.class_count());
  py::dict dict;
  dict["fit"] = std::move(learned.crowd);
  dict["row_probabilities"] =
      to_array(std::move(learned.row_probabilities), {static_cast<py::ssize_t>(data.features.rows), classes});
  dict["answer_reliability"] = learned.answer_reliability.empty()
                                   ? py::object(py::none())
                                   : py::object(to_array(std::move(learned.answer_reliability)));
  add_curve(learned, dict);
  dict["held_out_per_task"] = to_array(std::move(learned.held_out_per_task));
  dict["classifier"] = std::const_pointer_cast<Classifier>(learned.classifier);
  return dict;
}

py::dict effect_of_training(const Answers& answers, const py::object& features, const py::array& row_names,
                            const py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>& row_of_task,
                            const Codes& labels, const Codes& gold, const Codes& groups, const py::array& group_names,
                            std::uint16_t positive, const py::dict& network, std::size_t folds, std::uint64_t seed,
                            unsigned threads, const py::object& progress) {
  LearningData data;
  data.crowd.answers = answers.annotations;
  data.features = features_from(features);
  data.row_names = names_from(row_names);
  data.split.assign(data.features.rows, Split::train);
  data.row_of_task = to_vector<std::uint32_t>(row_of_task);
  const TaskGroups of_tasks = task_groups(groups, group_names);
  const auto targets = classes_from(labels);
  const auto truth = classes_from(gold);
  const NetworkSpec spec = network_from(network);
  Work work(seed, threads, progress);
  const TrainingEffect effect = work.run([&](const RunContext& context) {
    return training_effect(data, targets, truth, of_tasks, ClassId{positive}, spec, context, folds);
  });
  py::dict dict;
  dict["tasks"] = effect.tasks;
  dict["accuracy_by_truth"] = effect.accuracy_by_truth;
  dict["accuracy_by_labels"] = effect.accuracy_by_labels;
  dict["parity_by_truth"] = effect.parity_by_truth;
  dict["parity_by_labels"] = effect.parity_by_labels;
  return dict;
}

py::dict posterior_of_rows(const Classifier& classifier, const py::object& given, const Answers& answers,
                           const py::array& row_names, unsigned threads) {
  const Features features = features_from(given);
  const NameTable rows = names_from(row_names);
  Work work(0, threads, py::none());
  MatchedAnswers matched;
  auto probabilities = work.run([&](const RunContext& context) {
    matched = match_answers(classifier, answers.annotations, rows);
    return posterior(classifier, features, matched.answers, context);
  });
  py::dict dict;
  dict["probabilities"] = to_array(std::move(probabilities), {static_cast<py::ssize_t>(features.rows),
                                                              static_cast<py::ssize_t>(classifier.class_count())});
  dict["unknown_workers"] = matched.unknown_workers.size();
  dict["unknown_tasks"] = matched.unknown_tasks.size();
  return dict;
}

py::array_t<double> reliability_of_rows(const Classifier& classifier, const py::object& given, unsigned threads) {
  const Features features = features_from(given);
  const std::size_t workers = known_workers(classifier).size();
  std::vector<RowWorker> pairs;
  for (std::uint32_t row = 0; row < features.rows; ++row) {
    for (std::size_t j = 0; j < workers; ++j) pairs.push_back({row, WorkerId(j)});
  }
  Work work(0, threads, py::none());
  auto found = work.run([&](const RunContext& context) { return reliability(classifier, features, pairs, context); });
  return to_array(std::move(found), {static_cast<py::ssize_t>(features.rows), static_cast<py::ssize_t>(workers)});
}

py::dict draw_rows(const Classifier& classifier, const py::object& given, std::size_t draws, std::uint64_t seed,
                   unsigned threads) {
  const Features features = features_from(given);
  Work work(seed, threads, py::none());
  Draws found = work.run([&](const RunContext& context) { return draw(classifier, features, draws, context); });
  py::dict dict;
  dict["probabilities"] =
      to_array(std::move(found.probabilities),
               {static_cast<py::ssize_t>(features.rows), static_cast<py::ssize_t>(classifier.class_count())});
  dict["entropy"] = to_array(std::move(found.entropy));
  dict["mutual_information"] = to_array(std::move(found.mutual_information));
  dict["identical"] = found.identical;
  return dict;
}

}  // namespace

void define_fits(py::module_& module) {
  py::class_<CleanedAnswers>(module, "CleanedAnswers", "Answers without those of spammers, copies or colluders.")
      .def(py::init(&clean_answers), py::arg("answers"), py::arg("without"), py::arg("gold"), py::arg("threads"))
      .def_property_readonly("answers", [](const CleanedAnswers& c) { return c.answers; })
      .def_property_readonly("left_out", [](const CleanedAnswers& c) { return left_out_columns(c.cleaning); })
      .def(
          "complete",
          [](const CleanedAnswers& c, const Answers& all, CategoryFit fit) {
            describe_left_out(dataset_from(all, std::nullopt), c.cleaning, fit);
            fit.warnings.push_back(cleaning_note(c.cleaning, all.annotations.worker_count()));
            return fit;
          },
          py::arg("all"), py::arg("fit"), "The fit with tables of those who were left out, and a note of them.")
      .def(
          "spread",
          [](const CleanedAnswers& c, const Answers& all, const py::array_t<float, py::array::c_style>& values) {
            const std::span given(values.data(), static_cast<std::size_t>(values.size()));
            if (given.size() != c.answers.annotations.answer_count()) throw py::value_error("a value for each answer");
            return to_array(values_of_all(all.annotations, c.answers.annotations, given));
          },
          py::arg("all"), py::arg("values"), "Values of the answers as values of all; NaN for those left out.");
  module.def("aggregate", &aggregate_answers, py::arg("answers"), py::arg("method"), py::arg("parameters"),
             py::arg("gold"), py::arg("start"), py::arg("seed"), py::arg("threads"), py::arg("progress"));
  module.def("summarise", &summarise, py::arg("answers"), py::arg("fit"), py::arg("gold"), py::arg("threads"));
  module.def("learn", &learn_answers, py::arg("answers"), py::arg("features"), py::arg("row_names"),
             py::arg("row_of_task"), py::arg("method"), py::arg("parameters"), py::arg("network"), py::arg("gold"),
             py::arg("seed"), py::arg("threads"), py::arg("progress"));

  module.def("training_effect", &effect_of_training, py::arg("answers"), py::arg("features"), py::arg("row_names"),
             py::arg("row_of_task"), py::arg("labels"), py::arg("gold"), py::arg("groups"), py::arg("group_names"),
             py::arg("positive"), py::arg("network"), py::arg("folds"), py::arg("seed"), py::arg("threads"),
             py::arg("progress"));

  py::class_<Classifier, std::shared_ptr<Classifier>>(module, "Classifier", "A trained network.")
      .def(
          "predict",
          [](const Classifier& classifier, const py::object& given, unsigned threads) {
            const Features features = features_from(given);
            Work work(0, threads, py::none());
            auto probabilities =
                work.run([&](const RunContext& context) { return classifier.predict(features, context); });
            return to_array(std::move(probabilities), {static_cast<py::ssize_t>(features.rows),
                                                       static_cast<py::ssize_t>(classifier.class_count())});
          },
          py::arg("features"), py::arg("threads"))
      .def_property_readonly("classes", [](const Classifier& c) { return to_objects(c.class_names()); })
      .def_property_readonly("workers", [](const Classifier& c) { return to_objects(known_workers(c)); })
      .def("posterior", &posterior_of_rows, py::arg("features"), py::arg("answers"), py::arg("row_names"),
           py::arg("threads"))
      .def("reliability", &reliability_of_rows, py::arg("features"), py::arg("threads"))
      .def("draw", &draw_rows, py::arg("features"), py::arg("draws"), py::arg("seed"), py::arg("threads"))
      .def("save", &Classifier::save, py::arg("folder"))
      .def("export_torchscript", &Classifier::export_torchscript, py::arg("path"));
  module.def(
      "load_classifier",
      [](const std::string& folder, bool trust) {
        return std::const_pointer_cast<Classifier>(load_classifier(folder, RunContext(), {.trust = trust}));
      },
      py::arg("folder"), py::arg("trust") = false);
}

}  // namespace wisecrowd::python
