#include "state_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "run_summary.hpp"
#include "screen_text.hpp"
#include "shared_json.hpp"
#include "table.hpp"

namespace wisecrowd::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kStateClasses = 10;
constexpr std::size_t kShownTasks = 5;
constexpr std::size_t kStateWorkers = 3;   // of the best, and of the worst
constexpr std::size_t kShownAnswers = 20;  // to one task
constexpr std::size_t kStateAlarms = 10;

std::string class_name(const StateSummary& summary, std::size_t k) {
  return k < summary.classes.size() ? printable(summary.classes[k]) : "–";
}

std::string table_text(const Table& table, const Screen& screen) {
  return table.text(screen.width, screen.dim_on(), screen.off());
}

/// The classes of a row of probabilities, the most probable first.
std::vector<std::size_t> by_probability(std::span<const double> row) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
  return order;
}

std::string class_table(const StateSummary& summary, const Screen& screen) {
  const auto order = by_probability(summary.class_prior);
  Table table({{"class", Column::Side::left}, {"share of tasks"}});
  for (std::size_t i = 0; i < std::min(order.size(), kStateClasses); ++i) {
    table.add({class_name(summary, order[i]), percent(summary.class_prior[order[i]])});
  }
  std::string text = table_text(table, screen);
  if (order.size() > kStateClasses) text += fmt::format("  … and {} more classes\n", order.size() - kStateClasses);
  return text;
}

std::string uncertain_table(const CrowdState& state, const StateSummary& summary, const Screen& screen) {
  const Candidates tasks = state.candidates(kShownTasks);
  Table table(
      {{"most uncertain task", Column::Side::left}, {"answers"}, {"label", Column::Side::left}, {"probability"}});
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const auto posterior = std::span(tasks.posterior).subspan(t * tasks.class_count, tasks.class_count);
    if (posterior.empty()) continue;
    const auto best =
        static_cast<std::size_t>(std::max_element(posterior.begin(), posterior.end()) - posterior.begin());
    table.add({printable(tasks.names[t]), grouped(tasks.task_answers[t]), shortened_name(summary.classes[best], 20),
               fixed(posterior[best], 3)});
  }
  return table.empty() ? "" : table_text(table, screen);
}

/// In the order of the accuracy that the prior tempers, so that one lucky answer does not make a champion.
std::string worker_table(const CrowdState& state, const Screen& screen) {
  const KnownWorkers workers = state.workers();
  const std::size_t classes = workers.tables.class_count();
  std::vector<double> tempered(workers.names.size(), 0.0);
  std::vector<std::size_t> order;
  for (std::size_t w = 0; w < workers.names.size(); ++w) {
    const auto counts = workers.tables.table(WorkerId(w));
    const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
    for (std::size_t k = 0; k < classes; ++k) tempered[w] += counts[k * classes + k] / sum;
    if (workers.answers[w] > 0) order.push_back(w);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return tempered[a] > tempered[b]; });
  Table table({{"worker", Column::Side::left}, {"answers"}, {"right"}});
  const auto add = [&](std::size_t w) {
    table.add({printable(workers.names[w]), grouped(workers.answers[w]), percent(workers.accuracy[w])});
  };
  const bool all = order.size() <= 2 * kStateWorkers;
  for (std::size_t i = 0; i < (all ? order.size() : kStateWorkers); ++i) add(order[i]);
  if (!all) {
    table.add({fmt::format("… {} more", grouped(order.size() - 2 * kStateWorkers))});
    for (std::size_t i = order.size() - kStateWorkers; i < order.size(); ++i) add(order[i]);
  }
  return table.empty() ? "" : table_text(table, screen);
}

Json staleness_json(const Staleness& stale) {
  const std::string advice = stale.advice();
  return {{"answers_at_refit", stale.answers_at_refit},
          {"answers_since", stale.answers_since},
          {"classes_since", stale.classes_since},
          {"truths_since", stale.truths_since},
          {"probed_tasks", stale.probed_tasks},
          {"mean_shift", stale.mean_shift},
          {"probed_labels_changed", stale.probed_labels_changed},
          {"refit_advised", !advice.empty()},
          {"advice", advice.empty() ? Json(nullptr) : Json(advice)}};
}

