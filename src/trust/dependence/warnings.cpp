#include <fmt/core.h>

#include <algorithm>

#include "wisecrowd/dependence.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kShownMembers = 20, kShownOfMore = 5, kShownGroups = 5;
/// Share of the workers from which on a group may be the one that is right.
constexpr double kMayBeRight = 0.25;

/// A name in a sentence: not longer than a few words, and never cut within a character.
std::string in_words(std::string_view name) {
  constexpr std::size_t kMost = 40;
  if (name.size() <= kMost) return std::string(name);
  std::size_t end = kMost - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  return std::string(name.substr(0, end)) + "…";
}

std::string members_in_words(const CategoryAnswers& answers, const DependentGroup& group, std::size_t most) {
  std::string words;
  for (std::size_t n = 0; n < std::min(most, group.workers.size()); ++n) {
    words += fmt::format("{}{}", n == 0 ? "" : ", ", in_words(answers.worker_names()[index(group.workers[n])]));
  }
  return group.workers.size() > most ? fmt::format("{} and {} more", words, group.workers.size() - most) : words;
}

std::string more_groups(std::size_t more) {
  if (more == 0) return "";
  return more == 1 ? " There is one more such group." : fmt::format(" There are {} more such groups.", more);
}

/// Three groups or more, and everybody in one of them.
Warning warning_of_camps(const CategoryAnswers& answers, const std::vector<const DependentGroup*>& groups) {
  std::size_t members = 0;
  for (const DependentGroup* group : groups) members += group->workers.size();
  std::string words = fmt::format(
      "{} of {} workers fall into {} groups whose members see tasks through the same eyes, so each group counts as one "
      "voice.",
      members, answers.worker_count(), groups.size());
  for (std::size_t g = 0; g < std::min(groups.size(), kShownGroups); ++g) {
    words += fmt::format(" {}: {}.", g + 1, members_in_words(answers, *groups[g], kShownOfMore));
  }
  words += more_groups(groups.size() - std::min(groups.size(), kShownGroups));
  return {"dependent_workers", words, "If you know better who belongs together, give the groups.", Severity::note};
}

Warning warning_of_one_voice(const CategoryAnswers& answers, const std::vector<const DependentGroup*>& groups,
                             bool trusted) {
  std::string words, remedy;
  for (std::size_t g = 0; g < std::min(groups.size(), kShownGroups); ++g) {
    const DependentGroup& group = *groups[g];
    words += fmt::format(
        "{}{} workers answer as one and contradict the rest on {:.0f} % of the tasks that the rest is sure of: {}.",
        g == 0 ? "" : " ", group.workers.size(), 100 * group.contradicts,
        members_in_words(answers, group, g == 0 ? kShownMembers : kShownOfMore));
    const bool may_be_right =
        static_cast<double>(group.workers.size()) >= kMayBeRight * static_cast<double>(answers.worker_count());
    if (may_be_right && !trusted) {
      remedy =
          "Answers alone cannot tell which side is right: the majority of voices is believed. If they are your "
          "experts, name one as trusted: `trusted=WORKER`.";
    }
  }
  words += more_groups(groups.size() - std::min(groups.size(), kShownGroups));
  words += groups.size() == 1 ? " They count as one voice." : " Each of these groups counts as one voice.";
  return {"dependent_workers", words, remedy, Severity::caution};
}

Warning warning_of_copies(const CategoryAnswers& answers, const std::vector<const DependentGroup*>& groups,
                          bool doubtful) {
  constexpr double kAsOne = 0.95;  // of agreement; below it they are no mere copies
  const DependentGroup& first = *groups.front();
  std::string words = fmt::format(
      "{} workers {}: {}. On {} tasks that several of them answered they agree {:.0f} % of the time, where {:.0f} % "
      "would be expected of workers who work apart.",
      first.workers.size(), first.agreement >= kAsOne ? "answer as one" : "agree as if they had talked",
      members_in_words(answers, first, kShownMembers), first.common_tasks, 100 * first.agreement, 100 * first.expected);
  for (std::size_t g = 1; g < std::min(groups.size(), kShownGroups); ++g) {
    words +=
        fmt::format(" So do {}: {}.", groups[g]->workers.size(), members_in_words(answers, *groups[g], kShownOfMore));
  }
  words += more_groups(groups.size() - std::min(groups.size(), kShownGroups));
  words += doubtful
               ? " They count as independent voices, so the probabilities, and labels that rest on them, cannot be "
                 "trusted."
               : " They count as independent voices, so tasks that several of them answered look surer than they are.";
  return {"copied_workers", words,
          "Use the default method, which counts a group once where that matters, or leave them out: "
          "`without=copies,colluders`.",
          doubtful ? Severity::serious : Severity::caution};
}

}  // namespace

bool dependence_casts_doubt(const CategoryAnswers& answers, const Dependence& found) {
  constexpr double kMany = 0.1;
  std::uint64_t copied = 0;
  for (const DependentGroup& group : found.groups) copied += found.counted_once && group.acted_on ? 0 : group.answers;
  return copied > 0 && static_cast<double>(copied) >= kMany * static_cast<double>(answers.answer_count());
}

std::vector<Warning> dependence_warnings(const CategoryData& data, const Dependence& found) {
  std::vector<const DependentGroup*> once, apart;
  for (const DependentGroup& group : found.groups)
    (found.counted_once && group.acted_on ? once : apart).push_back(&group);
  std::vector<Warning> warnings;
  if (!once.empty() && !found.given) {
    warnings.push_back(found.everybody_grouped ? warning_of_camps(data.answers, once)
                                               : warning_of_one_voice(data.answers, once, !data.trusted.empty()));
  }
  if (!apart.empty()) {
    warnings.push_back(warning_of_copies(data.answers, apart, dependence_casts_doubt(data.answers, found)));
  }
  return warnings;
}

}  // namespace wisecrowd
