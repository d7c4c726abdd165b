#include "wisecrowd/copied_workers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "base/numeric.hpp"
#include "trust/agreement_groups.hpp"
#include "trust/group_model.hpp"
#include "trust/pair_dependence.hpp"

namespace wisecrowd {
namespace {

using namespace trust;

/// Answers that the tables are learned from, at most.
constexpr std::size_t kMostLearnedFrom = 1'000'000;
constexpr std::array kCuts = {0.95, 0.85, 0.75};
constexpr int kRounds = 4;
/// Largest groups that the model is fitted without, one at a time.
constexpr std::size_t kDoubted = 12;

/// Workers joined one by one.
class Union {
 public:
  explicit Union(std::vector<std::uint32_t> start) : labels_(std::move(start)) {}
  [[nodiscard]] std::uint32_t find(std::uint32_t a) {
    while (labels_[a] != a) a = labels_[a] = labels_[labels_[a]];
    return a;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t x = find(a), y = find(b);
    labels_[std::max(x, y)] = std::min(x, y);
  }
  [[nodiscard]] std::vector<std::uint32_t> labels() {
    std::vector<std::uint32_t> all(labels_.size());
    for (std::uint32_t a = 0; a < all.size(); ++a) all[a] = find(a);
    return all;
  }

 private:
  std::vector<std::uint32_t> labels_;
};

std::vector<std::uint32_t> everybody_alone(std::size_t workers) {
  std::vector<std::uint32_t> labels(workers);
  std::iota(labels.begin(), labels.end(), 0U);
  return labels;
}

/// The search: which grouping explains the answers best, and which pairs agree beyond it.
class Search {
 public:
  Search(const CategoryAnswers& answers, const RunContext& context)
      : context_(context), sample_(sample_of(answers, {})), pairs_(pairs_of(sample_, context)) {
    if (sample_.answers() > kMostLearnedFrom) {
      learned_from_ = sample_of(answers, {.answers = kMostLearnedFrom});
      has_part_ = true;
    }
  }

  [[nodiscard]] bool hopeless() const {
    return sample_.bins < 2 ||
           std::none_of(pairs_.common.begin(), pairs_.common.end(), [](double n) { return n >= kLeastCommon; });
  }

  /// One label per worker, equal for those who answer as one.
  std::vector<std::uint32_t> run() {
    GroupModel model = best_of_candidates();
    std::vector<std::uint32_t> suspects;
    for (int round = 0; round < kRounds && !context_.cancelled(); ++round) {
      model = founded(std::move(model));
      suspects = joined(together(model.grouping()));
      const Grouping larger(suspects);
      if (larger == model.grouping()) break;
      GroupModel next = fit(larger);
      if (next.score() <= model.score()) break;
      model = std::move(next);
    }
    return suspects;
  }

  [[nodiscard]] const CrowdSample& sample() const noexcept { return sample_; }
  [[nodiscard]] const WorkerPairs& pairs() const noexcept { return pairs_; }
  [[nodiscard]] const PairDependence& dependence() const noexcept { return dependence_; }

 private:
  [[nodiscard]] GroupModel fit(const Grouping& grouping) const {
    return GroupModel::fit(has_part_ ? learned_from_ : sample_, grouping, context_);
  }
  [[nodiscard]] double share_learned_from() const {
    return has_part_ ? static_cast<double>(learned_from_.answers()) / static_cast<double>(sample_.answers()) : 1;
  }
  [[nodiscard]] GroupModel whole(const GroupModel& model) const {
    return has_part_ ? model.applied_to(sample_, context_) : model;
  }

  [[nodiscard]] GroupModel best_of_candidates() const {
    std::vector<Grouping> tried = {Grouping(everybody_alone(sample_.workers))};
    GroupModel best = fit(tried.front());
    for (const auto& labels : agreement_groups(sample_, pairs_, kCuts)) {
      Grouping grouping(labels);
      if (grouping == tried.back() || grouping.size.size() == 1) continue;
      GroupModel model = fit(grouping);
      if (model.score() > best.score()) best = std::move(model);
      tried.push_back(std::move(grouping));
    }
    return best;
  }

