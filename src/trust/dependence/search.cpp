#include "trust/dependence/search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd::trust {
namespace {

/// Answers that the tables are learned from, at most.
constexpr std::size_t kMostLearnedFrom = 1'000'000;
constexpr std::array kCuts = {0.95, 0.85, 0.75, 0.65, 0.55, 0.45, 0.35, 0.25, 0.15};
/// Crowds with more answers are only searched where single workers leave something to explain.
constexpr std::size_t kLarge = 200'000;
/// For that look, tables need not have converged: what they miss is left to explain.
constexpr std::size_t kIterationsOfScreen = 10;
/// Largest groups that the model is fitted without, one at a time.
constexpr std::size_t kDoubted = 24;
/// Score that a group must gain per answer of its members.
constexpr double kGainPerAnswer = 0.015;
/// Excess agreements per common task that are worth mentioning.
constexpr double kLeastShare = 0.005;
/// So many new groups are tried one by one: where all of them together are better, and where they are not.
constexpr std::size_t kTriedAlone = 8, kMostTriedAlone = 32;
/// Three groups that hold this share of the workers: nobody is the exception.
constexpr double kNearlyAll = 0.8;

constexpr std::uint32_t kNone = Grouping::kNone;

Labels everybody_alone(std::size_t workers) {
  Labels labels(workers);
  std::iota(labels.begin(), labels.end(), 0U);
  return labels;
}

/// Excess and variance summed over pairs.
struct Sums {
  double excess = 0, variance = 0, weight = 0;
  Sums& operator+=(const Sums& more) {
    excess += more.excess;
    variance += more.variance;
    weight += more.weight;
    return *this;
  }
  [[nodiscard]] double z() const { return excess / std::sqrt(std::max(variance, 0.0) + 0.5); }
};

/// Of one pair: how much more it agrees than is usual, of what is left to agree by chance.
Sums beyond_usual(const PairDependence& found, const WorkerPairs& pairs, std::size_t first, std::size_t pair) {
  const double room = std::max(pairs.common[pair] - found.expected[pair], 1e-9);
  return {found.beyond_usual(pairs, first, pair) * room, found.variance[pair], room};
}

}  // namespace

Search::Search(const CategoryData& data, const SearchScope& scope, const RunContext& context)
    : context_(context),
      scope_(scope),
      sample_(sample_of(data.answers, SampleLimits::in_time(data.answers, scope.share))),
      pairs_(pairs_of(sample_, context, static_cast<std::size_t>(kLeastCommon))) {
  const SampleLimits learning = SampleLimits::in_time(data.answers, scope.share, kMostLearnedFrom);
  if (sample_.answers() > learning.answers) learned_from_ = sample_of(data.answers, learning);
  for (const WorkerId worker : data.trusted) trusted_.push_back(static_cast<std::uint32_t>(index(worker)));
  if (data.has_gold() && sample_.bins == data.answers.class_count()) {
    for (const std::uint32_t task : sample_.task) gold_.push_back(static_cast<std::uint16_t>(index(data.gold[task])));
  }
  answers_of_.assign(sample_.workers, 0.0);
  habits_.assign(sample_.workers * sample_.bins, 1e-9);
  for (std::size_t a = 0; a < sample_.answers(); ++a) {
    answers_of_[sample_.who[a]] += 1;
    habits_[sample_.who[a] * sample_.bins + sample_.bin[a]] += 1;
  }
  for (std::size_t j = 0; j < sample_.workers; ++j) {
    normalise(std::span(habits_).subspan(j * sample_.bins, sample_.bins));
  }
}

bool Search::hopeless() const {
  return sample_.bins < 2 ||
         std::none_of(pairs_.common.begin(), pairs_.common.end(), [](std::uint32_t n) { return n >= kLeastCommon; });
}

double Search::sure_z() const { return std::sqrt(2 * evidence_needed()); }

GroupModel Search::fit(const Labels& labels, std::span<const double> start, const GroupModelOptions& options) const {
  return GroupModel::fit_oriented(learned_from_ ? *learned_from_ : sample_, Grouping(labels), options, context_, start);
}

