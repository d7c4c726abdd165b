#include "wisecrowd/fairness.hpp"

#include "support.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::python {

using CodeColumn = py::array_t<std::int32_t, py::array::c_style | py::array::forcecast>;

TaskGroups task_groups(const CodeColumn& codes, const py::array& names) {
  TaskGroups groups{names_from(names), {}};
  for (py::ssize_t t = 0; t < codes.size(); ++t) {
    groups.of_task.push_back(codes.data()[t] < 0 ? kNoGroup : GroupId(codes.data()[t]));
  }
  return groups;
}

namespace {

int code_of(GroupId group) { return group == kNoGroup ? -1 : static_cast<int>(index(group)); }

void add_interval(py::dict& row, const std::string& name, const Estimate& estimate) {
  row[py::str(name)] = estimate.value;
  row[py::str(name + "_low")] = estimate.low;
  row[py::str(name + "_high")] = estimate.high;
}

py::list gap_rows(const FairnessStudy& study) {
  py::list rows;
  for (const auto& labelling : study.labellings) {
    for (const Gap& gap : labelling.gaps) {
      py::dict row;
      row["labels"] = labelling.name;
      row["measure"] = std::string(to_string(gap.measure));
      row["positive"] = index(gap.positive);
      row["gap"] = gap.gap.value;
      row["low"] = gap.gap.low;
      row["high"] = gap.gap.high;
      row["highest"] = code_of(gap.highest);
      row["lowest"] = code_of(gap.lowest);
      row["truth"] = gap.measure == GapMeasure::demographic_parity ? "" : gap.by_gold ? "gold" : "posterior";
      py::list rates;
      for (std::size_t g = 0; g < gap.rates.size(); ++g) {
        rates.append(py::make_tuple(gap.tasks[g], gap.rates[g].value, gap.rates[g].low, gap.rates[g].high));
      }
      row["rates"] = rates;
      rows.append(row);
    }
  }
  return rows;
}

py::list worker_rows(const FairnessStudy& study) {
  py::list rows;
  for (const WorkerBias& bias : study.workers) {
    py::dict row;
    row["worker"] = index(bias.worker);
    row["group"] = code_of(bias.group);
    row["positive"] = index(bias.positive);
    row["answers"] = bias.answers;
    row["reference_answers"] = bias.reference_answers;
    add_interval(row, "false_positive_gap", bias.false_positive_rate);
    add_interval(row, "true_positive_gap", bias.true_positive_rate);
    add_interval(row, "positive_gap", bias.positive_rate);
    add_interval(row, "accuracy_gap", bias.accuracy);
    row["tail"] = bias.tail;
    row["biased"] = bias.biased;
    rows.append(row);
  }
  return rows;
}

FairnessOptions options_from(const py::dict& given) {
  FairnessOptions options;
  const auto take = [&](const char* name, auto& into) {
    if (given.contains(name) && !given[name].is_none()) into = given[name].cast<std::remove_cvref_t<decltype(into)>>();
  };
  take("kappa", options.tables.kappa);
  take("choose_kappa", options.tables.choose_kappa);
  take("shared_prior", options.tables.shared_prior);
  take("least_tasks", options.least_tasks);
  std::int64_t positive = -1, reference = -1;
  take("positive", positive);
  take("reference", reference);
  if (positive >= 0) options.workers.positive = {ClassId(positive)};
  if (reference >= 0) options.workers.reference = GroupId(reference);
  double limit = -1;
  take("limit_gap", limit);
  if (limit >= 0) {
    std::string gap{to_string(GapMeasure::demographic_parity)};
    take("gap", gap);
    options.limit = GapLimit{.measure = value_in(kGapMeasureNames, "gap", gap), .limit = limit, .positive = {}};
    take("randomise", options.limit->randomise);
  }
  return options;
}

py::dict study(const Answers& answers, const CategoryFit& fit, const CodeColumn& group_codes,
               const py::array& group_names, const std::optional<CodeColumn>& gold, const py::dict& given,
               std::uint64_t seed, unsigned threads, const py::object& progress) {
  CategoryData data{.answers = answers.annotations};
  if (gold) data.gold = classes_from(*gold);
  const TaskGroups groups = task_groups(group_codes, group_names);
  const FairnessOptions options = options_from(given);
  Work work(seed, threads, progress);
  FairnessStudy found =
      work.run([&](const RunContext& context) { return study_fairness(data, fit, groups, options, context); });
  py::dict dict;
  dict["gaps"] = gap_rows(found);
  dict["workers"] = worker_rows(found);
  dict["reference"] = code_of(found.reference);
  dict["kappa"] = found.labels_fit.kappa;
  dict["group_tasks"] = to_array(std::move(found.group_tasks));
  dict["group_gold"] = to_array(std::move(found.group_gold));
  dict["compared"] = std::vector<bool>(found.compared.begin(), found.compared.end());
  dict["tasks_without_group"] = found.tasks_without_group;
  dict["labels_by_group"] = to_codes(found.labels_fit.labels);
  const auto side = static_cast<py::ssize_t>(fit.class_count);
  dict["accuracies"] = to_array(group_accuracies(found.workers_fit, groups.count()),
                                {static_cast<py::ssize_t>(fit.worker_count), static_cast<py::ssize_t>(groups.count())});
  dict["posterior_by_group"] =
      to_array(std::move(found.labels_fit.posterior), {static_cast<py::ssize_t>(fit.task_count), side});
  std::vector<std::uint64_t> given_answers;
  for (std::size_t w = 0; w < fit.worker_count; ++w) {
    given_answers.push_back(data.answers.tasks_of(WorkerId(w)).size());
  }
  dict["worker_answers"] = to_array(std::move(given_answers));
  dict["limited"] = py::none();
  if (found.limited) {
    py::dict limited;
    limited["labels"] = to_codes(found.limited->labels);
    limited["gap"] = found.limited->gap;
    limited["gap_before"] = found.limited->gap_before;
    limited["expected_error"] = found.limited->expected_error;
    limited["expected_error_before"] = found.limited->expected_error_before;
    limited["changed"] = found.limited->changed;
    dict["limited"] = limited;
  }
  dict["warnings"] = to_list(found.warnings);
  return dict;
}

py::dict assign(const py::array_t<double, py::array::c_style | py::array::forcecast>& accuracies,
                const std::vector<std::uint64_t>& capacity, const CodeColumn& task_group, std::size_t group_count,
                std::uint64_t answers_per_task, double limit, std::uint64_t seed, unsigned threads) {
  AssignmentRequest request;
  request.accuracy.assign(accuracies.data(), accuracies.data() + accuracies.size());
  request.capacity = capacity;
  request.answers_per_task = answers_per_task;
  request.limit = limit;
  request.group_tasks.assign(group_count, 0);
  std::vector<GroupId> groups;
  for (py::ssize_t t = 0; t < task_group.size(); ++t) {
    groups.push_back(task_group.data()[t] < 0 ? kNoGroup : GroupId(task_group.data()[t]));
    if (groups.back() != kNoGroup) ++request.group_tasks.at(index(groups.back()));
  }
  Work work(seed, threads, py::none());
  std::vector<AssignedAnswer> handed;
  AssignmentPlan plan = work.run([&](const RunContext& context) {
    AssignmentPlan made = plan_assignment(request, context);
    if (made.feasible) handed = hand_out(made, groups, group_count, context);
    return made;
  });
  if (!plan.feasible) throw Error(ErrorCode::bad_parameter, "no such assignment: " + plan.reason);
  std::vector<std::uint32_t> tasks, workers;
  for (const AssignedAnswer& answer : handed) {
    tasks.push_back(answer.task);
    workers.push_back(static_cast<std::uint32_t>(answer.worker));
  }
  py::dict dict;
  dict["tasks"] = to_array(std::move(tasks));
  dict["workers"] = to_array(std::move(workers));
  dict["accuracy"] = plan.accuracy;
  dict["gap"] = plan.gap;
  dict["group_accuracy"] = to_array(std::move(plan.group_accuracy));
  return dict;
}

}  // namespace

void define_fairness(py::module_& module) {
  module.def("study_fairness", &study, py::arg("answers"), py::arg("fit"), py::arg("group_codes"),
             py::arg("group_names"), py::arg("gold"), py::arg("options"), py::arg("seed"), py::arg("threads"),
             py::arg("progress"));
  module.def("plan_assignment", &assign, py::arg("accuracies"), py::arg("capacity"), py::arg("task_group"),
             py::arg("group_count"), py::arg("answers_per_task"), py::arg("limit"), py::arg("seed"),
             py::arg("threads"));
}

}  // namespace wisecrowd::python