Json gold_json(const StateSummary& summary) {
  if (summary.gold_tasks == 0) return nullptr;
  const bool seen = summary.gold_use == GoldUse::inference;
  Json json = {{"tasks", summary.gold_tasks},
               {"answered", summary.gold_answered},
               {"used_for", seen ? "inference" : "evaluation"}};
  if (!seen && summary.gold_answered > 0) {
    json["accuracy"] = {
        {"value", summary.gold_accuracy}, {"low", summary.gold_accuracy_low}, {"high", summary.gold_accuracy_high}};
  }
  return json;
}

}  // namespace

std::string state_lines(const std::string& path, const StateSummary& summary, const Screen& screen) {
  const auto line = [&](const std::string& title, const std::string& text) {
    return summary_line(title, text, screen);
  };
  std::string text =
      line("State", fmt::format("{}: {} by {} to {}, {}", shell_word(path), counted(summary.answers, "answer"),
                                counted(summary.workers, "worker"), counted(summary.tasks, "task"),
                                counted(summary.classes.size(), "class")));
  const Staleness& stale = summary.staleness;
  if (stale.answers_since == 0) {
    text += line("Fresh", "the estimates are those of a fit to all answers");
  } else {
    std::string words = fmt::format("{} absorbed since the last fit, which saw {}",
                                    counted(stale.answers_since, "answer"), grouped(stale.answers_at_refit));
    if (stale.probed_tasks > 0) {
      words += fmt::format("; {} touched again had drifted by {:.4f} on average", counted(stale.probed_tasks, "task"),
                           stale.mean_shift);
    }
    text += line("Fresh", words);
  }
  if (summary.gold_tasks > 0 && summary.gold_use == GoldUse::inference) {
    text += line("Gold", fmt::format("{}, which the fit sees", counted(summary.gold_tasks, "known truth")));
  } else if (summary.gold_tasks > 0) {
    text +=
        line("Gold", summary.gold_answered == 0
                         ? fmt::format("{}, none of an answered task", counted(summary.gold_tasks, "known truth"))
                         : fmt::format("accuracy {} ({:.1f} to {:.1f}) on {} that the fit does not see",
                                       percent(summary.gold_accuracy), 100 * summary.gold_accuracy_low,
                                       100 * summary.gold_accuracy_high, counted(summary.gold_answered, "gold task")));
  }
  const std::string advice = stale.advice();
  if (!advice.empty()) {
    text += line("Advice", fmt::format("{}: wisecrowd state refit {}", advice, shell_word(path)));
  }
  return text;
}

std::string state_tables(const CrowdState& state, const StateSummary& summary, const Screen& screen) {
  std::string text;
  for (const std::string& table :
       {class_table(summary, screen), uncertain_table(state, summary, screen), worker_table(state, screen)}) {
    if (!table.empty()) text += "\n" + table;
  }
  return text;
}

std::string task_text(const TaskState& task, const StateSummary& summary, const Screen& screen) {
  const auto line = [&](const std::string& title, const std::string& words) {
    return summary_line(title, words, screen);
  };
  std::string text = line("Task", printable(task.name));
  text += line("Label", fmt::format("{}, with probability {}", class_name(summary, index(task.label)),
                                    fixed(task.probability, 4)));
  if (task.truth != kNoClass) text += line("Gold", class_name(summary, index(task.truth)));
  Table classes({{"class", Column::Side::left}, {"probability"}, {"answers"}});
  const auto order = by_probability(task.posterior);
  for (std::size_t i = 0; i < std::min(order.size(), kStateClasses); ++i) {
    const auto votes = std::count_if(task.answers.begin(), task.answers.end(),
                                     [&](const auto& answer) { return index(answer.label) == order[i]; });
    classes.add({class_name(summary, order[i]), fixed(task.posterior[order[i]], 4),
                 grouped(static_cast<std::uint64_t>(votes))});
  }
  text += "\n" + table_text(classes, screen);
  if (task.answers.empty()) return text + "\n" + line("Answers", "none yet");
  Table answers({{"worker", Column::Side::left}, {"answer", Column::Side::left}});
  for (std::size_t a = 0; a < std::min(task.answers.size(), kShownAnswers); ++a) {
    answers.add(
        {printable(task.answers[a].worker), shortened_name(class_name(summary, index(task.answers[a].label)), 30)});
  }
  if (task.answers.size() > kShownAnswers) answers.add({fmt::format("… {} more", task.answers.size() - kShownAnswers)});
  return text + "\n" + table_text(answers, screen);
}

