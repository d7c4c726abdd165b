#pragma once

#include <functional>
#include <optional>

#include "trust/shared/group_model.hpp"
#include "trust/shared/merging.hpp"
#include "trust/shared/pair_dependence.hpp"

namespace wisecrowd::trust {

/// What the search for groups found.
struct FoundGroups {
  GroupModel model;                 ///< with all groups that explain the answers better than single workers do
  PairDependence pairs;             ///< beyond that model
  std::vector<double> contradicts;  ///< of each group of the model: see `contradictions`
  bool everybody_grouped;           ///< three groups or more hold nearly all workers: nobody is the exception
};

/// What part of a crowd a search looks at.
struct SearchScope {
  double pairs_tried = 0;  ///< pairs of workers, those of other parts too: so many may look alike by chance
  double share = 1;        ///< of the work that the search of a whole crowd may take
  bool whole = true;       ///< no other part belongs to the crowd
  bool only_where_pairs_stand_out = false;
};

/// The search of METHOD.md: which grouping of the workers explains the answers best, and which pairs agree beyond it.
class Search {
 public:
  Search(const CategoryData& data, const SearchScope& scope, const RunContext& context);

  /// No two workers have tasks enough in common.
  [[nodiscard]] bool hopeless() const;
  [[nodiscard]] FoundGroups run() const;

  [[nodiscard]] const CrowdSample& sample() const noexcept { return sample_; }
  [[nodiscard]] const WorkerPairs& pairs() const noexcept { return pairs_; }
  /// Evidence from which on a pair is suspected, and standard errors from which on a sum over pairs is beyond doubt.
  [[nodiscard]] double evidence_needed() const { return trust::evidence_needed(scope_.pairs_tried); }
  [[nodiscard]] double sure_z() const;

 private:
  [[nodiscard]] GroupModel fit(const Labels& labels, std::span<const double> start = {},
                               const GroupModelOptions& options = {}) const;
  /// The model on all answers of the sample, if it was learned from fewer.
  [[nodiscard]] GroupModel whole(GroupModel model) const;
  [[nodiscard]] PairDependence dependence_beyond(const GroupModel& model) const;
  [[nodiscard]] bool anything_left(const PairDependence& found) const;
  [[nodiscard]] bool pairs_stand_out(const PairDependence& found) const;
  [[nodiscard]] GroupModel best_of_candidates(const GroupModel& alone) const;
  /// A model and the pairs beyond it, if they were looked at.
  struct Looked {
    GroupModel model;
    std::optional<PairDependence> pairs;
  };
  [[nodiscard]] Looked walk(GroupModel model) const;
  [[nodiscard]] GroupModel without_idle_groups(GroupModel model) const;
  [[nodiscard]] GroupModel without_unfounded_groups(GroupModel model) const;
  [[nodiscard]] std::vector<Labels> components(const GroupModel& model, const PairDependence& found) const;
  [[nodiscard]] GroupModel with_roots_decided(GroupModel model) const;
  [[nodiscard]] std::vector<std::uint32_t> believed_by_gold(const GroupModel& model) const;
  [[nodiscard]] GroupModel refined(GroupModel model) const;
  [[nodiscard]] GroupModel better_of_both_sides(GroupModel model) const;
  [[nodiscard]] GroupModel turned_around(const GroupModel& model, const std::vector<bool>& members) const;
  [[nodiscard]] std::vector<bool> proven_groups(const GroupModel& model) const;
  [[nodiscard]] double agreement_within(const Grouping& grouping, std::uint32_t unit) const;
  [[nodiscard]] bool explains_something(const GroupModel& without, const std::vector<bool>& members, bool proven) const;
  [[nodiscard]] double least_gain(const std::vector<bool>& members, std::size_t groups) const;
  [[nodiscard]] std::vector<bool> members_of(const Grouping& grouping, std::uint32_t unit) const;
  [[nodiscard]] bool outgrown(const Grouping& grouping, std::uint32_t unit) const;

  const RunContext& context_;
  SearchScope scope_;
  CrowdSample sample_;
  WorkerPairs pairs_;
  std::optional<CrowdSample> learned_from_;
  std::vector<std::uint32_t> trusted_;
  std::vector<std::uint16_t> gold_;  ///< per task of the sample, or empty
  std::vector<double> answers_of_;   ///< per worker
  std::vector<double> habits_;       ///< per worker and bin: how often it says what
};

/// What a group says of a task with one voice, and what the others say.
struct GroupAtTask {
  std::size_t task;      ///< of the sample
  std::uint32_t member;  ///< one of the group
  std::uint32_t group;
  std::uint16_t said, others_say;
  double probability;  ///< of what the others say
  bool others_sure;
};
/// Visits the tasks of which at least two members of a group say the same, three quarters of those who answer.
void for_each_group_voice(const CrowdSample& sample, const GroupModel& model,
                          const std::function<void(const GroupAtTask&)>& visit);

/// For each group of the model: the share of tasks where it contradicts, with one voice, what the others are sure of.
[[nodiscard]] std::vector<double> contradictions(const CrowdSample& sample, const GroupModel& model);

/// Workers with the label of their unit; the members of the groups in `apart` are on their own.
[[nodiscard]] Labels without_groups(const Grouping& grouping, const std::vector<bool>& apart);

/// Three groups or more hold nearly all workers.
[[nodiscard]] bool everybody_grouped(const Grouping& grouping);
/// 80 % of them.
[[nodiscard]] bool nearly_all(std::size_t workers, std::size_t all);

/// So often a step is repeated, at most, that may go on for ever.
inline constexpr int kRounds = 3;
/// Score that no group need gain more than, where there are three.
inline constexpr double kMostGain = 100;
/// From this share of contradicted tasks on a group is not a voice among others.
inline constexpr double kLeastContradiction = 0.15;

}  // namespace wisecrowd::trust