  /// Whether the workers outside of each group agree with one another beyond their habits. Where they do not, the group
  /// is all that is known of the truth, and its members may well agree because they are right.
  [[nodiscard]] std::vector<bool> outsiders_know(const Grouping& grouping) const {
    struct Sums {
      double excess = 0, variance = 0;
    };
    std::vector<double> habits(sample_.workers * sample_.bins, 1e-9);
    for (std::size_t a = 0; a < sample_.answers(); ++a) habits[sample_.who[a] * sample_.bins + sample_.bin[a]] += 1;
    for (std::size_t j = 0; j < sample_.workers; ++j) {
      normalise(std::span(habits).subspan(j * sample_.bins, sample_.bins));
    }
    Sums all;
    std::vector<Sums> touched(grouping.groups);
    for (std::uint32_t j = 0; j < sample_.workers; ++j) {
      const std::uint32_t own = grouping.group[grouping.unit[j]];
      for (std::size_t p = pairs_.row[j]; p < pairs_.row[j + 1]; ++p) {
        const std::size_t other = pairs_.other[p];
        double alike = 0;
        for (std::size_t l = 0; l < sample_.bins; ++l) {
          alike += habits[j * sample_.bins + l] * habits[other * sample_.bins + l];
        }
        const double excess = pairs_.agreed[p] - pairs_.common[p] * alike;
        const double variance = pairs_.common[p] * alike * (1 - alike);
        const std::uint32_t others = grouping.group[grouping.unit[other]];
        for (Sums* sums : {&all, own != Grouping::kNone ? &touched[own] : nullptr,
                           others != Grouping::kNone && others != own ? &touched[others] : nullptr}) {
          if (sums == nullptr) continue;
          sums->excess += excess;
          sums->variance += variance;
        }
      }
    }
    const double z = std::sqrt(2 * evidence_needed(sample_.workers));
    std::vector<bool> know;
    for (const Sums& sums : touched) {
      know.push_back(all.excess - sums.excess > z * std::sqrt(std::max(all.variance - sums.variance, 0.0) + 0.5));
    }
    return know;
  }

  /// The model without members whose agreement with their group is no more than what the truth and hard tasks explain,
  /// without groups that are all that is known of the truth, and without those that explain nothing; and how its pairs
  /// depend on each other.
  [[nodiscard]] GroupModel founded(GroupModel model) {
    dependence_ = dependence_of(sample_, pairs_, whole(model), context_);
    if (model.grouping().groups == 0) return model;
    const Grouping before(of_proven_members(model));
    if (!(before == model.grouping())) model = fit(before);
    std::vector<std::uint32_t> order, labels(before.unit);
    for (std::uint32_t unit = 0; unit < before.size.size(); ++unit) {
      if (before.group[unit] != Grouping::kNone) order.push_back(unit);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return before.size[a] > before.size[b]; });
    for (std::size_t n = 0; n < std::min(order.size(), kDoubted); ++n) {
      std::vector<std::uint32_t> parted(labels);
      auto next = *std::max_element(labels.begin(), labels.end());
      for (std::uint32_t j = 0; j < sample_.workers; ++j) {
        if (before.unit[j] == order[n]) parted[j] = ++next;
      }
      GroupModel other = fit(Grouping(parted));
      if (model.score() > other.score()) continue;
      labels = std::move(parted);
      model = std::move(other);
    }
    dependence_ = dependence_of(sample_, pairs_, whole(model), context_);
    return model;
  }

