#pragma once

#include <span>
#include <string_view>

#include "aggregate/categories/automatic/automatic.hpp"

namespace wisecrowd::automatic {

/// How much of a probability are votes where the pool is the result, beside a part of what held-out answers ask for.
inline constexpr double kVotesInPool = 0.3;

/// Weight of a model that was chosen because workers err together: on some tasks, or in groups. Every other family
/// weighs 1, but for minimax_entropy.
inline constexpr double kChosenWeight = 4;

/// With more answers a pool would take many times as long as the model alone.
inline constexpr std::size_t kMostPooledAnswers = 1'000'000;

/// The pool's share in the result: all where the crowd is plainly not as the model says, little where that is doubtful.
[[nodiscard]] double share_of_pool(const CategoryData& data, const TemperingFit& tempering);

/// What a pool is made of: families of methods, averaged, because none is right on every crowd, and their errors
/// differ.
struct PoolRequest {
  const CategoryData& data;         ///< whose answers its members see
  std::span<const double> by_base;  ///< the posterior of the first member
  /// The model that was chosen because workers err together: it and the votes take part, too. Empty: it was not.
  std::string_view chosen;
  double chosen_weight;
  double share;  ///< of the pool in the result
};

/// Mixes the pool into the posterior of the model that was chosen, and says so. Probabilities are to be mixed with more
/// votes then. Nothing happens if it is cancelled.
void blend(const PoolRequest& request, TieRule ties, const RunContext& context, const CategoryStart& start,
           CategoryFit& result, TemperingFit& tempering);

/// What a crowd of rules gets, each of which says one class or nothing: votes, and a little of the base with an even
/// class prior. `result` gets its posterior and its labels.
void pool_of_rules(const CategoryData& data, TieRule ties, const RunContext& context, CategoryFit& result);

}  // namespace wisecrowd::automatic
