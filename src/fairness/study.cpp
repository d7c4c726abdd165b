#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "wisecrowd/error.hpp"
#include "wisecrowd/fairness.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd {
namespace {

/// Groups with fewer tasks are hardly known.
constexpr std::uint64_t kFewTasks = 20;
/// More groups than this are no groups but a number or a name per task.
constexpr std::size_t kMostGroups = 200;

void check_study(const CategoryData& data, const CategoryFit& fit, const TaskGroups& groups,
                 const FairnessOptions& options) {
  validate(data);
  validate(groups, data.answers.task_count());
  const std::size_t classes = data.answers.class_count();
  if (classes < 2) {
    throw Error(ErrorCode::bad_input, "there is one class alone, so nothing can be said more often of one group");
  }
  if (groups.count() > kMostGroups) {
    throw Error(ErrorCode::bad_input,
                fmt::format("there are {} groups, more than {}: choose a column with few different values, or put "
                            "numbers into bands",
                            groups.count(), kMostGroups));
  }
  if (fit.labels.size() != data.answers.task_count() || fit.class_count != classes) {
    throw Error(ErrorCode::bad_input, "labels and answers are not of the same tasks and classes");
  }
  for (const ClassId positive : options.workers.positive) {
    if (index(positive) >= classes) {
      throw Error(ErrorCode::bad_parameter,
                  fmt::format("class {} cannot be the positive one: there are {} classes", index(positive), classes));
    }
  }
  if (options.workers.reference != kNoGroup && index(options.workers.reference) >= groups.count()) {
    throw Error(ErrorCode::bad_parameter, fmt::format("group {} cannot be the reference: there are {} groups",
                                                      index(options.workers.reference), groups.count()));
  }
}

void count_tasks(const CategoryData& data, const TaskGroups& groups, FairnessStudy& study) {
  study.group_tasks.assign(groups.count(), 0);
  study.group_gold.assign(groups.count(), 0);
  for (std::size_t t = 0; t < data.answers.task_count(); ++t) {
    if (data.answers.workers_of(TaskId(t)).empty()) continue;
    if (groups.of_task[t] == kNoGroup) {
      ++study.tasks_without_group;
      continue;
    }
    ++study.group_tasks[index(groups.of_task[t])];
    if (data.gold_of(TaskId(t)) != kNoClass) ++study.group_gold[index(groups.of_task[t])];
  }
}

/// Those with enough tasks, or all that have any when fewer than two have enough.
void choose_compared(std::uint64_t least_tasks, FairnessStudy& study) {
  const auto choose = [&](std::uint64_t least) {
    study.compared.clear();
    for (const std::uint64_t tasks : study.group_tasks) study.compared.push_back(tasks >= least ? 1 : 0);
    return std::count(study.compared.begin(), study.compared.end(), 1);
  };
  if (choose(std::max<std::uint64_t>(least_tasks, 1)) < 2) choose(1);
}

std::size_t positive_entries(const std::vector<std::uint64_t>& counts) {
  return static_cast<std::size_t>(std::count_if(counts.begin(), counts.end(), [](auto n) { return n > 0; }));
}

/// "'a', 'b' and 3 more".
std::string group_list(const TaskGroups& groups, const std::vector<std::size_t>& which) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kShown, which.size()); ++i) {
    names.push_back(fmt::format("'{}'", printable(groups.names[which[i]])));
  }
  std::string list = fmt::format("{}", fmt::join(names, ", "));
  if (which.size() > kShown) list += fmt::format(" and {} more", which.size() - kShown);
  return list;
}

void warn_of_groups(const TaskGroups& groups, std::uint64_t least_tasks, FairnessStudy& study) {
  if (study.tasks_without_group > 0) {
    study.warnings.push_back(
        {"tasks_without_group",
         fmt::format("{} answered task{} no group and {} left out of all gaps.", study.tasks_without_group,
                     study.tasks_without_group == 1 ? " has" : "s have", study.tasks_without_group == 1 ? "is" : "are"),
         "Fill in the group, or leave them out on purpose.", Severity::note});
  }
  if (positive_entries(study.group_tasks) < 2) {
    study.warnings.push_back({"one_group", "Fewer than two groups have answered tasks, so there is no gap to measure.",
                              "Choose a column that divides the tasks.", Severity::serious});
    return;
  }
  std::vector<std::size_t> small, left_out;
  for (std::size_t g = 0; g < groups.count(); ++g) {
    if (study.group_tasks[g] > 0 && study.compared[g] == 0) left_out.push_back(g);
    if (study.compared[g] != 0 && study.group_tasks[g] < kFewTasks) small.push_back(g);
  }
  if (!left_out.empty()) {
    study.warnings.push_back(
        {"groups_left_out",
         fmt::format("{} group{} fewer than {} tasks ({}) and {} left out of gaps and limits, which would be mostly "
                     "chance.",
                     left_out.size(), left_out.size() == 1 ? " has" : "s have", least_tasks,
                     group_list(groups, left_out), left_out.size() == 1 ? "is" : "are"),
         "Put small groups together where that makes sense, or compare them all the same with `least_tasks=1`.",
         Severity::note});
  }
  if (!small.empty()) {
    study.warnings.push_back(
        {"small_groups",
         fmt::format("{} group{} fewer than {} tasks ({}), so {} rates are hardly known and gaps that involve them are "
                     "mostly chance.",
                     small.size(), small.size() == 1 ? " has" : "s have", kFewTasks, group_list(groups, small),
                     small.size() == 1 ? "its" : "their"),
         "Look at the intervals; put small groups together where that makes sense.", Severity::caution});
  }
  std::vector<std::size_t> without;
  for (std::size_t g = 0; g < groups.count(); ++g) {
    if (study.group_tasks[g] > 0 && study.group_gold[g] == 0) without.push_back(g);
  }
  if (without.empty()) return;
  const bool some = positive_entries(study.group_gold) > 0;
  study.warnings.push_back(
      {"common_bias_unknown",
       fmt::format("{}: where all workers see the same tasks of a group in the same wrong way, this looks just like "
                   "another share of the class in that group. Without gold a bias that all share cannot be known.",
                   some ? fmt::format("There is no gold in {}", group_list(groups, without)) : "There is no gold"),
       "Give `gold` for some tasks of every group.", Severity::caution});
}

