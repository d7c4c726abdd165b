#include "aggregate/categories/automatic/groups.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "aggregate/categories/automatic/pool.hpp"
#include "aggregate/categories/automatic/verdict.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "wisecrowd/dependence.hpp"
#include "wisecrowd/ordered_classes.hpp"

namespace wisecrowd::automatic {
namespace {

/// The crowd in which each group answers once, by its first member: what most of those who answered say.
CategoryData one_voice_per_group(const CategoryData& data, std::span<const std::uint32_t> voices) {
  const CategoryAnswers& answers = data.answers;
  constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  std::vector<std::uint32_t> size(voices.size(), 0), first(voices.size(), kNobody);
  for (std::uint32_t w = 0; w < voices.size(); ++w) {
    ++size[voices[w]];
    if (first[voices[w]] == kNobody) first[voices[w]] = w;
  }
  std::vector<CategoryAnswer> kept;
  std::vector<std::uint32_t> spoken;
  std::vector<double> votes;
  for (std::uint32_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId{t});
    const auto labels = answers.labels_of(TaskId{t});
    spoken.clear();
    for (std::size_t a = 0; a < workers.size(); ++a) {
      const std::uint32_t voice = voices[index(workers[a])];
      if (size[voice] == 1) {
        kept.push_back({TaskId{t}, workers[a], labels[a]});
      } else if (std::find(spoken.begin(), spoken.end(), voice) == spoken.end()) {
        spoken.push_back(voice);
      }
    }
    for (const std::uint32_t voice : spoken) {
      votes.assign(answers.class_count(), 0.0);
      for (std::size_t a = 0; a < workers.size(); ++a) {
        if (voices[index(workers[a])] == voice) votes[index(labels[a])] += 1;
      }
      const auto most = std::max_element(votes.begin(), votes.end()) - votes.begin();
      kept.push_back({TaskId{t}, WorkerId{first[voice]}, ClassId(static_cast<std::uint16_t>(most))});
    }
  }
  CategoryData collapsed = data;
  collapsed.answers = inherited(
      answers, make_category_answers(kept, {answers.task_names(), answers.worker_names(), answers.class_names()},
                                     DuplicatePolicy::repeat));
  return collapsed;
}

std::string words_of_groups(const Dependence& found) {
  std::size_t groups = 0, members = 0;
  for (const DependentGroup& group : found.groups) {
    if (!group.acted_on) continue;
    ++groups;
    members += group.workers.size();
  }
  return fmt::format("{} workers in {} group{} do not answer independently: each group counts as one voice", members,
                     groups, groups == 1 ? "" : "s");
}

/// The crowd in which each group is one voice, and what is found out about it.
struct Voices {
  CategoryData data;
  std::vector<double> by_base;
  Verdict verdict;
  std::optional<CategoryFit> subtypes;  ///< of tasks, where the crowd of voices asks for them
};

Voices hear_voices(const CategoryData& data, const Dependence& found, const Options& options,
                   const RunContext& context) {
  Voices heard;
  if (options.folds == 0 || found.everybody_grouped) return heard;
  heard.data = one_voice_per_group(data, found.voices);
  CategoryFit base = aggregate(heard.data, kBase, base_parameters(options.ties, true), context);
  heard.verdict = judge(heard.data, base, options, most_workers_repeat(heard.data.answers), context);
  heard.by_base = std::move(base.posterior);
  const double work =
      static_cast<double>(heard.data.answers.answer_count()) * static_cast<double>(base.class_count) * kSubtypes;
  const double z = heard.verdict.dependence;
  if (z <= options.evidence || work > kMostSubtypeWork || context.cancelled()) return heard;
  CategoryFit fit =
      aggregate(heard.data, "ebcc", subtype_parameters(heard.data, options.ties, kSubtypeStarts), context);
  fit.confusion.clear();  // members of groups have not answered for themselves
  fit.explanation = fmt::format(
      "ebcc, because {}; and subtypes of tasks predict hidden answers better than independent voices do (by {:.1f} "
      "standard errors).",
      words_of_groups(found), z);
  heard.subtypes = std::move(fit);
  return heard;
}

}  // namespace

bool count_groups_once(const CategoryData& everybody, const CategoryData& data, const Options& options,
                       const RunContext& context, CategoryFit& result, TemperingFit& tempering) {
  Dependence found;
  if (data.worker_groups.empty()) {
    found = find_dependence(everybody, {}, context);
  } else {
    found = given_groups(everybody);
  }
  if (!found.acts() || context.cancelled()) {
    result.dependence = std::move(found);
    return false;
  }
  Voices heard = hear_voices(data, found, options, context);
  tempering = heard.verdict.tempering;
  const bool subtypes = heard.subtypes.has_value();
  std::vector<double> skill = std::move(result.skill);
  if (subtypes) {
    // Who is silent among the voices is not who is silent in the crowd.
    const auto silent = [](const Warning& warning) { return warning.code == "silent_workers"; };
    std::erase_if(heard.subtypes->warnings, silent);
    std::copy_if(result.warnings.begin(), result.warnings.end(), std::back_inserter(heard.subtypes->warnings), silent);
    result = std::move(*heard.subtypes);
  } else {
    CategoryData grouped = data;
    grouped.worker_groups = found.voices;
    result = aggregate(grouped, kOfGroups, with_ties(kOfGroups, options.ties), context);
    result.explanation = fmt::format("{}, because {}.", kOfGroups, words_of_groups(found));
    if (options.folds > 0) tempering = tempering_of_groups(grouped, result, options, context);
  }
  result.skill = std::move(skill);
  found.counted_once = true;
  result.dependence = std::move(found);
  result.learned.emplace_back("dependence_z", heard.verdict.dependence);
  result.learned.emplace_back("misfit", tempering.misfit);
  const double share = share_of_pool(data, tempering);
  if (options.pool && subtypes && share > 0) {
    blend({heard.data, heard.by_base, "ebcc", 2 * kChosenWeight, share}, options.ties, context, {}, result, tempering);
  }
  pin_gold(data, result.posterior);
  result.tie_rule = options.ties;
  result.labels = hard_labels(result.posterior, result.class_count, options.ties, context);
  return true;
}

}  // namespace wisecrowd::automatic
