#include "trust_text.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "run_summary.hpp"
#include "screen_text.hpp"
#include "table.hpp"
#include "wisecrowd/messages.hpp"

namespace wisecrowd::app {
namespace {

constexpr std::size_t kShownWorkers = 12, kShownGroups = 5, kShownAlarms = 5, kShownMembers = 6;

std::string name_of(const TrustRun& run, WorkerId worker, std::size_t width = 20) {
  return shortened_name(run.data.answers.worker_names()[index(worker)], width);
}

std::string advice_counts(const TrustStudy& study) {
  constexpr std::pair<WorkerAdvice, std::string_view> kWords[] = {
      {WorkerAdvice::keep, "keep"},       {WorkerAdvice::stop, "stop asking"}, {WorkerAdvice::recode, "recode"},
      {WorkerAdvice::retrain, "retrain"}, {WorkerAdvice::check, "check"},      {WorkerAdvice::unsure, "unsure about"}};
  std::string text;
  for (const auto& [advice, words] : kWords) {
    const auto count = std::count_if(study.workers.begin(), study.workers.end(),
                                     [advice = advice](const auto& judged) { return judged.advice == advice; });
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", words, grouped(static_cast<std::uint64_t>(count)));
  }
  return text;
}

/// Why, without the numbers that stand in other columns.
std::string why(const TrustRun& run, std::uint32_t worker) {
  const WorkerAssessment& judged = run.study.workers[worker];
  const std::uint32_t group = run.study.group[worker];
  const std::string in_group = group == TrustStudy::kAlone ? "" : fmt::format("group {}", group + 1);
  std::string words;
  switch (judged.reason) {
    case AdviceReason::guesses: words = "guesses"; break;
    case AdviceReason::tells_little: words = "hardly better than guessing"; break;
    case AdviceReason::reliably_wrong: words = "wrong more often than by guessing"; break;
    case AdviceReason::swaps_classes: words = "swaps classes"; break;
    case AdviceReason::takes_one_for_another:
      words = fmt::format("says {} for {}", shortened_name(run.data.answers.class_names()[index(judged.said)], 12),
                          shortened_name(run.data.answers.class_names()[index(judged.truth)], 12));
      break;
    case AdviceReason::worse_lately: words = fmt::format("{} before", percent(judged.before)); break;
    case AdviceReason::answers_as_one: return in_group + " answers as one";
    case AdviceReason::colludes:
      return in_group + (judged.advice == WorkerAdvice::stop ? " colludes" : " contradicts the rest");
    default: break;
  }
  if (words.empty()) return in_group;
  return in_group.empty() ? words : fmt::format("{}; {}", words, in_group);
}

std::string workers_in_words(const TrustRun& run, const Screen& screen) {
  const std::vector<std::uint32_t> order = workers_to_look_at(run.study);
  if (order.empty()) return "  Nobody stands out.\n";
  Table table({{"worker", Column::Side::left},
               {"do", Column::Side::left},
               {"answers"},
               {"right"},
               {"labels*"},
               {"why", Column::Side::left}});
  for (std::size_t n = 0; n < std::min(order.size(), kShownWorkers); ++n) {
    const WorkerAssessment& judged = run.study.workers[order[n]];
    const double right = judged.reason == AdviceReason::worse_lately ? judged.lately : judged.accuracy.value;
    table.add({name_of(run, WorkerId{order[n]}),
               judged.advice == WorkerAdvice::stop ? "stop asking" : std::string(to_string(judged.advice)),
               grouped(judged.answers), percent(right), grouped(judged.labels_without), why(run, order[n])});
  }
  std::string text = table.text(screen.width, screen.dim_on(), screen.off());
  if (order.size() > kShownWorkers) {
    text += fmt::format("  and {} more\n", grouped(order.size() - kShownWorkers));
  }
  return text + "  * that would change without it, and without those it answers as one with\n";
}

std::string members(const TrustRun& run, const DependentGroup& group) {
  std::string text;
  for (std::size_t n = 0; n < std::min(group.workers.size(), kShownMembers); ++n) {
    text += fmt::format("{}{}", n == 0 ? "" : ", ", name_of(run, group.workers[n]));
  }
  const std::size_t more = group.workers.size() - std::min(group.workers.size(), kShownMembers);
  return more == 0 ? text : fmt::format("{} and {} more", text, more);
}

std::string groups_in_words(const TrustRun& run, const Screen& screen) {
  const Dependence& found = run.study.dependence;
  std::string text;
  for (std::size_t g = 0; g < std::min(found.groups.size(), kShownGroups); ++g) {
    const DependentGroup& group = found.groups[g];
    const std::string words = fmt::format("{}. {}: {}. {}", g + 1, counted(group.workers.size(), "worker"),
                                          members(run, group), group_in_words(found, group));
    text += "  " + wrapped(words, screen.width - 2, 5) + "\n";
  }
  if (found.groups.size() > kShownGroups) {
    text += fmt::format("  and {} more groups\n", grouped(found.groups.size() - kShownGroups));
  }
  if (!found.attacked.empty()) {
    text += fmt::format("  {} attacked so (attacked_tasks.csv)\n",
                        found.attacked.size() == 1 ? "1 task is" : grouped(found.attacked.size()) + " tasks are");
  }
  return text;
}

std::string alarms_in_words(const TrustRun& run, const Screen& screen) {
  std::string text;
  const auto& alarms = run.study.drift.alarms;
  for (std::size_t a = 0; a < std::min(alarms.size(), kShownAlarms); ++a) {
    text += "  " +
            wrapped(fmt::format("{}: {}", name_of(run, alarms[a].worker), alarm_in_words(alarms[a], run.study.order)),
                    screen.width - 2, 4) +
            "\n";
  }
  if (alarms.size() > kShownAlarms) text += fmt::format("  and {} more\n", grouped(alarms.size() - kShownAlarms));
  return text;
}

}  // namespace

std::string trust_summary(const TrustRun& run, const Screen& screen) {
  const CategoryAnswers& answers = run.data.answers;
  std::string text = fmt::format("{}  {}, {} to {}; labels by {}\n", screen.bold("Whom to trust"),
                                 counted(answers.worker_count(), "worker"), counted(answers.answer_count(), "answer"),
                                 counted(answers.task_count(), "task"), run.record.method);
  text += fmt::format("  {}\n", advice_counts(run.study));
  const auto section = [&](const std::string& title, const std::string& body) {
    if (!body.empty()) text += fmt::format("\n{}\n{}", screen.bold(title), body);
  };
  section("Who to look at, the most urgent first", workers_in_words(run, screen));
  section("Who answers as one", groups_in_words(run, screen));
  section("Who got worse", alarms_in_words(run, screen));
  std::string limits;
  for (const std::string& limit : trust_limits(run.data, run.study)) {
    limits += "  " + wrapped(with_flags(limit), screen.width - 2, 2) + "\n";
  }
  section("What cannot be known", limits);
  return text;
}

}  // namespace wisecrowd::app