/// Labels of tasks that somebody answered.
std::vector<ClassId> labels_of_answered(const CategoryAnswers& answers, std::vector<ClassId> labels) {
  for (std::size_t t = 0; t < labels.size(); ++t) {
    if (answers.workers_of(TaskId(t)).empty()) labels[t] = kNoClass;
  }
  return labels;
}

class Measurer {
 public:
  Measurer(const CategoryData& data, const TaskGroups& groups, FairnessStudy& study, const RunContext& context)
      : data_(data), groups_(groups), study_(study), context_(context) {}

  void labels(const std::string& name, const std::vector<ClassId>& labels, std::span<const double> posterior) {
    const std::vector<ClassId> answered = labels_of_answered(data_.answers, labels);
    add(name, {answered, posterior, data_.gold, data_.answers.class_count(), study_.compared}, false);
  }
  void answers(std::span<const double> posterior) {
    add("answers", {{}, posterior, data_.gold, data_.answers.class_count(), study_.compared}, true);
  }

 private:
  void add(const std::string& name, const LabelledTasks& tasks, bool of_answers) {
    FairnessStudy::Labelling labelling{name, {}};
    for (const ClassId positive : study_.positive) {
      for (Gap& gap : of_answers ? measure_answer_gaps(data_.answers, tasks, groups_, positive)
                                 : measure_gaps(tasks, groups_, positive, context_)) {
        // Accuracy does not depend on which class is the positive one.
        if (gap.measure == GapMeasure::accuracy && positive != study_.positive.front()) continue;
        labelling.gaps.push_back(std::move(gap));
      }
    }
    study_.labellings.push_back(std::move(labelling));
  }

  const CategoryData& data_;
  const TaskGroups& groups_;
  FairnessStudy& study_;
  const RunContext& context_;
};

}  // namespace

TaskGroups compared_groups(const TaskGroups& groups, std::span<const char> compared) {
  TaskGroups left = groups;
  for (GroupId& group : left.of_task) {
    if (group != kNoGroup && compared[index(group)] == 0) group = kNoGroup;
  }
  return left;
}

FairnessStudy study_fairness(const CategoryData& data, const CategoryFit& fit, const TaskGroups& groups,
                             const FairnessOptions& options, const RunContext& context) {
  check_study(data, fit, groups, options);
  FairnessStudy study;
  study.positive = positive_classes(options.workers.positive, fit.class_count);
  study.reference = options.workers.reference == kNoGroup ? largest_group(groups) : options.workers.reference;
  count_tasks(data, groups, study);
  choose_compared(options.least_tasks, study);
  warn_of_groups(groups, options.least_tasks, study);

  CategoryData unseen = data;  // copies share the answers; only the gold is withheld
  unseen.gold.clear();
  study.labels_fit = fit_group_tables(unseen, groups, options.tables, context, {fit.posterior});
  study.workers_fit = study.labels_fit;
  if (data.has_gold() && !context.cancelled()) {
    GroupTableOptions tables = options.tables;
    tables.kappa = study.labels_fit.kappa;
    tables.choose_kappa = false;
    study.workers_fit = fit_group_tables(data, groups, tables, context, {fit.posterior});
  }
  study.warnings.insert(study.warnings.end(), study.labels_fit.warnings.begin(), study.labels_fit.warnings.end());
  WorkerBiasOptions workers = options.workers;
  workers.reference = study.reference;
  study.workers = worker_biases(study.workers_fit, data.answers, groups, workers, context);

  Measurer measure(data, groups, study, context);
  measure.answers(fit.posterior);
  measure.labels("labels", fit.labels, fit.posterior);
  measure.labels("labels_by_group", study.labels_fit.labels, study.labels_fit.posterior);
  if (options.limit && !context.cancelled()) {
    GapLimit limit = *options.limit;
    limit.positive = study.positive.front();
    study.limited = limit_gap(fit, compared_groups(groups, study.compared), limit, context);
    measure.labels("limited", study.limited->labels, fit.posterior);
    if (!study.limited->coarse.empty()) {
      std::vector<std::size_t> coarse;
      for (const GroupId group : study.limited->coarse) coarse.push_back(index(group));
      study.warnings.push_back({"limit_finer_than_a_task",
                                fmt::format("One task moves the rate of {} by more than the limit, so whole labels "
                                            "only come near it.",
                                            group_list(groups, coarse)),
                                "Let the labels at the boundary be drawn (`randomise`), or raise the limit.",
                                Severity::note});
    }
  }
  return study;
}

}  // namespace wisecrowd
