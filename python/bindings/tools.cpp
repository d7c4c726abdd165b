#include "support.hpp"
#include "wisecrowd/data_defects.hpp"
#include "wisecrowd/evaluate.hpp"
#include "wisecrowd/evaluate_ordered.hpp"
#include "wisecrowd/held_out.hpp"
#include "wisecrowd/simulate.hpp"

namespace wisecrowd::python {
namespace {

using Reals = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Codes = py::array_t<std::int32_t, py::array::c_style | py::array::forcecast>;

py::dict to_dict(const Distribution& distribution) {
  using namespace py::literals;
  return py::dict("minimum"_a = distribution.minimum, "lower_quartile"_a = distribution.lower_quartile,
                  "median"_a = distribution.median, "mean"_a = distribution.mean,
                  "upper_quartile"_a = distribution.upper_quartile, "maximum"_a = distribution.maximum);
}

py::dict describe_answers(const Answers& answers) {
  const auto d = [&] {
    const py::gil_scoped_release unlocked;
    return describe(answers.annotations);
  }();
  py::dict dict;
  dict["tasks"] = d.tasks;
  dict["workers"] = d.workers;
  dict["classes"] = d.classes;
  dict["answers"] = d.answers;
  dict["single_answer_tasks"] = d.single_answer_tasks;
  dict["workers_below_three_answers"] = d.workers_below_three_answers;
  dict["answers_per_task"] = to_dict(d.answers_per_task);
  dict["answers_per_worker"] = to_dict(d.answers_per_worker);
  dict["answers_per_class"] = py::cast(d.answers_per_class);
  dict["krippendorff_alpha"] = d.krippendorff_alpha;
  dict["fleiss_kappa"] = d.fleiss_kappa;
  dict["pairwise_agreement"] = d.pairwise_agreement;
  dict["unanimous_share"] = d.unanimous_share;
  dict["components"] = d.components;
  dict["largest_component_tasks"] = d.largest_component_tasks;
  dict["largest_component_workers"] = d.largest_component_workers;
  dict["warnings"] = to_list(d.warnings);
  return dict;
}

/// Rows of a table: task, gold, what the answers say, probability that the gold is wrong, answers, for gold, for that.
py::dict check_gold_labels(const Answers& answers, const Codes& gold) {
  CategoryData data{.answers = answers.annotations};
  data.gold = classes_from(gold);
  const GoldCheck check = [&] {
    const py::gil_scoped_release unlocked;
    return check_gold(data, RunContext());
  }();
  py::list suspects;
  for (const SuspectGold& one : check.suspects) {
    suspects.append(py::make_tuple(index(one.task), index(one.gold), index(one.crowd), one.wrong, one.answers,
                                   one.for_gold, one.for_crowd));
  }
  py::dict dict;
  dict["tasks"] = check.tasks;
  dict["expected_wrong"] = check.expected_wrong;
  dict["suspects"] = suspects;
  return dict;
}

py::list list_contradictions(const Answers& answers) {
  py::list found;
  for (const Contradiction& one : contradictions(answers.annotations)) {
    py::list labels;
    for (const ClassId label : one.labels) labels.append(index(label));
    found.append(py::make_tuple(index(one.task), index(one.worker), labels));
  }
  return found;
}

using Floats = py::array_t<float, py::array::c_style | py::array::forcecast>;
using RowNumbers = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;

py::list list_twins(const Answers& answers, const std::optional<Codes>& gold, const Floats& rows,
                    const RowNumbers& row_of_task) {
  CategoryData data{.answers = answers.annotations};
  if (gold) data.gold = classes_from(*gold);
  Features features;
  features.rows = static_cast<std::size_t>(rows.shape(0));
  features.shape = {static_cast<std::size_t>(rows.shape(1))};
  features.dense.assign(rows.data(), rows.data() + rows.size());
  py::list found;
  for (const TwinTasks& twins :
       twin_tasks(data, features, {row_of_task.data(), static_cast<std::size_t>(row_of_task.size())})) {
    py::list tasks;
    for (const TaskId task : twins.tasks) tasks.append(index(task));
    found.append(py::make_tuple(tasks, twins.contradict));
  }
  return found;
}

TieRule tie_rule_from(const std::string& name) {
  if (const auto rule = find_in(kTieRuleNames, name)) return *rule;
  throw py::value_error("ties='" + name + "': choose lowest, highest, random or fractional");
}

py::tuple to_tuple(const Estimate& e) { return py::make_tuple(e.value, e.low, e.high); }

py::dict evaluate_labels(const Codes& predicted, const std::optional<Reals>& posterior, const Codes& gold,
                         std::size_t classes, const std::string& ties, std::size_t bootstrap, double confidence,
                         std::uint64_t seed, unsigned threads) {
  const auto labels = classes_from(predicted);
  const auto truth = classes_from(gold);
  std::span<const double> probabilities;
  if (posterior) probabilities = {posterior->data(), static_cast<std::size_t>(posterior->size())};
  EvaluateOptions options;
  options.tie_rule = tie_rule_from(ties);
  options.bootstrap = bootstrap;
  options.confidence_level = confidence;
  Work work(seed, threads, py::none());
  const Evaluation e = work.run(
      [&](const RunContext& context) { return evaluate(labels, probabilities, truth, classes, options, context); });
  py::dict measures;
  measures["accuracy"] = to_tuple(e.accuracy);
  measures["macro_f1"] = to_tuple(e.macro_f1);
  if (e.log_loss) measures["log_loss"] = to_tuple(*e.log_loss);
  if (e.brier) measures["brier"] = to_tuple(*e.brier);
  if (e.ece) measures["ece"] = to_tuple(*e.ece);
  py::list curve;
  for (const CoveragePoint& point : e.curve) {
    curve.append(py::make_tuple(point.coverage, point.accuracy, point.threshold));
  }
  py::dict dict;
  dict["tasks"] = e.tasks;
  dict["abstained"] = e.abstained;
  dict["measures"] = measures;
  dict["curve"] = curve;
  return dict;
}

py::list compare_by_hidden_answers(const Answers& answers, const std::vector<std::pair<std::string, py::dict>>& methods,
                                   std::size_t folds, double share, std::uint64_t seed, unsigned threads,
                                   const py::object& progress) {
  std::vector<MethodStage> stages;
  for (const auto& [name, given] : methods) {
    stages.push_back({name, parameters_from(aggregation_method(name).parameters, given)});
  }
  const CategoryData data{.answers = answers.annotations};
  Work work(seed, threads, progress);
  const auto scores = work.run([&](const RunContext& context) {
    const HeldOut held_out(data, {.folds = folds, .share = share}, context);
    return held_out.hidden_count() == 0 ? std::vector<HeldOutScore>{}
                                        : score_by_held_out_answers(held_out, stages, context);
  });
  py::list list;
  for (const HeldOutScore& score : scores) {
    py::dict entry;
    entry["method"] = score.method;
    entry["refusal"] = to_str(score.refusal);
    entry["log_probability"] = to_tuple(score.log_probability);
    entry["behind_best"] = to_tuple(score.behind_best);
    entry["seconds"] = score.seconds;
    list.append(entry);
  }
  return list;
}

/// Answers as three columns of codes.
py::tuple columns_of(const CategoryAnswers& answers) {
  std::vector<std::uint32_t> tasks, workers, labels;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto who = answers.workers_of(TaskId(t));
    const auto said = answers.labels_of(TaskId(t));
    for (std::size_t i = 0; i < who.size(); ++i) {
      tasks.push_back(static_cast<std::uint32_t>(t));
      workers.push_back(static_cast<std::uint32_t>(who[i]));
      labels.push_back(static_cast<std::uint32_t>(said[i]));
    }
  }
  return py::make_tuple(to_array(std::move(tasks)), to_array(std::move(workers)), to_array(std::move(labels)));
}

py::dict simulate_crowd(const std::string& kind, const py::dict& size, const py::dict& parameters,
                        const py::dict& options, std::uint64_t seed, unsigned threads, const py::object& progress) {
  const Parameters checked = parameters_from(simulation_kind(kind).parameters, parameters);
  SimulationSize extent = default_simulation_size(kind, checked);
  const auto take = [](const py::dict& from, const char* name, auto& into) {
    if (from.contains(name) && !from[name].is_none()) into = from[name].cast<std::remove_cvref_t<decltype(into)>>();
  };
  take(size, "tasks", extent.tasks);
  take(size, "workers", extent.workers);
  take(size, "classes", extent.classes);
  take(size, "answers_per_task", extent.answers_per_task);
  TaskOptions wanted;
  take(options, "test_tasks", wanted.test_tasks);
  take(options, "class_shares", wanted.class_shares);
  take(options, "gaussian_columns", wanted.gaussian_columns);
  if (options.contains("gaussian_features") && !options["gaussian_features"].is_none()) {
    wanted.gaussian_separation = options["gaussian_features"].cast<double>();
  }
  Work work(seed, threads, progress);
  Simulation made =
      work.run([&](const RunContext& context) { return simulate(kind, extent, checked, context, wanted); });
  const CategoryAnswers& answers = made.data.answers;
  py::dict dict;
  dict["tasks"] = to_objects(answers.task_names());
  dict["workers"] = to_objects(answers.worker_names());
  dict["classes"] = to_objects(answers.class_names());
  dict["answers"] = columns_of(answers);
  dict["in_order"] = made.in_order;
  dict["test_answers"] = columns_of(made.held_out);
  dict["gold"] = to_codes(made.data.gold);
  std::vector<std::uint8_t> splits;
  for (const Split split : made.splits) splits.push_back(static_cast<std::uint8_t>(split));
  dict["splits"] = to_array(std::move(splits));
  std::vector<std::int32_t> groups;
  for (const GroupId group : made.groups.of_task) groups.push_back(static_cast<std::int32_t>(group));
  dict["groups"] = to_array(std::move(groups));
  dict["group_names"] = to_objects(made.groups.names);
  dict["worker_kind"] = py::cast(made.worker_kind);
  const auto side = static_cast<py::ssize_t>(answers.class_count());
  dict["confusion"] =
      to_array(std::move(made.confusion), {static_cast<py::ssize_t>(answers.worker_count()), side, side});
  dict["class_prior"] = to_array(std::move(made.class_prior));
  dict["features"] = py::none();
  if (!made.features.empty()) {
    const auto columns = static_cast<py::ssize_t>(made.feature_columns);
    const auto rows = static_cast<py::ssize_t>(made.features.size()) / columns;
    dict["features"] = to_array(std::move(made.features), {rows, columns});
  }
  return dict;
}

}  // namespace

