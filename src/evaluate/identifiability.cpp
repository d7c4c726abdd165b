#include <fmt/format.h>

#include <string_view>

#include "wisecrowd/evaluate.hpp"

namespace wisecrowd {
namespace {

/// With two answers to a task a disagreement cannot be settled without knowing the workers.
constexpr double kEnoughAnswersPerTask = 3;
/// From this share on, too many workers are judged by one or two answers.
constexpr double kManyBriefWorkers = 0.25;
constexpr std::size_t kMostClassesListed = 10;

double percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

/// Splinters beside one large part do no harm to the others.
Severity severity_of_parts(const Description& d) {
  constexpr double kMost = 0.8, kNearlyAll = 0.99;  // shares of the tasks in the largest part
  const auto answered = static_cast<double>(d.tasks - d.unanswered_tasks);
  const double largest = static_cast<double>(d.largest_component_tasks) / std::max(answered, 1.0);
  return largest >= kNearlyAll ? Severity::note : largest >= kMost ? Severity::caution : Severity::serious;
}

std::vector<Warning> identifiability_warnings(const Description& d, const CategoryAnswers& answers) {
  std::vector<Warning> warnings;
  const auto warn = [&](const char* code, Severity severity, std::string message, const char* remedy) {
    warnings.push_back({code, std::move(message), remedy, severity});
  };
  if (d.answers == 0) {
    warn("no_answers", Severity::serious, "there are no answers, so nothing can be learned",
         "check that the file is the right one.");
    return warnings;
  }
  const std::size_t answered = d.tasks - d.unanswered_tasks;
  const std::size_t speaking = d.workers - d.silent_workers;
  if (d.answers_per_task.maximum <= 1) {
    warn("one_answer_per_task", Severity::serious,
         "no task has a second answer, so workers cannot be checked against one another and every label is taken on "
         "trust.",
         "Ask more workers about the same tasks, or give gold for some.");
  } else if (d.answers_per_task.median < kEnoughAnswersPerTask) {
    warn("few_answers_per_task", Severity::caution,
         fmt::format("half of the tasks have fewer than 3 answers ({} of {} answered tasks have only one), so that "
                     "disagreements hang on what is known of the workers.",
                     d.single_answer_tasks, answered),
         "Ask for more answers per task, give gold, or use a method with few parameters per worker.");
  }
  if (speaking == 1) {
    warn("single_worker", Severity::serious, "all answers come from one worker, so there is nobody to compare with.",
         "Ask other workers, or give gold.");
  } else if (percent(d.workers_below_three_answers, speaking) >= 100 * kManyBriefWorkers) {
    warn("few_answers_per_worker", Severity::caution,
         fmt::format("{} of {} workers ({:.0f} %) gave fewer than 3 answers, too few to learn how reliable they are.",
                     d.workers_below_three_answers, speaking, percent(d.workers_below_three_answers, speaking)),
         "Ask fewer workers more tasks each, or use a method that shares strength between workers or majority vote.");
  }
  if (d.components > 1 && speaking > 1) {
    warn("disconnected_parts", severity_of_parts(d),
         fmt::format("the answers fall into {} parts that share no worker: the largest has {} of {} tasks and {} of {} "
                     "workers. Which class is which is decided in each part alone.",
                     d.components, d.largest_component_tasks, answered, d.largest_component_workers, speaking),
         "Let some workers answer tasks of several parts, or treat the parts one by one.");
  }
  std::vector<std::string_view> unused;
  for (std::size_t k = 0; k < d.classes; ++k) {
    if (d.answers_per_class[k] == 0) unused.push_back(answers.class_names()[k]);
  }
  if (d.classes - unused.size() == 1) {
    warn("single_class", Severity::serious, "every answer is the same class, so there is nothing to decide.",
         "Check the label column, or collect tasks where the answer is in doubt.");
  } else if (!unused.empty()) {
    const std::size_t listed = std::min(unused.size(), kMostClassesListed);
    warn("unused_classes", Severity::note,
         fmt::format("no worker ever answered {}{}",
                     fmt::join(unused.begin(), unused.begin() + static_cast<std::ptrdiff_t>(listed), ", "),
                     unused.size() > listed ? fmt::format(" and {} more classes", unused.size() - listed) : ""),
         "check the class list for typing errors, or shorten it.");
  }
  return warnings;
}

}  // namespace wisecrowd