GroupModel Search::whole(GroupModel model) const {
  return learned_from_ ? model.applied_to(sample_, context_) : std::move(model);
}

PairDependence Search::dependence_beyond(const GroupModel& model) const {
  return learned_from_ ? dependence_of(sample_, pairs_, whole(model), context_)
                       : dependence_of(sample_, pairs_, model, context_);
}

std::vector<bool> Search::members_of(const Grouping& grouping, std::uint32_t unit) const {
  std::vector<bool> members(sample_.workers);
  for (std::uint32_t j = 0; j < sample_.workers; ++j) members[j] = grouping.unit[j] == unit;
  return members;
}

/// Whether single workers leave anything to explain: a pair, a worker with its partners, or all pairs together agree
/// more than expected. Any group that would stay in the end must show in one of these, far beyond these low bounds.
bool Search::anything_left(const PairDependence& found) const {
  constexpr double kSlight = 2;
  Sums all;
  std::vector<Sums> of_worker(sample_.workers);
  EvidenceInOrder evidence(found);
  for (std::uint32_t j = 0; j < sample_.workers; ++j) {
    for (std::size_t p = pairs_.row[j]; p < pairs_.row[j + 1]; ++p) {
      if (evidence.of(p) > evidence_needed() / 2) return true;
      const Sums part{pairs_.agreed[p] - found.expected[p], found.variance[p], 0};
      for (Sums* sums : {&all, &of_worker[j], &of_worker[pairs_.other[p]]}) *sums += part;
    }
  }
  const double slight = kSlight + std::sqrt(2 * math::log(static_cast<double>(sample_.workers)));
  return all.z() > kSlight ||
         std::any_of(of_worker.begin(), of_worker.end(), [&](const Sums& sums) { return sums.z() > slight; });
}

/// Whether a pair is suspected, or a worker agrees with its partners far more than expected.
bool Search::pairs_stand_out(const PairDependence& found) const {
  std::vector<Sums> of_worker(sample_.workers);
  EvidenceInOrder evidence(found);
  for (std::uint32_t j = 0; j < sample_.workers; ++j) {
    for (std::size_t p = pairs_.row[j]; p < pairs_.row[j + 1]; ++p) {
      if (evidence.of(p) > evidence_needed()) return true;
      const Sums part{pairs_.agreed[p] - found.expected[p], found.variance[p], 0};
      for (Sums* sums : {&of_worker[j], &of_worker[pairs_.other[p]]}) *sums += part;
    }
  }
  return std::any_of(of_worker.begin(), of_worker.end(), [&](const Sums& sums) { return sums.z() > 2 * sure_z(); });
}

GroupModel Search::best_of_candidates(const GroupModel& alone) const {
  std::vector<Labels> tried = {alone.grouping().unit};
  const bool large = sample_.answers() > kLarge;
  GroupModel best = alone;
  std::optional<GroupModel> promising;  // of a large crowd: the best after few iterations, and it alone is carried on
  for (const Labels& labels : agreement_groups(sample_, pairs_, kCuts)) {
    const Grouping grouping(labels);
    if (grouping.size.size() == 1 || grouping.groups == 0 || grouping.unit == tried.back()) continue;
    tried.push_back(grouping.unit);
    if (large) {
      GroupModel model = fit(grouping.unit, {}, {.max_iterations = kIterationsOfScreen});
      if (!promising || model.score() > promising->score()) promising = std::move(model);
    } else {
      GroupModel model = fit(grouping.unit, {}, {.least_score = best.score()});
      if (model.score() > best.score()) best = std::move(model);
    }
    if (context_.cancelled()) break;
  }
  if (promising && !context_.cancelled()) {
    GroupModel model = fit(promising->grouping().unit, promising->posterior());
    if (model.score() > best.score()) best = std::move(model);
  }
  return best;
}

double Search::least_gain(const std::vector<bool>& members, std::size_t groups) const {
  double answers = 0;
  for (std::uint32_t j = 0; j < sample_.workers; ++j) answers += members[j] ? answers_of_[j] : 0;
  // Scores are of the answers that tables are learned from.
  const double share =
      learned_from_ ? static_cast<double>(learned_from_->answers()) / static_cast<double>(sample_.answers()) : 1;
  const double gain = kGainPerAnswer * answers * share;
  return groups >= 3 ? std::min(gain, kMostGain) : gain;
}

