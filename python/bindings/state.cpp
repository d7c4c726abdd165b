#include <algorithm>
#include <cmath>

#include "row_times.hpp"
#include "state_handle.hpp"
#include "support.hpp"
#include "wisecrowd/asking.hpp"
#include "wisecrowd/category_result.hpp"
#include "wisecrowd/incremental.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/state_result.hpp"

namespace wisecrowd::python {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::vector<KnownTruth> truths_from(const Pairs& given) {
  std::vector<KnownTruth> truths;
  for (const auto& [task, label] : given) truths.push_back({task, label});
  return truths;
}

GoldUse gold_use_from(const std::string& name) {
  if (name == "inference") return GoldUse::inference;
  if (name == "evaluation") return GoldUse::evaluation;
  throw py::value_error("gold_for='" + name + "': choose inference or evaluation");
}

std::shared_ptr<State> create_state(const std::string& path, const std::optional<Answers>& answers,
                                    const std::vector<std::string>& classes, bool fixed_classes,
                                    const std::string& duplicates, const Pairs& gold, const std::string& gold_for,
                                    const py::dict& parameters, unsigned threads, const py::object& progress) {
  StateSettings settings;
  settings.gold_use = gold_use_from(gold_for);
  settings.parameters = parameters_from(state_parameters(), parameters);
  settings.fixed_classes = fixed_classes;
  settings.duplicates = duplicate_policy(duplicates);
  CategoryData data;
  if (answers) {
    data.answers = answers->annotations;
  } else if (!classes.empty()) {
    data.answers = CategoryAnswersBuilder(classes).build();
  }
  Work work(0, threads, progress);
  return work.run([&](const RunContext& context) {
    return std::make_shared<State>(
        CrowdState::create(path, data, settings, context, truths_from(gold), inspect_answers), path, false);
  });
}

std::shared_ptr<State> open_state(const std::string& path, bool read_only) {
  const py::gil_scoped_release unlocked;
  return std::make_shared<State>(
      CrowdState::open(path, read_only ? CrowdState::Access::read : CrowdState::Access::write), path, read_only);
}

py::list to_strings(const std::vector<std::string>& names) {
  py::list list;
  for (const std::string& name : names) list.append(to_str(name));
  return list;
}

TablePrior prior_of(const Parameters& parameters) {
  return {parameters.real("prior_answers"), parameters.real("prior_accuracy")};
}

py::dict summary_of(State& state) {
  auto [s, parameters] =
      state.look([](const CrowdState& opened) { return std::pair(opened.summary(), opened.parameters()); });
  py::dict staleness;
  staleness["answers_at_refit"] = s.staleness.answers_at_refit;
  staleness["answers_since"] = s.staleness.answers_since;
  staleness["classes_since"] = s.staleness.classes_since;
  staleness["truths_since"] = s.staleness.truths_since;
  staleness["probed_tasks"] = s.staleness.probed_tasks;
  staleness["mean_shift"] = s.staleness.mean_shift;
  staleness["probed_labels_changed"] = s.staleness.probed_labels_changed;
  py::dict dict;
  dict["tasks"] = s.tasks;
  dict["answered_tasks"] = s.answered_tasks;
  dict["workers"] = s.workers;
  dict["answers"] = s.answers;
  dict["classes"] = to_strings(s.classes);
  dict["classes_are_fixed"] = s.classes_are_fixed;
  dict["class_prior"] = to_array(std::move(s.class_prior));
  dict["duplicates"] = duplicate_policy_name(s.duplicates);
  dict["schema_version"] = s.schema_version;
  dict["staleness"] = staleness;
  dict["advice"] = to_str(s.staleness.advice());
  dict["gold_tasks"] = s.gold_tasks;
  dict["gold_for"] = s.gold_use == GoldUse::inference ? "inference" : "evaluation";
  dict["gold_accuracy"] = py::make_tuple(s.gold_accuracy, s.gold_accuracy_low, s.gold_accuracy_high);
  dict["warnings"] = to_list(s.warnings);
  dict["should_auto_refit"] = should_auto_refit(s);
  dict["parameters"] = to_dict(parameters);
  const TablePrior prior = prior_of(parameters);
  const std::size_t classes = std::max<std::size_t>(s.classes.size(), 1);
  dict["smoothing"] = py::make_tuple(prior.right(classes), prior.wrong(classes));
  return dict;
}

py::list alarms_to_list(const std::vector<WorkerAlarm>& alarms) {
  py::list list;
  for (const WorkerAlarm& alarm : alarms) {
    py::dict dict;
    dict["worker"] = to_str(alarm.worker);
    dict["raised"] = alarm.raised;
    dict["began"] = alarm.began;
    dict["evidence"] = alarm.evidence;
    dict["accuracy_before"] = alarm.accuracy_before;
    dict["accuracy_since"] = alarm.accuracy_since;
    dict["recovered"] = alarm.recovered;
    list.append(dict);
  }
  return list;
}

py::list alarms_of(State& state) {
  return alarms_to_list(state.look([](const CrowdState& opened) { return opened.alarms(); }));
}

py::dict add_answers(State& state, const std::optional<Answers>& answers, const py::object& rows, const Pairs& gold,
                     const std::optional<std::string>& gold_for, unsigned threads, const py::object& progress) {
  std::vector<std::vector<double>> times;
  if (answers && !rows.is_none()) times.push_back(times_of_rows(answers->annotations, rows));
  Work work(0, threads, progress);
  const Absorbed a = state.change(work, [&](CrowdState& opened, const RunContext& context) {
    if (gold_for && !gold.empty()) opened.set_gold_use(gold_use_from(*gold_for));
    std::vector<CategoryAnswers> sources;
    if (answers) sources.push_back(answers->annotations);
    return opened.add(sources, context, truths_from(gold), times);
  });
  py::dict dict;
  dict["answers"] = a.answers;
  dict["replaced"] = a.replaced;
  dict["contradicting"] = a.contradicting;
  dict["new_tasks"] = a.new_tasks;
  dict["new_workers"] = a.new_workers;
  dict["new_classes"] = to_strings(a.new_classes);
  dict["tasks_touched"] = a.tasks_touched;
  dict["labels_changed"] = a.labels_changed;
  dict["sweeps"] = a.sweeps;
  dict["alarms"] = alarms_to_list(a.alarms);
  return dict;
}

py::object task_of(State& state, const std::string& name) {
  const auto task = state.look([&](const CrowdState& opened) { return opened.task(name); });
  if (!task) return py::none();
  py::list workers;
  std::vector<std::int32_t> labels;
  for (const TaskState::GivenAnswer& answer : task->answers) {
    workers.append(to_str(answer.worker));
    labels.push_back(static_cast<std::int32_t>(index(answer.label)));
  }
  py::dict dict;
  dict["posterior"] = to_array(task->posterior);
  dict["label"] = task->label == kNoClass ? -1 : static_cast<std::int32_t>(index(task->label));
  dict["probability"] = task->probability;
  dict["uncertainty"] = task->uncertainty;
  dict["workers"] = workers;
  dict["labels"] = to_array(std::move(labels));
  return dict;
}

/// Truth × label.
py::array to_table(std::vector<double> values, std::size_t classes) {
  const auto side = static_cast<py::ssize_t>(classes);
  return to_array(std::move(values), {side, side});
}

py::object worker_of(State& state, const std::string& name) {
  const auto [worker, classes] = state.look(
      [&](const CrowdState& opened) { return std::pair(opened.worker(name), opened.summary().classes.size()); });
  if (!worker) return py::none();
  py::dict dict;
  dict["answers"] = worker->answers;
  dict["accuracy"] = worker->accuracy;
  dict["counts"] = to_table(worker->counts, classes);
  dict["confusion"] = to_table(worker->confusion, classes);
  return dict;
}

py::dict workers_of(State& state) {
  KnownWorkers tables = state.look([](const CrowdState& opened) { return opened.workers(); });
  py::dict dict;
  dict["names"] = to_objects(NameTable(tables.names));
  dict["answers"] = to_array(std::move(tables.answers));
  dict["accuracy"] = to_array(std::move(tables.accuracy));
  return dict;
}

py::dict settled_of(State& state, double sure, std::size_t limit, const std::string& after) {
  const auto [tasks, classes] = state.look([&](const CrowdState& opened) {
    return std::pair(opened.settled(sure, limit, after), opened.summary().classes);
  });
  std::vector<std::string> names, labels;
  std::vector<double> probability;
  std::vector<std::uint64_t> answers;
  for (const SettledTask& task : tasks) {
    names.push_back(task.name);
    labels.push_back(classes[index(task.label)]);
    probability.push_back(task.probability);
    answers.push_back(task.answers);
  }
  py::dict dict;
  dict["names"] = to_objects(NameTable(names));
  dict["labels"] = to_objects(NameTable(labels));
  dict["probability"] = to_array(std::move(probability));
  dict["answers"] = to_array(std::move(answers));
  return dict;
}

py::list alerts_of(State& state, unsigned threads, const py::object& progress) {
  Work work(0, threads, progress);
  const auto alerts = state.use(work, [&](const CrowdState& opened, const RunContext& context) {
    return state_alerts(state_result(opened, state.path(), "wisecrowd.CrowdState.alerts", context), {}, context,
                        opened.alarms());
  });
  py::list list;
  for (const Alert& alert : alerts) {
    py::dict dict;
    dict["code"] = to_str(alert.code);
    dict["severity"] = alert.urgent ? "warning" : "notice";
    dict["message"] = to_str(alert.message);
    dict["count"] = alert.count;
    dict["workers"] = to_strings(alert.workers);
    dict["tasks"] = to_strings(alert.tasks);
    list.append(dict);
  }
  return list;
}

Uncertainty uncertainty_from(const std::string& name) {
  for (const auto& [kind, text] : {std::pair(Uncertainty::entropy, "entropy"), std::pair(Uncertainty::margin, "margin"),
                                   std::pair(Uncertainty::least_confidence, "least_confidence")}) {
    if (name == text) return kind;
  }
  throw py::value_error("by='" + name + "': choose entropy, margin or least_confidence");
}

py::dict candidates_of(State& state, std::size_t count, const std::string& by) {
  const Uncertainty kind = uncertainty_from(by);
  Candidates found = state.look([&](const CrowdState& opened) { return opened.candidates(count, kind); });
  std::vector<double> uncertainty;
  for (std::size_t t = 0; t < found.size(); ++t) {
    uncertainty.push_back(
        uncertainty_of(std::span(found.posterior).subspan(t * found.class_count, found.class_count), kind));
  }
  py::dict dict;
  dict["names"] = to_objects(NameTable(found.names));
  dict["answers"] = to_array(std::move(found.task_answers));
  dict["uncertainty"] = to_array(std::move(uncertainty));
  dict["posterior"] = to_array(std::move(found.posterior), {static_cast<py::ssize_t>(found.names.size()),
                                                            static_cast<py::ssize_t>(found.class_count)});
  return dict;
}

/// Answers and fit of all that is there, as an aggregator would leave them.
py::tuple whole_of(State& state, unsigned threads, const py::object& progress) {
  Work work(0, threads, progress);
  auto whole =
      state.use(work, [](const CrowdState& opened, const RunContext& context) { return opened.whole(context); });
  const CategoryAnswers& a = whole.data.answers;
  py::object gold = py::none();
  if (whole.data.has_gold()) gold = to_codes(whole.data.gold);
  const py::tuple names =
      py::make_tuple(to_objects(a.task_names()), to_objects(a.worker_names()), to_objects(a.class_names()));
  return py::make_tuple(Answers{a, {}}, std::move(whole.aggregation), names, gold);
}

void export_state(State& state, const std::string& folder, unsigned threads, const py::object& progress) {
  Work work(0, threads, progress);
  (void)state.use(work, [&](const CrowdState& opened, const RunContext& context) {
    check_output_directory(folder);
    const CategoryResult result = state_result(opened, state.path(), "wisecrowd.CrowdState.export", context);
    return write_result(result, folder, context);
  });
}

py::dict refit_state(State& state, unsigned threads, const py::object& progress) {
  Work work(0, threads, progress);
  const CategoryFit fit = state.change(
      work, [](CrowdState& opened, const RunContext& context) { return opened.refit(context, inspect_answers); });
  py::dict dict;
  dict["iterations"] = fit.iterations;
  dict["status"] = std::string(to_string(fit.status));
  dict["log_likelihood"] = fit.log_likelihood;
  dict["warnings"] = to_list(fit.warnings);
  return dict;
}

py::list check_state(State& state, unsigned threads, const py::object& progress) {
  Work work(0, threads, progress);
  return to_strings(
      state.use(work, [](const CrowdState& opened, const RunContext& context) { return opened.check(context); }));
}

}  // namespace