void define_tools(py::module_& module) {
  module.def("describe", &describe_answers, py::arg("answers"));
  module.def("check_gold", &check_gold_labels, py::arg("answers"), py::arg("gold"));
  module.def("contradictions", &list_contradictions, py::arg("answers"));
  module.def("twin_tasks", &list_twins, py::arg("answers"), py::arg("gold"), py::arg("features"),
             py::arg("row_of_task"));
  module.def("evaluate", &evaluate_labels, py::arg("predicted"), py::arg("posterior"), py::arg("gold"),
             py::arg("classes"), py::arg("ties"), py::arg("bootstrap"), py::arg("confidence"), py::arg("seed"),
             py::arg("threads"));
  module.def(
      "evaluate_ranks",
      [](const Codes& predicted, const Codes& gold, std::size_t classes, std::uint64_t seed, unsigned threads) {
        const auto labels = classes_from(predicted);
        const auto truth = classes_from(gold);
        Work work(seed, threads, py::none());
        const RankScores scores =
            work.run([&](const RunContext& context) { return evaluate_ranks(labels, truth, classes, context); });
        py::dict measures;
        measures["rank_error"] = to_tuple(scores.rank_error);
        measures["quadratic_kappa"] = to_tuple(scores.quadratic_kappa);
        return measures;
      },
      py::arg("predicted"), py::arg("gold"), py::arg("classes"), py::arg("seed"), py::arg("threads"));
  module.def(
      "describe_ranks",
      [](const Answers& answers) {
        const RankAgreement ranks = describe_ranks(answers.annotations);
        return py::make_tuple(ranks.ordinal_alpha, ranks.weighted_kappa);
      },
      py::arg("answers"));
  module.def("compare", &compare_by_hidden_answers, py::arg("answers"), py::arg("methods"), py::arg("folds"),
             py::arg("share"), py::arg("seed"), py::arg("threads"), py::arg("progress"));
  module.def("simulate", &simulate_crowd, py::arg("kind"), py::arg("size"), py::arg("parameters"), py::arg("options"),
             py::arg("seed"), py::arg("threads"), py::arg("progress"));
}

}  // namespace wisecrowd::python
