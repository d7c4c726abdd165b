#include "wisecrowd/asking.hpp"

#include "features.hpp"
#include "state_handle.hpp"
#include "support.hpp"
#include "wisecrowd/dalc_loop.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/learn.hpp"
#include "wisecrowd/live_asking.hpp"
#include "wisecrowd/live_files.hpp"

namespace wisecrowd::python {
namespace {

using Reals = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Codes = py::array_t<std::int32_t, py::array::c_style | py::array::forcecast>;

/// Names, costs, capacities (negative: no limit), who is available, and how probably they answer; None for everybody.
std::optional<NamedOffers> offers_from(const py::object& given) {
  if (given.is_none()) return std::nullopt;
  const auto parts = given.cast<py::tuple>();
  NamedOffers offers;
  offers.workers = parts[0].cast<std::vector<std::string>>();
  const auto cost = parts[1].cast<std::vector<double>>();
  const auto capacity = parts[2].cast<std::vector<std::int64_t>>();
  const auto available = parts[3].cast<std::vector<bool>>();
  const auto response = parts[4].cast<std::vector<double>>();
  for (std::size_t n = 0; n < offers.workers.size(); ++n) {
    const bool limited = capacity[n] >= 0 && capacity[n] < std::int64_t{kUnlimited};
    offers.offers.push_back(
        {cost[n], limited ? static_cast<std::uint32_t>(capacity[n]) : kUnlimited, available[n], response[n]});
  }
  return offers;
}

AskRequest request_from(const py::dict& given) {
  AskRequest request;
  request.budget = given["budget"].cast<double>();
  request.candidates = given["candidates"].cast<std::size_t>();
  request.round = given["round"].cast<std::uint64_t>();
  request.offers = offers_from(given["offers"]);
  return request;
}

/// Positions of tasks and workers, and what an answer would tell and cost.
py::dict selection_dict(const Selection& selection) {
  std::vector<std::uint32_t> tasks, workers;
  std::vector<double> gain, cost;
  for (const Choice& choice : selection.choices) {
    tasks.push_back(static_cast<std::uint32_t>(index(choice.task)));
    workers.push_back(static_cast<std::uint32_t>(index(choice.worker)));
    gain.push_back(choice.expected_gain);
    cost.push_back(choice.cost);
  }
  py::dict dict;
  dict["task"] = to_array(std::move(tasks));
  dict["worker"] = to_array(std::move(workers));
  dict["expected_gain"] = to_array(std::move(gain));
  dict["cost"] = to_array(std::move(cost));
  dict["settled"] = selection.settled;
  dict["not_worth_cost"] = selection.not_worth_cost;
  dict["exhausted"] = selection.exhausted;
  return dict;
}

py::dict named_selection_dict(const NamedSelection& chosen) {
  py::dict dict = selection_dict(chosen.selection);
  py::list tasks, workers;
  for (const Choice& choice : chosen.selection.choices) {
    tasks.append(to_str(chosen.tasks[index(choice.task)]));
    workers.append(to_str(chosen.workers[index(choice.worker)]));
  }
  dict["task_names"] = tasks;
  dict["worker_names"] = workers;
  dict["candidates"] = chosen.candidates;
  return dict;
}

py::dict select_state(State& state, const py::dict& asked, const std::string& policy, const py::dict& parameters,
                      std::uint64_t seed, unsigned threads, const py::object& progress) {
  const Parameters checked = parameters_from(selector(policy).parameters, parameters);
  const AskRequest request = request_from(asked);
  Work work(seed, threads, progress);
  return named_selection_dict(state.use(work, [&](const CrowdState& opened, const RunContext& context) {
    return select_from_state(opened, request, policy, checked, context);
  }));
}

/// Of settings those that a table of parameters knows.
py::dict known_by(std::span<const ParameterSpec> specs, const py::dict& settings) {
  py::dict own;
  for (const ParameterSpec& spec : specs) {
    if (settings.contains(spec.name.c_str())) own[py::str(spec.name)] = settings[spec.name.c_str()];
  }
  return own;
}

/// Settings of a loop and of the learner dalc in it.
std::pair<Parameters, Parameters> loop_and_model(std::span<const ParameterSpec> loop, const py::dict& settings) {
  const py::dict own = known_by(loop, settings);
  py::dict rest;
  for (const auto& [name, value] : settings) {
    if (!own.contains(name)) rest[name] = value;
  }
  return {parameters_from(loop, own), parameters_from(learning_method("dalc").parameters, rest)};
}

py::dict select_by_loop(State& state, const py::dict& asked, const std::string& policy, const std::string& loop,
                        const py::object& features, const py::array& row_names, const py::dict& settings,
                        const py::dict& network, std::int64_t now, std::uint64_t seed, unsigned threads,
                        const py::object& progress) {
  LiveSettings given;
  given.policy = policy;
  std::tie(given.loop, given.model) = loop_and_model(live_loop_parameters(), settings);
  given.network = network_from(network);
  FeatureTable table;
  table.features = features_from(features);
  table.names = names_from(row_names);
  table.split.assign(table.features.rows, Split::train);
  const AskRequest request = request_from(asked);
  bool resumes = false;
  const LiveLock lock(loop);
  LiveMemory memory = begin_or_resume(given, loop, resumes);
  Work work(seed, threads, progress);
  const LiveAsked chosen = state.use(work, [&](const CrowdState& opened, const RunContext& context) {
    return select_live(opened, std::move(table), request, memory, now, context);
  });
  write_live_memory(memory, loop);
  py::list tasks, workers;
  std::vector<double> uncertainty, reliability, cost;
  for (const LiveQuestion& question : chosen.round.questions) {
    tasks.append(py::str(chosen.tasks[index(question.task)]));
    workers.append(py::str(chosen.workers[index(question.worker)]));
    uncertainty.push_back(question.doubt);
    reliability.push_back(question.reliability);
    cost.push_back(question.cost);
  }
  py::dict dict;
  dict["task"] = tasks;
  dict["worker"] = workers;
  dict["uncertainty"] = to_array(std::move(uncertainty));
  dict["reliability"] = to_array(std::move(reliability));
  dict["cost"] = to_array(std::move(cost));
  dict["by_chance"] = chosen.round.by_chance;
  dict["trained"] = chosen.round.trained;
  dict["new_answers"] = chosen.round.new_answers;
  dict["given_up"] = chosen.round.given_up;
  dict["refunded"] = chosen.round.refunded;
  dict["waiting"] = chosen.round.waiting;
  return dict;
}

/// An aggregator with its parameters, by name.
struct Method {
  std::string name;
  Parameters parameters;
  Method(const std::string& given, const py::dict& values)
      : name(given), parameters(parameters_from(aggregation_method(given).parameters, values)) {}
};

py::dict select_answers(const Answers& answers, const std::string& method, const py::dict& method_parameters,
                        const py::dict& asked, const std::string& policy, const py::dict& parameters,
                        std::uint64_t seed, unsigned threads, const py::object& progress) {
  const Method fitted(method, method_parameters);
  const Parameters checked = parameters_from(selector(policy).parameters, parameters);
  const AskRequest request = request_from(asked);
  const CategoryData data{.answers = answers.annotations};
  Work work(seed, threads, progress);
  return named_selection_dict(work.run([&](const RunContext& context) {
    const CategoryFit fit = aggregate(data, fitted.name, fitted.parameters, context);
    return context.cancelled() ? NamedSelection{}
                               : select_from_fit(data.answers, fit, request, policy, checked, context);
  }));
}

template <class Function>
auto column_of(const std::vector<WorkerAssessment>& workers, const Function& value) {
  std::vector<decltype(value(workers[0]))> column;
  for (const WorkerAssessment& worker : workers) column.push_back(value(worker));
  return to_array(std::move(column));
}

py::dict advise_answers(const Answers& answers, const std::string& method, const py::dict& method_parameters,
                        const py::object& given, const std::string& policy, const py::dict& parameters,
                        std::uint64_t seed, unsigned threads, const py::object& progress) {
  const Method fitted(method, method_parameters);
  const Parameters checked = parameters_from(selector(policy).parameters, parameters);
  const auto offers = offers_from(given);
  const CategoryData data{.answers = answers.annotations};
  Work work(seed, threads, progress);
  auto [fit, advice] = work.run([&](const RunContext& context) {
    CategoryFit made = aggregate(data, fitted.name, fitted.parameters, context);
    Advice advised;
    if (!context.cancelled()) advised = advise(data.answers, made, offers, policy, checked, context);
    return std::pair(std::move(made), std::move(advised));
  });
  const auto& workers = advice.workers;
  py::list what, why, effect;
  for (const WorkerAssessment& worker : workers) {
    what.append(std::string(to_string(worker.advice)));
    why.append(to_str(reason_of(worker, data.answers.class_names())));
    effect.append(to_str(effect_of(worker, data.answers.task_count())));
  }
  py::dict judged;
  judged["advice"] = what;
  judged["reason"] = why;
  judged["effect"] = effect;
  judged["answers"] = column_of(workers, [](const WorkerAssessment& w) { return w.answers; });
  const auto interval = [&](const std::string& name, auto member) {
    judged[to_str(name)] = column_of(workers, [&](const WorkerAssessment& w) { return (w.*member).value; });
    judged[to_str(name + "_low")] = column_of(workers, [&](const WorkerAssessment& w) { return (w.*member).low; });
    judged[to_str(name + "_high")] = column_of(workers, [&](const WorkerAssessment& w) { return (w.*member).high; });
  };
  interval("accuracy", &WorkerAssessment::accuracy);
  judged["spammer"] = column_of(workers, [](const WorkerAssessment& w) { return w.spammer; });
  interval("score", &WorkerAssessment::score);
  judged["information"] = column_of(workers, [](const WorkerAssessment& w) { return w.information.value; });
  judged["capacity"] = column_of(workers, [](const WorkerAssessment& w) { return w.capacity; });
  py::dict dict = selection_dict(advice.tasks);
  dict["workers"] = judged;
  dict["task_answers"] = to_array(std::move(advice.known.task_answers));
  dict["fit"] = std::move(fit);
  return dict;
}

py::dict replay_dict(const Replay& replay) {
  py::dict dict;
  dict["target"] = replay.target;
  dict["all_answers"] = replay.all_answers;
  dict["scored_tasks"] = replay.scored_tasks;
  dict["seeds"] = replay.seeds;
  dict["answers_per_round"] = replay.answers_per_round;
  py::list curves, savings;
  for (const ReplayCurve& curve : replay.curves) {
    py::dict entry;
    entry["policy"] = curve.policy;
    entry["answers"] = py::cast(curve.answers);
    entry["cost"] = py::cast(curve.cost);
    entry["accuracy"] = py::cast(curve.accuracy);
    entry["low"] = py::cast(curve.low);
    entry["high"] = py::cast(curve.high);
    entry["by_seed"] = py::cast(curve.by_seed);
    entry["answers_by_seed"] = py::cast(curve.answers_by_seed);
    entry["area"] = curve.area;
    entry["stopped"] = curve.stopped;
    curves.append(entry);
  }
  for (const Saving& saving : replay.savings) {
    py::dict entry;
    entry["policy"] = saving.policy;
    entry["slack"] = saving.slack;
    entry["reached"] = saving.reached;
    entry["answers"] = saving.answers;
    entry["low"] = saving.low;
    entry["high"] = saving.high;
    entry["saved"] = saving.saved;
    entry["saved_low"] = saving.saved_low;
    entry["saved_high"] = saving.saved_high;
    savings.append(entry);
  }
  dict["curves"] = curves;
  dict["savings"] = savings;
  return dict;
}

ReplayOptions replay_options_from(const py::dict& given, const CategoryAnswers& answers) {
  ReplayOptions options;
  options.seeds = given["seeds"].cast<std::size_t>();
  options.answers_per_round = given["answers_per_round"].cast<std::size_t>();
  options.most_answers = given["most_answers"].cast<std::size_t>();
  options.random_answers_per_task = given["first_answers"].cast<std::size_t>();
  if (const auto offers = offers_from(given["offers"])) {
    std::vector<std::string> names;
    for (std::size_t j = 0; j < answers.worker_count(); ++j) names.emplace_back(answers.worker_names()[j]);
    std::vector<std::size_t> unknown_workers;
    options.offers = offers_for(*offers, names, unknown_workers);
  }
  return options;
}

py::dict replay_answers(const Answers& answers, const Codes& gold, const std::optional<Reals>& tables,
                        const std::vector<std::tuple<std::string, std::string, py::dict>>& policies,
                        const std::string& method, const py::dict& method_parameters, const py::dict& options,
                        std::uint64_t seed, unsigned threads, const py::object& progress) {
  ReplayWorld world;
  world.answers = answers.annotations;
  world.truth = classes_from(gold);
  if (tables) world.tables.assign(tables->data(), tables->data() + tables->size());
  std::vector<Policy> played;
  for (const auto& [name, way, given] : policies) {
    played.push_back({name, way, parameters_from(selector(way).parameters, given)});
  }
  const Method fitted(method, method_parameters);
  const ReplayOptions checked = replay_options_from(options, world.answers);
  const Refit refit = [&](const CategoryData& data, const CategoryStart& start, const RunContext& context) {
    return aggregate(data, fitted.name, fitted.parameters, context, start);
  };
  Work work(seed, threads, progress);
  return replay_dict(
      work.run([&](const RunContext& context) { return replay(world, played, checked, refit, context); }));
}

py::list triple(const Estimate& estimate) {
  py::list list;
  for (const double value : {estimate.value, estimate.low, estimate.high}) list.append(value);
  return list;
}

py::dict dalc_loop_dict(const DalcLoop& loop) {
  py::dict dict;
  py::list curves;
  for (const DalcCurve& curve : loop.curves) {
    py::dict entry;
    entry["policy"] = curve.policy;
    entry["accuracy"] = py::cast(curve.mean_accuracy);
    entry["auc"] = py::cast(curve.mean_auc);
    std::vector<double> low, high;
    for (const Estimate& estimate : curve.interval) {
      low.push_back(estimate.low);
      high.push_back(estimate.high);
    }
    entry["low"] = py::cast(low);
    entry["high"] = py::cast(high);
    entry["accuracy_by_seed"] = py::cast(curve.accuracy);
    entry["auc_by_seed"] = py::cast(curve.auc);
    entry["area"] = triple(curve.area);
    entry["reached"] = curve.reaches;
    entry["answers"] = curve.answers_to_reach;
    entry["saved"] = triple(curve.saved);
    curves.append(entry);
  }
  dict["curves"] = curves;
  dict["answers"] = py::cast(loop.answers);
  dict["reference_accuracy"] = py::cast(loop.reference_accuracy);
  dict["reference_auc"] = py::cast(loop.reference_auc);
  dict["all_answers"] = loop.all_answers;
  dict["pool_tasks"] = loop.pool_tasks;
  dict["past_tasks"] = loop.past_tasks;
  dict["test_rows"] = loop.test_rows;
  dict["seeds"] = loop.seeds;
  return dict;
}

/// On which rows policies are judged: those that `given` names, one flag per row, or, if it is empty, those that nobody
/// answered.
std::vector<Split> splits_of(const LearningData& data, std::span<const bool> given) {
  std::vector<Split> split(data.features.rows, Split::test);
  for (std::size_t row = 0; row < given.size(); ++row) split[row] = given[row] ? Split::test : Split::train;
  for (std::size_t t = 0; given.empty() && t < data.row_of_task.size(); ++t) {
    if (data.row_of_task[t] == kNoRow || data.crowd.answers.workers_of(TaskId(t)).empty()) continue;
    split[data.row_of_task[t]] = Split::train;
  }
  return split;
}

/// `is_test` is as above; `gold` is of the tasks.
py::dict dalc_loop_of(const Answers& answers, const py::object& features, const py::array& row_names,
                      const py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>& row_of_task,
                      const py::array_t<bool, py::array::c_style | py::array::forcecast>& is_test, const Codes& gold,
                      const std::vector<std::string>& policies, std::size_t repetitions, const py::dict& settings,
                      const py::dict& network, const std::string& out, std::uint64_t seed, unsigned threads,
                      const py::object& progress) {
  const auto [loop, model] = loop_and_model(dalc_loop_parameters(), settings);
  const NetworkSpec spec = network_from(network);
  LearningData data;
  data.crowd.answers = answers.annotations;
  data.features = features_from(features);
  data.row_names = names_from(row_names);
  data.row_of_task.assign(row_of_task.data(), row_of_task.data() + row_of_task.size());
  data.split = splits_of(data, {is_test.data(), static_cast<std::size_t>(is_test.size())});
  std::vector<ClassId> row_truth(data.features.rows, kNoClass);
  const auto truth = classes_from(gold);
  for (std::size_t t = 0; t < truth.size(); ++t) {
    if (data.row_of_task[t] != kNoRow) row_truth[data.row_of_task[t]] = truth[t];
  }
  Work work(seed, threads, progress);
  const DalcLoop played = work.run([&](const RunContext& context) {
    return play_dalc_loop(data, row_truth, loop, model, spec, policies, repetitions, context);
  });
  if (!out.empty()) write_dalc_loop(played, "DALC", "{}", out);
  return dalc_loop_dict(played);
}

}  // namespace

void define_asking(py::module_& module) {
  module.def("selectors", [] {
    py::list list;
    for (const SelectorInfo& info : selectors()) {
      py::dict entry = info_of(info);
      entry["needs_passes"] = info.needs_passes;
      entry["needs_reliability"] = info.needs_reliability;
      list.append(entry);
    }
    return list;
  });
  module.def("select_state", &select_state, py::arg("state"), py::arg("request"), py::arg("policy"),
             py::arg("parameters"), py::arg("seed"), py::arg("threads"), py::arg("progress"));
  module.def("select_by_loop", &select_by_loop, py::arg("state"), py::arg("request"), py::arg("policy"),
             py::arg("loop"), py::arg("features"), py::arg("row_names"), py::arg("settings"), py::arg("network"),
             py::arg("now"), py::arg("seed"), py::arg("threads"), py::arg("progress"));
  module.def(
      "is_live_policy", [](const std::string& policy) { return is_live_policy(policy); }, py::arg("policy"));
  module.def("select_answers", &select_answers, py::arg("answers"), py::arg("method"), py::arg("method_parameters"),
             py::arg("request"), py::arg("policy"), py::arg("parameters"), py::arg("seed"), py::arg("threads"),
             py::arg("progress"));
  module.def("advise", &advise_answers, py::arg("answers"), py::arg("method"), py::arg("method_parameters"),
             py::arg("offers"), py::arg("policy"), py::arg("parameters"), py::arg("seed"), py::arg("threads"),
             py::arg("progress"));
  module.def("replay", &replay_answers, py::arg("answers"), py::arg("gold"), py::arg("tables"), py::arg("policies"),
             py::arg("method"), py::arg("method_parameters"), py::arg("options"), py::arg("seed"), py::arg("threads"),
             py::arg("progress"));
  module.def("dalc_loop", &dalc_loop_of, py::arg("answers"), py::arg("features"), py::arg("row_names"),
             py::arg("row_of_task"), py::arg("is_test"), py::arg("gold"), py::arg("policies"), py::arg("repetitions"),
             py::arg("settings"), py::arg("network"), py::arg("out"), py::arg("seed"), py::arg("threads"),
             py::arg("progress"));
  module.attr("default_selector") = std::string(default_selector());
  module.attr("default_refit_method") = std::string(default_refit_method());
  module.def(
      "usual_replay_refit",
      [](std::size_t classes) {
        const RefitChoice between_rounds = usual_replay_refit(classes);
        py::dict settings;
        for (const auto& [name, value] : between_rounds.settings) settings[py::str(name)] = to_object(value);
        return py::make_tuple(between_rounds.method, std::move(settings));
      },
      py::arg("classes"));
  module.attr("default_seeds") = ReplayOptions{}.seeds;
}

}  // namespace wisecrowd::python
