#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "wisecrowd/wisecrowd.hpp"

namespace wisecrowd::testing {

/// A crowd whose truth is known, and who in it does not answer independently.
struct AttackedCrowd {
  CategoryData data;                  ///< without gold
  std::vector<ClassId> truth;         ///< of each task, or kNoClass
  std::vector<std::uint32_t> voices;  ///< one label per worker, equal for those who truly answer as one
  std::vector<bool> planted;          ///< by worker: answers as one with somebody

  [[nodiscard]] double accuracy(std::span<const ClassId> labels) const;
  /// Of the labels that Dawid–Skene gives when it knows who answers as one.
  [[nodiscard]] double accuracy_of_oracle(const RunContext& context) const;
};

/// How workers who answer independently may err.
enum class HonestKind : std::uint8_t {
  one_coin,     ///< one accuracy each, even errors
  tables,       ///< a random table each, the largest cell of a row on the diagonal and trebled
  biased,       ///< one coin, and a favourite class each that up to half of the answers go to
  alike,        ///< one coin, and all take the first class for the second in 40 %
  hammers,      ///< 40 % are always right, the others guess
  experts,      ///< one coin, 40 % nearly always right
  all_experts,  ///< accuracies of 93 to 99.5 %
  difficulty,   ///< tasks of varying difficulty with one tempting wrong class each
  traps,        ///< the same, and a tenth of the tasks fools 70 % of the workers
};
inline constexpr int kHonestKinds = 9;
[[nodiscard]] std::string_view name_of(HonestKind kind);

struct CrowdShape {
  int tasks = 1000, workers = 60, classes = 3, per_task = 12;
  HonestKind honest = HonestKind::one_coin;
  double low = 0.55, high = 0.9;  ///< accuracies of one-coin workers are even between
};

[[nodiscard]] AttackedCrowd independent_crowd(const CrowdShape& shape, std::uint64_t seed);

/// A share of the workers agrees on one wrong class for the attacked part of the tasks and tells the truth elsewhere;
/// at the rate of noise each of them says any class instead.
struct Collusion {
  double share = 0.3, attacked = 0.9, noise = 0;
};
[[nodiscard]] AttackedCrowd crowd_with_colluders(const CrowdShape& shape, const Collusion& collusion,
                                                 std::uint64_t seed);

/// So many pairs in which the second copies the first at a rate.
[[nodiscard]] AttackedCrowd crowd_with_copies(const CrowdShape& shape, int pairs, double rate, std::uint64_t seed);

/// Five groups of 20, 5, 5, 5 and 5 workers; the view of the large one is right in .55 + .45 / K, that of the others in
/// .8 + .2 / K, and members say something else in a tenth.
[[nodiscard]] AttackedCrowd crowd_of_groups(int tasks, int classes, std::uint64_t seed);

/// Colluders who attack 90 % of the tasks of a recorded crowd are added to it, so that they are 30 % of the workers and
/// answer as many tasks as the others; or take the place of 30 % of its workers.
[[nodiscard]] AttackedCrowd with_planted_colluders(const CategoryData& recorded, bool replaced, std::uint64_t seed);

/// The same crowd with gold that is known of the tasks and nobody planted.
[[nodiscard]] AttackedCrowd as_it_is(const CategoryData& recorded);

}  // namespace wisecrowd::testing