/// Whether the model without a group leaves something that the group explains: its members, or the workers outside,
/// agree more than expected; and whether the workers outside agree with one another beyond their habits. Where they do
/// not, the group is all that is known of the truth, and its members may well agree because they are right.
bool Search::explains_something(const GroupModel& without, const std::vector<bool>& members, bool proven) const {
  const PairDependence found = learned_from_ ? expected_agreement(sample_, pairs_, whole(without), context_)
                                             : expected_agreement(sample_, pairs_, without, context_);
  Sums inside, outside, beyond_habits;
  for (std::uint32_t j = 0; j < sample_.workers; ++j) {
    for (std::size_t p = pairs_.row[j]; p < pairs_.row[j + 1]; ++p) {
      const std::uint32_t other = pairs_.other[p];
      if (members[j] != members[other] || without.grouping().together(j, other)) continue;
      (members[j] ? inside : outside) +=
          {pairs_.agreed[p] - found.expected[p], found.variance[p], static_cast<double>(pairs_.common[p])};
      if (members[j]) continue;
      double alike = 0;
      for (std::size_t l = 0; l < sample_.bins; ++l) {
        alike += habits_[j * sample_.bins + l] * habits_[other * sample_.bins + l];
      }
      beyond_habits.excess += pairs_.agreed[p] - pairs_.common[p] * alike;
      beyond_habits.variance += pairs_.common[p] * alike * (1 - alike);
    }
  }
  const auto visible = [&](const Sums& sums) { return sums.excess > kLeastShare * sums.weight && sums.z() > sure_z(); };
  return (proven || visible(inside) || visible(outside)) && beyond_habits.z() > sure_z();
}

/// By unit: groups that plainly copy. At least half of the pairs with tasks enough in common are beyond doubt one by
/// one, or most of what all pairs together could agree beyond expectation they do: hard tasks do not make that.
std::vector<bool> Search::proven_groups(const GroupModel& model) const {
  constexpr double kMostlyCopied = 0.6;
  const Grouping& grouping = model.grouping();
  const PairDependence found = dependence_beyond(model);
  struct Within {
    double looked_at = 0, suspected = 0;
    Sums sums;
  };
  std::vector<Within> units(grouping.size.size());
  EvidenceInOrder evidence(found);
  for (std::uint32_t j = 0; j < sample_.workers; ++j) {
    for (std::size_t p = pairs_.row[j]; p < pairs_.row[j + 1]; ++p) {
      if (!grouping.together(j, pairs_.other[p])) continue;
      Within& within = units[grouping.unit[j]];
      within.sums += beyond_usual(found, pairs_, j, p);
      if (pairs_.common[p] < kLeastCommon) continue;
      within.looked_at += 1;
      within.suspected += evidence.of(p) > evidence_needed() ? 1 : 0;
    }
  }
  std::vector<bool> proven;
  for (const Within& within : units) {
    const bool copied = within.sums.excess > kMostlyCopied * within.sums.weight && within.sums.z() > sure_z();
    proven.push_back(copied || (within.suspected > 0 && 2 * within.suspected >= within.looked_at));
  }
  return proven;
}

/// Groups fall apart, the largest first, if the model without them is as good or leaves nothing to explain. As good:
/// the group gains less than its least, or, if its pairs are proven one by one, nothing.
GroupModel Search::without_idle_groups(GroupModel model) const {
  const Grouping before = model.grouping();
  if (before.groups == 0) return model;
  const std::vector<bool> proven = proven_groups(model);
  const std::vector<std::uint32_t> order = before.groups_by_size();
  std::vector<bool> apart(before.size.size(), false);
  for (std::size_t n = 0; n < std::min(order.size(), kDoubted) && !context_.cancelled(); ++n) {
    apart[order[n]] = true;
    GroupModel without = fit(without_groups(before, apart), model.posterior());
    const auto members = members_of(before, order[n]);
    const double least = proven[order[n]] ? 0 : least_gain(members, model.grouping().groups);
    if (without.score() + least >= model.score() || !explains_something(without, members, proven[order[n]])) {
      model = std::move(without);
    } else {
      apart[order[n]] = false;
    }
  }
  return model;
}

