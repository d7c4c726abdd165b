#include "wisecrowd/dependence.hpp"

#include <algorithm>
#include <numeric>

#include "trust/dependence/parts.hpp"
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
        alike[group] += sample.said(a) == sample.said(b) ? 1 : 0;
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

/// Agreements of a pair that works apart: by the model, and as many more as are usual in this crowd.
double agreements_apart(const WorkerPairs& pairs, const PairDependence& found, std::size_t first, std::size_t pair) {
  return found.expected[pair] + found.usual(pairs, first, pair) * (pairs.common[pair] - found.expected[pair]);
}

/// How often members would agree if they worked apart.
void count_expected(const Search& search, const FoundGroups& found, const std::vector<std::uint32_t>& place,
                    std::vector<DependentGroup>& groups) {
  std::vector<double> expected(groups.size(), 0), common(groups.size(), 0);
  const WorkerPairs& pairs = search.pairs();
  for (std::uint32_t j = 0; j < place.size(); ++j) {
    for (std::size_t p = pairs.row[j]; p < pairs.row[j + 1] && place[j] != kNone; ++p) {
      if (place[pairs.other[p]] != place[j]) continue;
      expected[place[j]] += agreements_apart(pairs, found.pairs, j, p);
      common[place[j]] += pairs.common[p];
    }
  }
  for (std::size_t g = 0; g < groups.size(); ++g) groups[g].expected = expected[g] / std::max(common[g], 1.0);
}

