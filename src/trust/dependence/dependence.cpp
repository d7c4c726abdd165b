#include "wisecrowd/dependence.hpp"

#include <algorithm>

#include "trust/dependence/search.hpp"

namespace wisecrowd {
namespace {

using namespace trust;

constexpr std::uint32_t kNone = Grouping::kNone;

/// Counts what the members of each group have in common; `place` is the group of each worker, or kNone.
void count_common(const CrowdSample& sample, const std::vector<std::uint32_t>& place,
                  std::vector<DependentGroup>& groups) {
  std::vector<double> pairs(groups.size(), 0), alike(groups.size(), 0);
  std::vector<std::uint32_t> here(groups.size(), 0);
  for (std::size_t t = 0; t < sample.tasks; ++t) {
    for (std::uint64_t a = sample.offsets[t]; a < sample.offsets[t + 1]; ++a) {
      const std::uint32_t group = place[sample.who[a]];
      if (group == kNone) continue;
      if (++here[group] == 2) ++groups[group].common_tasks;
      for (std::uint64_t b = a + 1; b < sample.offsets[t + 1]; ++b) {
        if (place[sample.who[b]] != group) continue;
        pairs[group] += 1;
        alike[group] += sample.label[a] == sample.label[b] ? 1 : 0;
      }
    }
    for (std::uint64_t a = sample.offsets[t]; a < sample.offsets[t + 1]; ++a) {
      if (place[sample.who[a]] != kNone) here[place[sample.who[a]]] = 0;
    }
  }
  for (std::size_t g = 0; g < groups.size(); ++g) groups[g].agreement = alike[g] / std::max(pairs[g], 1.0);
}

void count_answers(const CategoryAnswers& answers, const std::vector<std::uint32_t>& place,
                   std::vector<DependentGroup>& groups) {
  for (const WorkerId worker : answers.workers()) {
    if (place[index(worker)] != kNone) ++groups[place[index(worker)]].answers;
  }
}

/// How often members would agree if they worked apart: by the model, and as much more as is usual in this crowd.
void count_expected(const Search& search, const FoundGroups& found, const std::vector<std::uint32_t>& place,
                    std::vector<DependentGroup>& groups) {
  std::vector<double> expected(groups.size(), 0), common(groups.size(), 0);
  const WorkerPairs& pairs = search.pairs();
  for (std::uint32_t j = 0; j < place.size(); ++j) {
    for (std::size_t p = pairs.row[j]; p < pairs.row[j + 1] && place[j] != kNone; ++p) {
      if (place[pairs.other[p]] != place[j]) continue;
      expected[place[j]] +=
          found.pairs.expected[p] + found.pairs.usual[p] * (pairs.common[p] - found.pairs.expected[p]);
      common[place[j]] += pairs.common[p];
    }
  }
  for (std::size_t g = 0; g < groups.size(); ++g) groups[g].expected = expected[g] / std::max(common[g], 1.0);
}

std::vector<DependentPair> suspected_pairs(const Search& search, const FoundGroups& found) {
  const WorkerPairs& pairs = search.pairs();
  const Grouping& grouping = found.model.grouping();
  std::vector<DependentPair> list;
  for (std::uint32_t j = 0; j < grouping.unit.size(); ++j) {
    for (std::size_t p = pairs.row[j]; p < pairs.row[j + 1]; ++p) {
      if (found.pairs.evidence[p] <= search.evidence_needed()) continue;
      const double expected =
          found.pairs.expected[p] + found.pairs.usual[p] * (pairs.common[p] - found.pairs.expected[p]);
      list.push_back({WorkerId{j}, WorkerId{pairs.other[p]}, static_cast<std::uint64_t>(pairs.common[p]),
                      static_cast<std::uint64_t>(pairs.agreed[p]), expected, found.pairs.beyond_usual(p),
                      found.pairs.evidence[p], grouping.together(j, pairs.other[p])});
    }
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const DependentPair& a, const DependentPair& b) { return a.evidence > b.evidence; });
  return list;
}

/// Workers in suspected pairs that belong to no group yet become groups that are only reported.
void join_suspects(const std::vector<DependentPair>& pairs, std::vector<std::uint32_t>& place,
                   std::vector<DependentGroup>& groups) {
  const std::size_t known = groups.size();
  for (const DependentPair& pair : pairs) {
    std::uint32_t& a = place[index(pair.first)];
    std::uint32_t& b = place[index(pair.second)];
    if (pair.grouped || (a != kNone && a < known) || (b != kNone && b < known)) continue;
    if (a == kNone && b == kNone) {
      a = b = static_cast<std::uint32_t>(groups.size());
      groups.emplace_back();
    } else if (a == kNone || b == kNone) {
      a = b = std::min(a, b);
    } else if (a != b) {
      const std::uint32_t from = std::max(a, b), to = std::min(a, b);
      for (std::uint32_t& other : place) other = other == from ? to : other;
    }
  }
  // Groups that were swallowed by others are empty now.
  std::vector<std::uint32_t> size(groups.size(), 0), moved(groups.size(), kNone);
  for (const std::uint32_t group : place) {
    if (group != kNone) ++size[group];
  }
  std::uint32_t next = 0;
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    if (size[g] > 0) moved[g] = next++;
  }
  for (std::uint32_t& group : place) {
    if (group != kNone) group = moved[group];
  }
  groups.resize(next);
}