std::string worker_text(const WorkerView& worker, const StateSummary& summary, const Screen& screen) {
  const auto line = [&](const std::string& title, const std::string& words) {
    return summary_line(title, words, screen);
  };
  const std::size_t classes = summary.classes.size();
  std::string text = line("Worker", printable(worker.name));
  text += line("Answers", grouped(worker.answers));
  const double remembered = std::accumulate(worker.counts.begin(), worker.counts.end(), 0.0);
  const bool forgets = remembered + 0.5 < static_cast<double>(worker.answers);
  text += line("Right", fmt::format("{} of {}, as far as the labels are right", percent(worker.accuracy),
                                    forgets ? fmt::format("the last {:.0f} or so", remembered) : "them"));
  Table table({{"truth", Column::Side::left}, {"answers"}, {"says so"}, {"or, most often", Column::Side::left}, {""}});
  for (std::size_t k = 0; k < std::min(classes, kStateClasses); ++k) {
    const auto row = std::span(worker.confusion).subspan(k * classes, classes);
    const double seen = std::accumulate(worker.counts.begin() + static_cast<std::ptrdiff_t>(k * classes),
                                        worker.counts.begin() + static_cast<std::ptrdiff_t>((k + 1) * classes), 0.0);
    std::vector<std::string> cells = {class_name(summary, k), fixed(seen, 1), percent(row[k])};
    for (const std::size_t l : by_probability(row)) {
      if (l == k) continue;
      cells.push_back(shortened_name(summary.classes[l], 20));
      cells.push_back(percent(row[l]));
      break;
    }
    table.add(cells);
  }
  text += "\n" + table_text(table, screen);
  if (classes > kStateClasses) text += fmt::format("  … and {} more classes\n", classes - kStateClasses);
  return text;
}

std::string absorbed_lines(const Absorbed& absorbed, const Screen& screen) {
  const auto line = [&](const std::string& title, const std::string& words) {
    return summary_line(title, words, screen);
  };
  std::string text =
      line("Added", fmt::format("{}: {}, {}", counted(absorbed.answers, "answer"),
                                counted(absorbed.new_tasks, "new task"), counted(absorbed.new_workers, "new worker")));
  if (absorbed.replaced > 0) {
    text += line("", fmt::format("{} to tasks that the worker had answered before: {} said something else and took the "
                                 "place of the earlier one",
                                 counted(absorbed.replaced, "answer"), absorbed.contradicting));
  }
  if (!absorbed.new_classes.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : absorbed.new_classes) names.push_back(printable(name));
    text += line("", fmt::format("{}: {}", counted(names.size(), "new class"), fmt::join(names, ", ")));
  }
  if (absorbed.labels_changed > 0) {
    text += line("Labels", fmt::format("{} of {} changed", counted(absorbed.labels_changed, "label"),
                                       counted(absorbed.tasks_touched, "task")));
  }
  return text + alarm_lines(absorbed.alarms, screen);
}

std::string alarm_lines(const std::vector<WorkerAlarm>& alarms, const Screen& screen) {
  std::string text;
  const std::size_t shown = std::min(alarms.size(), kStateAlarms);
  for (std::size_t a = alarms.size(); a > alarms.size() - shown; --a) {
    const WorkerAlarm& alarm = alarms[a - 1];
    text += summary_line("Alarm", fmt::format("'{}' {}", printable(alarm.worker), alarm.text()), screen);
  }
  if (alarms.size() > shown) text += summary_line("", fmt::format("… {} more", grouped(alarms.size() - shown)), screen);
  return text;
}