  [[nodiscard]] std::vector<std::uint32_t> of_proven_members(const GroupModel& model) const {
    const Grouping& grouping = model.grouping();
    const auto know = outsiders_know(grouping);
    const auto evidence = evidence_within_groups(sample_, whole(model), dependence_, context_);
    const double needed = evidence_needed(sample_.workers);
    std::vector<std::uint32_t> labels(grouping.unit);
    auto next = static_cast<std::uint32_t>(grouping.size.size());
    for (std::uint32_t j = 0; j < sample_.workers; ++j) {
      const std::uint32_t group = grouping.group[grouping.unit[j]];
      if (group != Grouping::kNone && (!know[group] || evidence[j] <= needed)) labels[j] = next++;
    }
    return labels;
  }

  /// Members of a unit are labelled with its first worker.
  [[nodiscard]] std::vector<std::uint32_t> together(const Grouping& grouping) const {
    std::vector<std::uint32_t> first(grouping.size.size(), Grouping::kNone), labels(sample_.workers);
    for (std::uint32_t j = 0; j < sample_.workers; ++j) {
      std::uint32_t& one = first[grouping.unit[j]];
      if (one == Grouping::kNone) one = j;
      labels[j] = one;
    }
    return labels;
  }

  /// With all pairs joined whose agreement is beyond doubt.
  [[nodiscard]] std::vector<std::uint32_t> joined(std::vector<std::uint32_t> labels) const {
    Union workers(std::move(labels));
    const double needed = evidence_needed(sample_.workers);
    for (std::uint32_t j = 0; j < sample_.workers; ++j) {
      for (std::size_t p = pairs_.row[j]; p < pairs_.row[j + 1]; ++p) {
        // There is no evidence of pairs below the least excess or with too few common tasks.
        if (dependence_.evidence[p] > needed) workers.join(j, pairs_.other[p]);
      }
    }
    return workers.labels();
  }

  const RunContext& context_;
  CrowdSample sample_;
  WorkerPairs pairs_;
  CrowdSample learned_from_;
  bool has_part_ = false;
  PairDependence dependence_;
};

/// Counts what the members of each group have in common.
std::vector<CopiedGroup> described(const CategoryAnswers& answers, const Search& search,
                                   const std::vector<std::uint32_t>& labels) {
  const CrowdSample& sample = search.sample();
  std::map<std::uint32_t, std::vector<WorkerId>> members;
  for (std::uint32_t j = 0; j < labels.size(); ++j) members[labels[j]].push_back(WorkerId{j});
  std::vector<std::uint32_t> place(labels.size(), Grouping::kNone);
  std::vector<CopiedGroup> groups;
  for (auto& [label, workers] : members) {
    if (workers.size() < 2) continue;
    for (const WorkerId worker : workers) place[index(worker)] = static_cast<std::uint32_t>(groups.size());
    groups.push_back({std::move(workers)});
  }
  std::vector<double> pairs(groups.size(), 0), alike(groups.size(), 0);
  std::vector<std::uint32_t> here(groups.size(), 0);
  for (std::size_t t = 0; t < sample.tasks; ++t) {
    for (std::uint64_t a = sample.offsets[t]; a < sample.offsets[t + 1]; ++a) {
      const std::uint32_t group = place[sample.who[a]];
      if (group == Grouping::kNone) continue;
      if (++here[group] == 2) ++groups[group].common_tasks;
      for (std::uint64_t b = a + 1; b < sample.offsets[t + 1]; ++b) {
        if (place[sample.who[b]] != group) continue;
        pairs[group] += 1;
        alike[group] += sample.label[a] == sample.label[b] ? 1 : 0;
      }
    }
    for (std::uint64_t a = sample.offsets[t]; a < sample.offsets[t + 1]; ++a) {
      if (place[sample.who[a]] != Grouping::kNone) here[place[sample.who[a]]] = 0;
    }
  }
  std::vector<double> expected(groups.size(), 0), common(groups.size(), 0);
  for (std::uint32_t j = 0; j < sample.workers; ++j) {
    const std::uint32_t group = place[j];
    for (std::size_t p = search.pairs().row[j]; p < search.pairs().row[j + 1] && group != Grouping::kNone; ++p) {
      if (place[search.pairs().other[p]] != group) continue;
      const PairDependence& found = search.dependence();
      expected[group] += found.expected[p] + found.usual[p] * (search.pairs().common[p] - found.expected[p]);
      common[group] += search.pairs().common[p];
    }
  }
  const auto who = answers.workers();
  for (const WorkerId worker : who) {
    if (place[index(worker)] != Grouping::kNone) ++groups[place[index(worker)]].answers;
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    groups[g].agreement = alike[g] / std::max(pairs[g], 1.0);
    groups[g].expected = expected[g] / std::max(common[g], 1.0);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const CopiedGroup& a, const CopiedGroup& b) { return a.workers.size() > b.workers.size(); });
  return groups;
}

