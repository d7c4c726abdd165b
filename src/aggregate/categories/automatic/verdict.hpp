#pragma once

#include "aggregate/categories/automatic/automatic.hpp"
#include "wisecrowd/tempering.hpp"

namespace wisecrowd::automatic {

inline constexpr std::string_view kBase = "hierarchical_dawid_skene", kOfGroups = "group_dawid_skene";
inline constexpr std::size_t kSubtypes = 10;
inline constexpr std::size_t kSubtypeStarts = 3;
/// Numbers that a fit with subtypes would touch, from which on it is only recommended.
inline constexpr double kMostSubtypeWork = 2e9;

[[nodiscard]] Parameters with_ties(std::string_view method, TieRule ties);
/// The base, carried as far as the crowd can feed it.
[[nodiscard]] Parameters base_parameters(TieRule ties, bool workers_repeat);
/// EBCC whose rows are learned: so that its prior is no handicap, and few starts suffice.
[[nodiscard]] Parameters subtype_parameters(const CategoryData& data, TieRule ties, std::size_t starts,
                                            std::size_t subtypes = kSubtypes);

/// Do at least half of the answers come from workers who gave three or more? Subtypes can be told apart only by
/// workers of whom answers are seen while another is held out: a single answer gives the same table in every subtype.
[[nodiscard]] bool most_workers_repeat(const CategoryAnswers& answers);

/// What held-out answers say of the base.
struct Verdict {
  double dependence = 0;   ///< by how many standard errors subtypes predict better than the base, and than none
  TemperingFit tempering;  ///< of the base's probabilities
};
[[nodiscard]] Verdict judge(const CategoryData& data, const CategoryFit& base_fit, const Options& options,
                            bool workers_repeat, const RunContext& context);

/// How far the posterior of a fit with groups can be believed, by hidden answers of workers who belong to none: those
/// of a group's members follow the group, not the truth.
[[nodiscard]] TemperingFit tempering_of_groups(const CategoryData& grouped, const CategoryFit& fit,
                                               const Options& options, const RunContext& context);

}  // namespace wisecrowd::automatic