/// Every group must agree beyond what its members share with outsiders, and so must every member.
GroupModel Search::without_unfounded_groups(GroupModel model) const {
  const Grouping& grouping = model.grouping();
  if (grouping.groups == 0) return model;
  const PairDependence found = dependence_beyond(model);
  struct Within {
    Sums sums;
    double common = 0, evidence = 0;
  };
  std::vector<Within> groups(grouping.groups);
  std::vector<Sums> member(sample_.workers);
  EvidenceInOrder evidence(found);
  for (std::uint32_t j = 0; j < sample_.workers; ++j) {
    const std::uint32_t group = grouping.group[grouping.unit[j]];
    for (std::size_t p = pairs_.row[j]; p < pairs_.row[j + 1] && group != kNone; ++p) {
      if (!grouping.together(j, pairs_.other[p])) continue;
      const Sums part = beyond_usual(found, pairs_, j, p);
      for (Sums* sums : {&groups[group].sums, &member[j], &member[pairs_.other[p]]}) *sums += part;
      groups[group].common += pairs_.common[p];
      groups[group].evidence = std::max(groups[group].evidence, evidence.of(p));
    }
  }
  Labels labels(grouping.unit);
  auto next = static_cast<std::uint32_t>(grouping.size.size());
  for (std::uint32_t j = 0; j < sample_.workers; ++j) {
    const std::uint32_t group = grouping.group[grouping.unit[j]];
    if (group == kNone) continue;
    const Within& within = groups[group];
    const double excess = within.sums.excess / std::max(within.sums.weight, 1e-9);
    const bool founded = excess >= kLeastExcess && within.common >= kLeastCommon &&
                         (within.sums.z() >= sure_z() || within.evidence >= evidence_needed());
    const bool belongs = member[j].weight <= 0 || member[j].excess / member[j].weight >= kLeastExcess / 2;
    if (!founded || !belongs) labels[j] = next++;
  }
  if (labels == grouping.unit) return model;
  return fit(Grouping(labels).unit);
}

/// Units that should be one: joined by their mean excess, and with a pair beyond doubt in it. One list of labels for
/// each, in which they are joined.
std::vector<Labels> Search::components(const GroupModel& model, const PairDependence& found) const {
  const Grouping& grouping = model.grouping();
  std::vector<double> similarity(pairs_.size(), 0.0);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> suspected;
  EvidenceInOrder evidence(found);
  for (std::uint32_t j = 0; j < sample_.workers; ++j) {
    for (std::size_t p = pairs_.row[j]; p < pairs_.row[j + 1]; ++p) {
      const bool together = grouping.together(j, pairs_.other[p]);
      similarity[p] = together                             ? 1
                      : pairs_.common[p] >= kLeastForUsual ? std::clamp(found.beyond_usual(pairs_, j, p), -1.0, 1.0)
                                                           : 0;
      if (!together && evidence.of(p) > evidence_needed()) suspected.emplace_back(j, pairs_.other[p]);
    }
  }
  if (suspected.empty()) return {};
  const Labels clusters = average_linkage(grouping.unit, pairs_, similarity, kLeastExcess);
  std::vector<std::vector<std::uint32_t>> units(sample_.workers);  // of each cluster, those in suspected pairs
  for (const auto& [a, b] : suspected) {
    if (clusters[a] != clusters[b]) continue;
    for (const std::uint32_t j : {a, b}) units[clusters[a]].push_back(grouping.unit[j]);
  }
  std::vector<Labels> joined;
  for (auto& of_cluster : units) {
    if (of_cluster.empty()) continue;
    std::sort(of_cluster.begin(), of_cluster.end());
    Labels labels(grouping.unit);
    for (std::uint32_t& label : labels) {
      if (std::binary_search(of_cluster.begin(), of_cluster.end(), label)) label = of_cluster.front();
    }
    joined.push_back(std::move(labels));
  }
  return joined;
}