/// A name in a sentence: not longer than a few words, and never cut within a character.
std::string in_words(std::string_view name) {
  constexpr std::size_t kMost = 40;
  if (name.size() <= kMost) return std::string(name);
  std::size_t end = kMost - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  return std::string(name.substr(0, end)) + "…";
}

std::string members_in_words(const CategoryAnswers& answers, const CopiedGroup& group, std::size_t most) {
  std::string words;
  for (std::size_t n = 0; n < std::min(most, group.workers.size()); ++n) {
    words += fmt::format("{}{}", n == 0 ? "" : ", ", in_words(answers.worker_names()[index(group.workers[n])]));
  }
  return group.workers.size() > most ? fmt::format("{} and {} more", words, group.workers.size() - most) : words;
}

}  // namespace

std::vector<CopiedGroup> copied_workers(const CategoryAnswers& answers, const RunContext& context) {
  if (answers.answer_count() == 0 || answers.class_count() < 2 || answers.worker_count() < 2) return {};
  Search search(answers, context);
  if (context.cancelled() || search.hopeless()) return {};
  const auto labels = search.run();
  if (context.cancelled()) return {};
  return described(answers, search, labels);
}

bool copies_cast_doubt(const CategoryAnswers& answers, std::span<const CopiedGroup> groups) {
  constexpr double kMany = 0.1;
  std::uint64_t copied = 0;
  for (const CopiedGroup& group : groups) copied += group.answers;
  return !groups.empty() && static_cast<double>(copied) >= kMany * static_cast<double>(answers.answer_count());
}

std::optional<Warning> copied_workers_warning(const CategoryAnswers& answers, std::span<const CopiedGroup> groups) {
  if (groups.empty()) return std::nullopt;
  constexpr std::size_t kShownMembers = 20, kShownOfMore = 5, kShownGroups = 5;
  constexpr double kAsOne = 0.95;  // of agreement; below it they are no mere copies
  const CopiedGroup& first = groups.front();
  std::string words = fmt::format(
      "{} workers {}: {}. On {} tasks that several of them answered they agree {:.0f} % of the time, where {:.0f} % "
      "would be expected of workers who work apart.",
      first.workers.size(), first.agreement >= kAsOne ? "answer as one" : "agree as if they had talked",
      members_in_words(answers, first, kShownMembers), first.common_tasks, 100 * first.agreement, 100 * first.expected);
  for (std::size_t g = 1; g < std::min(groups.size(), kShownGroups); ++g) {
    words +=
        fmt::format(" So do {}: {}.", groups[g].workers.size(), members_in_words(answers, groups[g], kShownOfMore));
  }
  if (groups.size() > kShownGroups) {
    const std::size_t more = groups.size() - kShownGroups;
    words += more == 1 ? " There is one more such group." : fmt::format(" There are {} more such groups.", more);
  }
  const bool doubtful = copies_cast_doubt(answers, groups);
  words += doubtful
               ? " They count as independent voices, so the probabilities, and labels that rest on them, cannot be "
                 "trusted."
               : " They count as independent voices, so tasks that several of them answered look surer than they are.";
  return Warning{"copied_workers", words, "Keep one worker of each group, or count a group once.",
                 doubtful ? Severity::serious : Severity::caution};
}

}  // namespace wisecrowd