std::vector<DependentPair> suspected_pairs(const Search& search, const FoundGroups& found) {
  const WorkerPairs& pairs = search.pairs();
  const Grouping& grouping = found.model.grouping();
  std::vector<DependentPair> list;
  EvidenceInOrder evidence(found.pairs);
  for (std::uint32_t j = 0; j < grouping.unit.size(); ++j) {
    for (std::size_t p = pairs.row[j]; p < pairs.row[j + 1]; ++p) {
      const double sure = evidence.of(p);
      if (sure <= search.evidence_needed()) continue;
      list.push_back({WorkerId{j}, WorkerId{pairs.other[p]}, pairs.common[p], pairs.agreed[p],
                      agreements_apart(pairs, found.pairs, j, p), found.pairs.beyond_usual(pairs, j, p), sure,
                      grouping.together(j, pairs.other[p])});
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

namespace {

/// Which groups count as one voice: those that contradict the rest. But if a larger group does not and keeps all its
/// voices, the rest is that group to a good part: to silence the smaller one would be to take sides.
std::vector<bool> groups_acted_on(const CategoryAnswers& answers, const FoundGroups& found) {
  const Grouping& grouping = found.model.grouping();
  std::vector<bool> acted_on(grouping.groups, found.everybody_grouped);
  if (found.everybody_grouped) return acted_on;
  std::vector<std::uint64_t> size(grouping.groups, 0);  // in answers
  for (const WorkerId worker : answers.workers()) {
    const std::uint32_t group = grouping.group[grouping.unit[index(worker)]];
    if (group != kNone) ++size[group];
  }
  std::uint64_t largest_released = 0;
  for (std::size_t g = 0; g < size.size(); ++g) {
    if (found.contradicts[g] < kLeastContradiction) largest_released = std::max(largest_released, size[g]);
  }
  for (std::size_t g = 0; g < size.size(); ++g) {
    acted_on[g] = found.contradicts[g] >= kLeastContradiction && size[g] >= largest_released;
  }
  return acted_on;
}

/// Of a crowd, or a part of one, in which everybody hangs together.
Dependence find_in_part(const CategoryData& data, const SearchScope& scope, const DependenceOptions& options,
                        const RunContext& context) {
  const CategoryAnswers& answers = data.answers;
  Dependence result;
  const Search search(data, scope, context);
  if (context.cancelled() || (scope.whole && search.hopeless())) return result;
  const FoundGroups found = search.run();
  if (context.cancelled()) return result;
  result.everybody_grouped = found.everybody_grouped;
  const Grouping& grouping = found.model.grouping();
  std::vector<std::uint32_t> place(answers.worker_count(), kNone);
  const std::vector<bool> acted_on = groups_acted_on(answers, found);
  std::vector<bool> released(grouping.size.size(), false);
  for (const std::uint32_t unit : grouping.groups_by_size()) {
    DependentGroup group;
    group.contradicts = found.contradicts[grouping.group[unit]];
    group.acted_on = acted_on[grouping.group[unit]];
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

double pairs_of(double workers) { return workers * (workers - 1) / 2; }

/// A crowd of this many answers is searched by all threads; of a smaller one they would only wait for each other.
constexpr std::size_t kLargePart = 50'000;

RunContext by_one_thread(const RunContext& context) { return RunContext({.seed = context.seed(), .threads = 1}); }

/// Adds what was found in a part, by the ids of the whole crowd.
void add_part(const CrowdPart& part, const Dependence& found, Dependence& result) {
  const auto worker = [&](WorkerId own) { return WorkerId{part.workers[index(own)]}; };
  const auto groups = static_cast<std::uint32_t>(result.groups.size());
  for (const DependentGroup& group : found.groups) {
    result.groups.push_back(group);
    for (WorkerId& member : result.groups.back().workers) member = worker(member);
  }
  for (DependentPair pair : found.pairs) {
    pair.first = worker(pair.first);
    pair.second = worker(pair.second);
    result.pairs.push_back(pair);
  }
  for (AttackedTask task : found.attacked) {
    task.task = TaskId{part.tasks[index(task.task)]};
    task.group += groups;
    result.attacked.push_back(task);
  }
  if (!found.acts()) return;
  std::vector<std::uint32_t> first(part.workers.size(), kNone);  // of each voice: who speaks for it
  for (std::size_t w = 0; w < part.workers.size(); ++w) {
    std::uint32_t& speaker = first[found.voices[w]];
    if (speaker == kNone) speaker = part.workers[w];
    result.voices[part.workers[w]] = speaker;
  }
}

/// The largest groups and the strongest evidence first, as of one part.
void put_in_order(Dependence& result) {
  std::vector<std::uint32_t> order(result.groups.size()), place(result.groups.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return result.groups[a].workers.size() > result.groups[b].workers.size();
  });
  std::vector<DependentGroup> groups;
  for (std::uint32_t n = 0; n < order.size(); ++n) {
    place[order[n]] = n;
    groups.push_back(std::move(result.groups[order[n]]));
  }
  result.groups = std::move(groups);
  for (AttackedTask& task : result.attacked) task.group = place[task.group];
  std::stable_sort(result.pairs.begin(), result.pairs.end(),
                   [](const DependentPair& a, const DependentPair& b) { return a.evidence > b.evidence; });
}

/// Small parts are searched side by side, large ones one after the other by all threads; all of them, if two workers of
/// any part have tasks enough in common.
Dependence find_in_parts(const CategoryData& data, const CrowdParts& parts, const DependenceOptions& options,
                         const RunContext& context) {
  std::vector<Dependence> found(parts.count());
  std::vector<CrowdPart> part(parts.count());
  const auto scope = [&](std::size_t n) {
    return SearchScope{parts.pairs_of_workers(), parts.share(n), false, options.only_where_pairs_stand_out};
  };
  bool hopeless = true;
  for (std::size_t n = 0; n < parts.count() && hopeless && !context.cancelled(); ++n) {
    hopeless = Search(parts.part(n).data, scope(n), context).hopeless();
  }
  if (hopeless) return {};
  const auto look = [&](std::size_t n, const RunContext& in) {
    if (context.cancelled()) return;
    part[n] = parts.part(n);
    found[n] = find_in_part(part[n].data, scope(n), options, in);
    part[n].data = {};
  };
  std::vector<std::size_t> small;
  for (std::size_t n = 0; n < parts.count(); ++n) {
    if (parts.answers(n) > kLargePart) {
      look(n, context);
    } else {
      small.push_back(n);
    }
  }
  context.pool().for_each_block(small.size(), [&](std::size_t n, unsigned) { look(small[n], by_one_thread(context)); });
  Dependence result;
  if (context.cancelled()) return result;
  const bool acts = std::any_of(found.begin(), found.end(), [](const Dependence& in) { return in.acts(); });
  if (acts) {
    result.voices.resize(data.answers.worker_count());
    std::iota(result.voices.begin(), result.voices.end(), 0U);
  }
  std::size_t in_groups = 0;  // workers of parts that groups hold nearly all of
  for (std::size_t n = 0; n < found.size(); ++n) {
    add_part(part[n], found[n], result);
    if (found[n].everybody_grouped) in_groups += part[n].workers.size();
  }
  result.everybody_grouped = in_groups > 0 && nearly_all(in_groups, data.answers.worker_count());
  put_in_order(result);
  return result;
}

}  // namespace

Dependence find_dependence(const CategoryData& data, const DependenceOptions& options, const RunContext& context) {
  const CategoryAnswers& answers = data.answers;
  if (answers.answer_count() == 0 || answers.class_count() < 2 || answers.worker_count() < 2) return {};
  const CrowdParts parts(data);
  if (!parts.whole()) return find_in_parts(data, parts, options, context);
  const SearchScope scope{.pairs_tried = pairs_of(static_cast<double>(answers.worker_count())),
                          .only_where_pairs_stand_out = options.only_where_pairs_stand_out};
  if (answers.answer_count() > kLargePart) return find_in_part(data, scope, options, context);
  return find_in_part(data, scope, options, by_one_thread(context));
}

}  // namespace wisecrowd