namespace {

/// All of the joins at once.
Labels joined(const Labels& units, const std::vector<const Labels*>& joins) {
  Labels labels(units);
  for (const Labels* join : joins) {
    for (std::size_t j = 0; j < labels.size(); ++j) {
      if ((*join)[j] != units[j]) labels[j] = (*join)[j];
    }
  }
  return labels;
}

}  // namespace

Search::Looked Search::walk(GroupModel model) const {
  for (int round = 0; round < kRounds && !context_.cancelled(); ++round) {
    PairDependence pairs = dependence_beyond(model);
    const auto joins = components(model, pairs);
    if (joins.empty()) return {std::move(model), std::move(pairs)};
    const Labels& units = model.grouping().unit;
    std::vector<const Labels*> all;
    for (const Labels& join : joins) all.push_back(&join);
    GroupModel next = fit(Grouping(joined(units, all)).unit);
    const bool better = next.score() > model.score();
    if (joins.size() > 1 && joins.size() <= (better ? kTriedAlone : kMostTriedAlone)) {
      std::vector<const Labels*> kept;
      for (const Labels* join : all) {
        if (fit(Grouping(*join).unit).score() > model.score()) kept.push_back(join);
      }
      if (kept.empty()) return {std::move(model), std::move(pairs)};
      if (kept.size() < all.size()) next = fit(Grouping(joined(units, kept)).unit);
    }
    if (next.score() <= model.score()) return {std::move(model), std::move(pairs)};
    next = without_unfounded_groups(without_idle_groups(std::move(next)));
    if (next.grouping() == model.grouping() || next.score() <= model.score()) {
      return {std::move(model), std::move(pairs)};
    }
    model = std::move(next);
  }
  return {std::move(model), std::nullopt};
}

bool everybody_grouped(const Grouping& grouping) {
  std::size_t in_groups = 0;
  for (const std::uint32_t size : grouping.size) in_groups += size > 1 ? size : 0;
  return grouping.groups >= 3 && nearly_all(in_groups, grouping.unit.size());
}

bool nearly_all(std::size_t workers, std::size_t all) {
  return static_cast<double>(workers) >= kNearlyAll * static_cast<double>(all);
}

Labels without_groups(const Grouping& grouping, const std::vector<bool>& apart) {
  Labels labels(grouping.unit);
  auto next = static_cast<std::uint32_t>(grouping.size.size());
  for (std::uint32_t& label : labels) {
    if (apart[label]) label = next++;
  }
  return Grouping(labels).unit;
}

FoundGroups Search::run() const {
  const Labels singly = everybody_alone(sample_.workers);
  if (sample_.answers() > kLarge || scope_.only_where_pairs_stand_out) {
    GroupModel quick = whole(fit(singly, {}, {.max_iterations = kIterationsOfScreen}));
    PairDependence pairs = dependence_of(sample_, pairs_, quick, context_);
    const bool go_on = scope_.only_where_pairs_stand_out ? pairs_stand_out(pairs) : anything_left(pairs);
    if (!go_on || context_.cancelled()) return {std::move(quick), std::move(pairs), {}, false};
  }
  const GroupModel alone = fit(singly);
  Looked best = walk(without_unfounded_groups(without_idle_groups(best_of_candidates(alone))));
  if (best.model.grouping().groups > 0) {
    Looked other = walk(alone);
    if (other.model.score() > best.model.score()) best = std::move(other);
    const double score = best.model.score();
    best.model = better_of_both_sides(std::move(best.model));
    if (best.model.score() != score) best.pairs.reset();  // another model
  }
  PairDependence pairs = best.pairs ? std::move(*best.pairs) : dependence_beyond(best.model);
  GroupModel model = whole(with_roots_decided(std::move(best.model)));
  std::vector<double> contradicts = contradictions(sample_, model);
  const bool all = everybody_grouped(model.grouping());
  return {std::move(model), std::move(pairs), std::move(contradicts), all};
}

}  // namespace wisecrowd::trust