void define_state(py::module_& module) {
  module.def("state_parameters", [] { return to_list(state_parameters()); });
  module.def("create_state", &create_state, py::arg("path"), py::arg("answers"), py::arg("classes"),
             py::arg("fixed_classes"), py::arg("duplicates"), py::arg("gold"), py::arg("gold_for"),
             py::arg("parameters"), py::arg("threads"), py::arg("progress"));
  module.def("open_state", &open_state, py::arg("path"), py::arg("read_only"));
  py::class_<State, std::shared_ptr<State>>(module, "State", "A persistent crowd in one SQLite file.")
      .def_property_readonly("path", [](const State& state) { return to_str(state.path()); })
      .def("summary", &summary_of)
      .def("add", &add_answers, py::arg("answers"), py::arg("rows"), py::arg("gold"), py::arg("gold_for"),
           py::arg("threads"), py::arg("progress"))
      .def("refit", &refit_state, py::arg("threads"), py::arg("progress"))
      .def("task", &task_of, py::arg("name"))
      .def("worker", &worker_of, py::arg("name"))
      .def("workers", &workers_of)
      .def("settled", &settled_of, py::arg("sure"), py::arg("limit"), py::arg("after"))
      .def("alarms", &alarms_of)
      .def("alerts", &alerts_of, py::arg("threads"), py::arg("progress"))
      .def("candidates", &candidates_of, py::arg("count"), py::arg("by"))
      .def("whole", &whole_of, py::arg("threads"), py::arg("progress"))
      .def("export", &export_state, py::arg("folder"), py::arg("threads"), py::arg("progress"))
      .def("check", &check_state, py::arg("threads"), py::arg("progress"))
      .def("close", &State::close);
}

}  // namespace wisecrowd::python
