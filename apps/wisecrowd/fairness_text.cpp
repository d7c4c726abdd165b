#include "fairness_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "run_summary.hpp"
#include "screen_text.hpp"
#include "table.hpp"

namespace wisecrowd::app {
namespace {

constexpr std::size_t kShownRows = 8;
constexpr std::size_t kShownGaps = 20;

std::string measure_in_words(GapMeasure measure) {
  switch (measure) {
    case GapMeasure::demographic_parity: return "demographic parity";
    case GapMeasure::equal_opportunity: return "equal opportunity";
    case GapMeasure::false_positive_rate: return "false positives";
    case GapMeasure::equalised_odds: return "equalised odds";
    case GapMeasure::accuracy: return "accuracy";
  }
  return "";
}

std::string labelling_in_words(const std::string& name) { return name == "labels_by_group" ? "by group" : name; }

std::string group_in_short(const FairnessResult& result, GroupId group, std::size_t width = 14) {
  return group == kNoGroup ? "–" : shortened_name(result.groups.names[index(group)], width);
}

std::string class_in_short(const FairnessResult& result, ClassId k) {
  return shortened_name(result.data.answers.class_names()[index(k)], 14);
}

std::string interval_in_points(const Estimate& e) {
  if (std::isnan(e.low)) return "–";
  return fmt::format("{:.1f} to {:.1f}", 100 * e.low, 100 * e.high);
}

/// Shorter, where nothing is below 0.
std::string range_in_points(const Estimate& e) {
  return std::isnan(e.low) ? "–" : fmt::format("{:.1f}–{:.1f}", 100 * e.low, 100 * e.high);
}

std::string signed_points(const Estimate& e) {
  return std::isnan(e.value) ? "–" : fmt::format("{:+.1f}", 100 * e.value);
}

std::string groups_line(const FairnessResult& result) {
  std::string text;
  std::size_t shown = 0;
  for (std::size_t g = 0; g < result.groups.count() && shown < kShownRows; ++g, ++shown) {
    text += fmt::format("{}{} {}", g > 0 ? ", " : "", group_in_short(result, GroupId(g), 20),
                        grouped(result.study.group_tasks[g]));
  }
  if (result.groups.count() > shown) text += fmt::format(" and {} more groups", result.groups.count() - shown);
  if (result.study.tasks_without_group > 0)
    text += fmt::format("; {} without", grouped(result.study.tasks_without_group));
  return text;
}

/// Whose truth the measures that need one are about.
std::string truth_line(const FairnessResult& result) {
  for (const auto& labelling : result.study.labellings) {
    for (const Gap& gap : labelling.gaps) {
      if (gap.measure == GapMeasure::demographic_parity) continue;
      if (gap.by_gold) return fmt::format("gold of {}", counted(result.record.gold_tasks, "task"));
      return "what the model expects, for there is no gold in two groups";
    }
  }
  return "";
}

std::string gaps_table(const FairnessResult& result, const Screen& screen) {
  const bool several = result.study.positive.size() > 1;
  std::vector<Column> columns = {{"gap in points", Column::Side::left}};
  columns.push_back({several ? "class" : "of", Column::Side::left});
  columns.insert(columns.end(), {{"gap"}, {"95 %"}, {"highest", Column::Side::left}, {"lowest", Column::Side::left}});
  Table table(columns);
  std::size_t rows = 0, left_out = 0;
  // What the other columns leave to the two with groups.
  const std::size_t name_width = std::clamp<std::size_t>((std::max<std::size_t>(screen.width, 60) - 48) / 2 - 6, 6, 20);
  // Measure by measure, so that answers and labels stand together.
  for (const Gap& pattern : result.study.labellings.front().gaps) {
    for (const auto& labelling : result.study.labellings) {
      if (several && labelling.name != (result.study.limited ? "limited" : "labels")) continue;
      for (const Gap& gap : labelling.gaps) {
        if (gap.measure != pattern.measure || gap.positive != pattern.positive) continue;
        if (rows++ >= kShownGaps) {
          ++left_out;
          continue;
        }
        const auto end = [&](GroupId group) {
          if (group == kNoGroup || gap.rates.empty()) return group_in_short(result, group, name_width);
          return fmt::format("{} {:.1f}", group_in_short(result, group, name_width),
                             100 * gap.rates[index(group)].value);
        };
        const bool first = several || labelling.name == result.study.labellings.front().name;
        table.add({first ? measure_in_words(gap.measure) : "",
                   several ? class_in_short(result, gap.positive) : labelling_in_words(labelling.name),
                   std::isnan(gap.gap.value) ? "–" : fmt::format("{:.1f}", 100 * gap.gap.value),
                   range_in_points(gap.gap), end(gap.highest), end(gap.lowest)});
      }
    }
  }
  std::string text = table.text(screen.width, screen.dim_on(), screen.off());
  if (left_out > 0) text += fmt::format("  … and {} more, in gaps.csv\n", left_out);
  return text;
}

std::string bias_table(const FairnessResult& result, const Screen& screen) {
  std::vector<const WorkerBias*> order;
  for (const WorkerBias& bias : result.study.workers) {
    if (!std::isnan(bias.false_positive_rate.value)) order.push_back(&bias);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const WorkerBias* a, const WorkerBias* b) { return a->tail < b->tail; });
  const auto biased = static_cast<std::size_t>(
      std::count_if(order.begin(), order.end(), [](const WorkerBias* bias) { return bias->biased; }));
  std::vector<WorkerId> named;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i]->biased) named.push_back(order[i]->worker);
  }
  std::sort(named.begin(), named.end());
  named.erase(std::unique(named.begin(), named.end()), named.end());
  std::string text = summary_line(
      "Workers",
      order.empty() ? std::string("nobody answered tasks of two groups")
      : biased == 0
          ? std::string("none treats groups so differently that it cannot be chance; the largest gaps:")
          : fmt::format("{} of {} treat{} groups more differently than chance explains", grouped(named.size()),
                        counted(result.data.answers.worker_count(), "worker"), named.size() == 1 ? "s" : ""),
      screen);
  if (order.empty()) return text;
  const bool several = result.study.positive.size() > 1;
  const bool groups = result.groups.count() > 2;
  std::vector<Column> columns = {{"worker", Column::Side::left}};
  if (groups) columns.push_back({"group", Column::Side::left});
  if (several) columns.push_back({"class", Column::Side::left});
  columns.insert(columns.end(), {{"answers"}, {"false pos."}, {"95 %"}, {"true pos."}, {"95 %"}});
  Table table(columns);
  const std::size_t shown = std::min(biased > 0 ? std::min(kShownRows, biased) : std::size_t{3}, order.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const WorkerBias& bias = *order[i];
    std::vector<std::string> cells = {shortened_name(result.data.answers.worker_names()[index(bias.worker)], 20)};
    if (groups) cells.push_back(group_in_short(result, bias.group, 12));
    if (several) cells.push_back(class_in_short(result, bias.positive));
    cells.insert(cells.end(), {grouped(bias.answers + bias.reference_answers), signed_points(bias.false_positive_rate),
                               interval_in_points(bias.false_positive_rate), signed_points(bias.true_positive_rate),
                               interval_in_points(bias.true_positive_rate)});
    table.add(std::move(cells));
  }
  text += table.text(screen.width, screen.dim_on(), screen.off());
  if (biased > shown) text += fmt::format("  … and {} more, in workers.csv\n", biased - shown);
  const auto other = groups
                         ? std::string("other groups")
                         : group_in_short(result, GroupId(1 - std::min<std::size_t>(1, index(result.study.reference))));
  return text + "  " +
         wrapped(fmt::format("In points, {} against {}; {}.", other, group_in_short(result, result.study.reference, 20),
                             several ? "each class against all others"
                                     : fmt::format("'{}' is the positive class",
                                                   class_in_short(result, result.study.positive.front()))),
                 screen.width, 2) +
         "\n";
}

