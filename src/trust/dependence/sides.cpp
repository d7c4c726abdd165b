// Which side of a crowd is the group, and which is believed.

#include <algorithm>
#include <cmath>

#include "trust/dependence/search.hpp"

namespace wisecrowd::trust {
namespace {

constexpr std::uint32_t kNone = Grouping::kNone;

}  // namespace

/// More than half of the workers cannot be the exception, unless everybody is in one of several groups.
bool Search::outgrown(const Grouping& grouping, std::uint32_t unit) const {
  return 2 * std::size_t{grouping.size[unit]} > sample_.workers && !everybody_grouped(grouping);
}

/// The same with the members believed, each for itself, and the single workers outside as the group.
GroupModel Search::turned_around(const GroupModel& model, const std::vector<bool>& members) const {
  const Grouping& grouping = model.grouping();
  Labels labels(grouping.unit);
  auto next = static_cast<std::uint32_t>(grouping.size.size());
  const std::uint32_t rest = next++;
  for (std::uint32_t j = 0; j < sample_.workers; ++j) {
    if (members[j]) {
      labels[j] = next++;
    } else if (grouping.group[grouping.unit[j]] == kNone) {
      labels[j] = rest;
    }
  }
  return fit(Grouping(labels).unit);
}

double Search::agreement_within(const Grouping& grouping, std::uint32_t unit) const {
  double agreed = 0, common = 0;
  for (std::uint32_t j = 0; j < sample_.workers; ++j) {
    if (grouping.unit[j] != unit) continue;
    for (std::size_t p = pairs_.row[j]; p < pairs_.row[j + 1]; ++p) {
      if (grouping.unit[pairs_.other[p]] != unit) continue;
      agreed += pairs_.agreed[p];
      common += pairs_.common[p];
    }
  }
  return agreed / std::max(common, 1.0);
}

/// Every worker goes where its answers are most probable, as long as that raises the score.
GroupModel Search::refined(GroupModel model) const {
  const CrowdSample& sample = learned_from_ ? *learned_from_ : sample_;
  for (int round = 0; round < kRounds && !context_.cancelled(); ++round) {
    const Labels labels = model.reassigned(sample);
    if (labels == model.grouping().unit) break;
    GroupModel next = fit(labels);
    if (next.score() <= model.score()) break;
    model = std::move(next);
  }
  return model;
}

/// EM may take the best honest workers for a group that contradicts the colluders. So the largest group is believed for
/// once, the rest taken as the group, and everybody put where they belong: the better model of the two stays. The two
/// sides of one and the same grouping score alike, up to chance: then the smaller side is the group, and of two that
/// are about as large the one that agrees more, as it was found: poor workers of the other side may have joined it.
GroupModel Search::better_of_both_sides(GroupModel model) const {
  constexpr double kClearlyBetter = 5, kAlike = 0.75;
  if (model.grouping().groups == 0 || everybody_grouped(model.grouping())) return model;
  const auto largest = [](const GroupModel& of) { return of.grouping().groups_by_size().front(); };
  const auto workers = [&](const GroupModel& of) { return of.grouping().size[largest(of)]; };
  const auto agreement = [&](const GroupModel& of) { return agreement_within(of.grouping(), largest(of)); };
  GroupModel other = refined(turned_around(model, members_of(model.grouping(), largest(model))));
  if (other.grouping().groups == 0) return model;
  // What putting everybody in its place gains is no merit of the other side, so this side is given the same.
  const GroupModel own = refined(model);
  if (other.score() < own.score() - kClearlyBetter) return model;
  if (other.score() < own.score() + kClearlyBetter && own.grouping().groups > 0) {
    const double sizes = static_cast<double>(workers(other)) / static_cast<double>(workers(own));
    const bool alike = sizes >= kAlike && sizes <= 1 / kAlike;
    if (alike ? agreement(other) <= std::max(agreement(own), agreement(model)) : sizes > 1) return model;
  }
  other = without_unfounded_groups(std::move(other));
  if (other.grouping().groups == 0 || other.score() < model.score() - kClearlyBetter) return model;
  return outgrown(other.grouping(), largest(other)) ? model : other;
}

/// Units that gold believes: where they contradict the others, the truth is on their side beyond chance.
std::vector<std::uint32_t> Search::believed_by_gold(const GroupModel& model) const {
  constexpr double kBeyondChance = 1.645;
  if (gold_.empty()) return {};
  struct Right {
    double group = 0, others = 0;
  };
  std::vector<Right> right(model.grouping().groups);
  for_each_group_voice(sample_, whole(model), [&](const GroupAtTask& at) {
    const std::uint16_t truth = gold_[at.task];
    if (truth == CrowdSample::kUnknown || at.said == at.others_say) return;
    right[at.group].group += at.said == truth ? 1 : 0;
    right[at.group].others += at.others_say == truth ? 1 : 0;
  });
  std::vector<std::uint32_t> units;
  for (std::uint32_t unit = 0; unit < model.grouping().size.size(); ++unit) {
    if (model.grouping().group[unit] == kNone) continue;
    const Right& count = right[model.grouping().group[unit]];
    if (count.group - count.others > kBeyondChance * std::sqrt(count.group + count.others)) units.push_back(unit);
  }
  return units;
}

/// A group is turned around if it holds a trusted worker or gold believes it, and if it is more than half of the crowd:
/// the rest is the exception then.
GroupModel Search::with_roots_decided(GroupModel model) const {
  for (const std::uint32_t worker : trusted_) {
    const Grouping& grouping = model.grouping();
    if (grouping.group[grouping.unit[worker]] == kNone) continue;
    model = turned_around(model, members_of(grouping, grouping.unit[worker]));
  }
  if (!trusted_.empty()) return model;
  const auto believed = believed_by_gold(model);
  if (!believed.empty()) return turned_around(model, members_of(model.grouping(), believed.front()));
  const Grouping& grouping = model.grouping();
  const auto largest =
      static_cast<std::uint32_t>(std::max_element(grouping.size.begin(), grouping.size.end()) - grouping.size.begin());
  if (grouping.groups == 0 || !outgrown(grouping, largest)) return model;
  const auto members = members_of(grouping, largest);
  GroupModel turned = turned_around(model, members);
  if (turned.score() + std::min(least_gain(members, 1), kMostGain) >= model.score()) return turned;
  std::vector<bool> apart(grouping.size.size(), false);
  apart[largest] = true;
  return fit(without_groups(grouping, apart));
}

}  // namespace wisecrowd::trust
