#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "result/report_facts.hpp"
#include "wisecrowd/asking.hpp"
#include "wisecrowd/messages.hpp"
#include "wisecrowd/names.hpp"
#include "wisecrowd/state_result.hpp"

namespace wisecrowd {
namespace {

/// Warnings that only say how much there is yet.
bool is_urgent(std::string_view code) {
  return code != "unanswered_tasks" && code != "silent_workers" && code != "unused_classes";
}

std::string tasks_words(std::size_t count) { return count == 1 ? "1 task" : fmt::format("{} tasks", count); }

/// One alert for each worker about whom something should be done, who gave most answers first.
void add_workers(const CategoryResult& result, const RunContext& context, std::vector<Alert>& alerts) {
  const CategoryAnswers& answers = result.data.answers;
  std::vector<std::uint32_t> order(result.workers.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return result.workers[a].answers > result.workers[b].answers;
  });
  const AdviceFacts advice = advise(result, order, context);
  for (const std::uint32_t w : order) {
    if (advice.judged[w] == 0) continue;
    const WorkerAssessment& judged = advice.workers[w];
    if (judged.advice == WorkerAdvice::keep || judged.advice == WorkerAdvice::unsure) continue;
    Alert alert;
    std::string what(to_string(judged.advice));
    alert.code = "worker_" + what.substr(0, what.find(' '));
    alert.workers.emplace_back(answers.worker_names()[w]);
    alert.count = 1;
    if (judged.advice == WorkerAdvice::stop) what += " asking";
    alert.message = fmt::format("{} '{}', who gave {} answers: {}.", what, printable(alert.workers.front()),
                                judged.answers, printable(reason_of(judged, answers.class_names())));
    alert.message.front() = static_cast<char>(alert.message.front() - 'a' + 'A');
    alerts.push_back(std::move(alert));
  }
}

/// Those who have not recovered.
void add_alarms(const std::vector<WorkerAlarm>& alarms, std::vector<Alert>& alerts) {
  for (const WorkerAlarm& alarm : alarms) {
    if (alarm.recovered > 0) continue;
    const std::string message = fmt::format("'{}' answers worse than before: {}. Let it rest, or ask it why.",
                                            printable(alarm.worker), alarm.text());
    alerts.push_back({"worker_worse", true, message, {alarm.worker}, {}, 1});
  }
}

void name_tasks(const CategoryResult& result, std::vector<std::size_t> tasks, const AlertOptions& options,
                Alert& alert) {
  const auto given = [&](std::size_t t) { return result.data.answers.labels_of(TaskId(t)).size(); };
  std::stable_sort(tasks.begin(), tasks.end(), [&](std::size_t a, std::size_t b) { return given(a) > given(b); });
  alert.count = tasks.size();
  tasks.resize(std::min(tasks.size(), options.most_named));
  for (const std::size_t t : tasks) alert.tasks.emplace_back(result.data.answers.task_names()[t]);
}

void add_disagreement(const CategoryResult& result, const AlertOptions& options, std::vector<Alert>& alerts) {
  const CategoryAnswers& answers = result.data.answers;
  std::vector<std::size_t> split;
  std::vector<std::size_t> contradicted;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto labels = answers.labels_of(TaskId(t));
    if (labels.size() < options.least_answers) continue;
    const auto posterior = result.aggregation.posterior_of(TaskId(t));
    const ClassId truth = result.data.gold_of(TaskId(t));
    if (*std::max_element(posterior.begin(), posterior.end()) < options.agreed) split.push_back(t);
    if (truth != kNoClass && std::find(labels.begin(), labels.end(), truth) == labels.end()) contradicted.push_back(t);
  }
  if (!split.empty()) {
    Alert alert;
    alert.code = "no_agreement";
    alert.message = fmt::format(
        "{} have {} answers or more and no class with probability {}: look at them yourself, "
        "or make the question clearer.",
        tasks_words(split.size()), options.least_answers, options.agreed);
    name_tasks(result, split, options, alert);
    alerts.push_back(std::move(alert));
  }
  if (!contradicted.empty()) {
    Alert alert;
    alert.code = "gold_contradicted";
    alert.message = fmt::format("nobody gave the known truth of {} with {} answers or more: check this gold.",
                                tasks_words(contradicted.size()), options.least_answers);
    name_tasks(result, contradicted, options, alert);
    alerts.push_back(std::move(alert));
  }
}

}  // namespace

std::vector<Alert> state_alerts(const CategoryResult& result, const AlertOptions& options, const RunContext& context,
                                const std::vector<WorkerAlarm>& alarms) {
  std::vector<Alert> alerts;
  for (const auto* warnings : {&result.aggregation.warnings, &result.record.data_warnings}) {
    for (const Warning& warning : *warnings) {
      alerts.push_back({warning.code, is_urgent(warning.code), full_text(warning), {}, {}, 0});
    }
  }
  add_workers(result, context, alerts);
  add_alarms(alarms, alerts);
  add_disagreement(result, options, alerts);
  std::stable_partition(alerts.begin(), alerts.end(), [](const Alert& alert) { return alert.urgent; });
  return alerts;
}

}  // namespace wisecrowd