std::string limit_text(const FairnessResult& result, const Screen& screen) {
  if (!result.study.limited) return "";
  const LimitedLabels& limited = *result.study.limited;
  return "\n" + summary_line("Limited",
                             fmt::format("the gap of {} is {:.1f} points (it was {:.1f}); {} changed; expected errors "
                                         "{} (they were {})",
                                         measure_in_words(result.options.limit->measure), 100 * limited.gap,
                                         100 * limited.gap_before, counted(limited.changed, "label"),
                                         percent(limited.expected_error), percent(limited.expected_error_before)),
                             screen);
}

std::string assignment_text(const FairnessResult& result, const Screen& screen) {
  if (!result.assignment) return "";
  const PlannedAssignment& assigned = *result.assignment;
  if (!assigned.plan.feasible) return "\n" + summary_line("Assign", "cannot be had: " + assigned.plan.reason, screen);
  return "\n" + summary_line("Assign",
                             fmt::format("{} to {}, {} each: {} right in the mean, {:.1f} points between groups "
                                         "(of single answers, not of labels made of them)",
                                         counted(assigned.answers.size(), "answer"),
                                         counted(assigned.groups.size(), "task"), assigned.request.answers_per_task,
                                         percent(assigned.plan.accuracy), 100 * assigned.plan.gap),
                             screen);
}

std::string training_text(const FairnessResult& result, const Screen& screen) {
  if (!result.training) return "";
  const TrainingEffect& effect = *result.training;
  const auto change = [](double by_labels, double by_truth) { return 100 * (by_labels - by_truth); };
  return "\n" + summary_line(
                    "Train",
                    fmt::format("a {} classifier that learns from the labels instead of from gold: accuracy {:.1f} "
                                "instead of {:.1f} ({:+.1f} points), demographic parity gap {:.1f} instead of {:.1f} "
                                "({:+.1f} points), on {} that it did not train on",
                                effect.network, 100 * effect.accuracy_by_labels, 100 * effect.accuracy_by_truth,
                                change(effect.accuracy_by_labels, effect.accuracy_by_truth),
                                100 * effect.parity_by_labels, 100 * effect.parity_by_truth,
                                change(effect.parity_by_labels, effect.parity_by_truth), counted(effect.tasks, "task")),
                    screen);
}

}  // namespace

std::string fairness_text(const FairnessResult& result, const Screen& screen) {
  const CategoryAnswers& answers = result.data.answers;
  std::string text =
      summary_line("Data",
                   fmt::format("{} by {} to {}", counted(answers.answer_count(), "answer"),
                               counted(answers.worker_count(), "worker"), counted(answers.task_count(), "task")),
                   screen);
  text += summary_line("Groups", fmt::format("{}: {}", printable(result.group_column), groups_line(result)), screen);
  text += summary_line("Labels", fmt::format("by {}; truth: {}", result.record.method, truth_line(result)), screen);
  text += "\n" + gaps_table(result, screen) + "\n" + bias_table(result, screen);
  return text + limit_text(result, screen) + assignment_text(result, screen) + training_text(result, screen);
}

}  // namespace wisecrowd::app