Json alarms_json(const std::vector<WorkerAlarm>& alarms) {
  Json list = Json::array();
  for (const WorkerAlarm& alarm : alarms) {
    list.push_back({{"worker", alarm.worker},
                    {"raised", alarm.raised},
                    {"began", alarm.began},
                    {"evidence", alarm.evidence},
                    {"accuracy_before", alarm.accuracy_before},
                    {"accuracy_since", alarm.accuracy_since},
                    {"recovered", alarm.recovered == 0 ? Json(nullptr) : Json(alarm.recovered)}});
  }
  return list;
}

Json summary_json(const StateSummary& summary, const Parameters& parameters) {
  Json settings = Json::object();
  for (const auto& [name, value] : parameters.all()) {
    std::visit([&, key = name](const auto& content) { settings[key] = content; }, value);
  }
  Json reading = Json::object();
  for (const auto& [name, value] : summary.reading) reading[name] = value;
  const Json warnings = warnings_json(summary.warnings);
  Json classes = Json::array();
  for (std::size_t k = 0; k < summary.classes.size(); ++k) {
    classes.push_back({{"class", summary.classes[k]}, {"share", summary.class_prior[k]}});
  }
  return {{"answers", summary.answers},
          {"tasks", summary.tasks},
          {"answered_tasks", summary.answered_tasks},
          {"workers", summary.workers},
          {"classes", classes},
          {"classes_are_fixed", summary.classes_are_fixed},
          {"duplicates", std::string(to_string(summary.duplicates))},
          {"parameters", settings},
          {"schema_version", summary.schema_version},
          {"gold", gold_json(summary)},
          {"reading", reading},
          {"warnings", warnings},
          {"staleness", staleness_json(summary.staleness)}};
}

Json task_json(const TaskState& task, const StateSummary& summary) {
  Json probabilities = Json::object();
  for (std::size_t k = 0; k < task.posterior.size(); ++k) probabilities[summary.classes[k]] = task.posterior[k];
  Json answers = Json::array();
  for (const auto& answer : task.answers) {
    answers.push_back({{"worker", answer.worker}, {"label", summary.classes[index(answer.label)]}});
  }
  return {{"task", task.name},
          {"label", task.label == kNoClass ? Json(nullptr) : Json(summary.classes[index(task.label)])},
          {"gold", task.truth == kNoClass ? Json(nullptr) : Json(summary.classes[index(task.truth)])},
          {"probability", task.probability},
          {"entropy", task.uncertainty},
          {"probabilities", probabilities},
          {"answers", answers}};
}

Json worker_json(const WorkerView& worker, const StateSummary& summary) {
  Json confusion = Json::object();
  const std::size_t classes = summary.classes.size();
  for (std::size_t k = 0; k < classes; ++k) {
    Json row = Json::object();
    for (std::size_t l = 0; l < classes; ++l) row[summary.classes[l]] = worker.confusion[k * classes + l];
    confusion[summary.classes[k]] = row;
  }
  return {{"worker", worker.name},
          {"answers", worker.answers},
          {"accuracy", std::isnan(worker.accuracy) ? Json(nullptr) : Json(worker.accuracy)},
          {"confusion", confusion}};
}

Json absorbed_json(const Absorbed& absorbed) {
  return {{"answers", absorbed.answers},
          {"replaced", absorbed.replaced},
          {"contradicting", absorbed.contradicting},
          {"new_tasks", absorbed.new_tasks},
          {"new_workers", absorbed.new_workers},
          {"new_classes", absorbed.new_classes},
          {"tasks_touched", absorbed.tasks_touched},
          {"labels_changed", absorbed.labels_changed},
          {"alarms", alarms_json(absorbed.alarms)}};
}

}  // namespace wisecrowd::app