/// Tasks where a group that is acted on contradicts, with one voice, what the others are sure of.
void list_attacked_tasks(const Search& search, const FoundGroups& found, const std::vector<std::uint32_t>& place,
                         Dependence& result) {
  const CrowdSample& sample = search.sample();
  for_each_group_voice(sample, found.model, [&](const GroupAtTask& at) {
    if (!at.others_sure || at.said == at.others_say) return;
    const std::uint32_t group = place[at.member];
    if (group == kNone || !result.groups[group].acted_on) return;
    result.attacked.push_back(
        {TaskId{sample.task[at.task]}, group, ClassId{at.said}, ClassId{at.others_say}, at.probability});
  });
}

}  // namespace

Dependence given_groups(const CategoryData& data) {
  Dependence result;
  const Grouping grouping(data.worker_groups);
  if (grouping.groups == 0) return result;
  const CrowdSample sample = sample_of(data.answers, {});
  std::vector<std::uint32_t> place(data.answers.worker_count(), kNone);
  for (const std::uint32_t unit : grouping.groups_by_size()) {
    DependentGroup group;
    group.acted_on = true;
    for (std::uint32_t j = 0; j < place.size(); ++j) {
      if (grouping.unit[j] != unit) continue;
      place[j] = static_cast<std::uint32_t>(result.groups.size());
      group.workers.push_back(WorkerId{j});
    }
    result.groups.push_back(std::move(group));
  }
  count_answers(data.answers, place, result.groups);
  count_common(sample, place, result.groups);
  result.everybody_grouped = everybody_grouped(grouping);
  result.given = true;
  result.voices = grouping.unit;
  return result;
}

Dependence find_dependence(const CategoryData& data, const DependenceOptions& options, const RunContext& context) {
  const CategoryAnswers& answers = data.answers;
  Dependence result;
  if (answers.answer_count() == 0 || answers.class_count() < 2 || answers.worker_count() < 2) return result;
  Search search(data, context);
  if (context.cancelled() || search.hopeless()) return result;
  const FoundGroups found = search.run();
  if (context.cancelled()) return result;
  result.everybody_grouped = found.everybody_grouped;
  const Grouping& grouping = found.model.grouping();
  std::vector<std::uint32_t> place(answers.worker_count(), kNone);
  std::vector<bool> released(grouping.size.size(), false);
  for (const std::uint32_t unit : grouping.groups_by_size()) {
    DependentGroup group;
    group.contradicts = found.contradicts[grouping.group[unit]];
    group.acted_on = found.everybody_grouped || group.contradicts >= kLeastContradiction;
    released[unit] = !group.acted_on;
    for (std::uint32_t j = 0; j < place.size(); ++j) {
      if (grouping.unit[j] == unit) place[j] = static_cast<std::uint32_t>(result.groups.size());
    }
    result.groups.push_back(std::move(group));
  }
  result.pairs = suspected_pairs(search, found);
  join_suspects(result.pairs, place, result.groups);
  for (std::uint32_t j = 0; j < place.size(); ++j) {
    if (place[j] != kNone) result.groups[place[j]].workers.push_back(WorkerId{j});
  }
  count_answers(answers, place, result.groups);
  count_common(search.sample(), place, result.groups);
  count_expected(search, found, place, result.groups);
  if (options.list_attacked_tasks) list_attacked_tasks(search, found, place, result);
  if (std::any_of(result.groups.begin(), result.groups.end(), [](const auto& group) { return group.acted_on; })) {
    result.voices = without_groups(grouping, released);
  }
  return result;
}

}  // namespace wisecrowd
