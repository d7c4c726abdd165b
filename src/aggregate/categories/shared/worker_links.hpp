#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd {

/// How workers hang together through the tasks that they share. Methods that split c_jj' = s_j s_j' into skills need
/// it: signs are free for each part by itself, and without an odd cycle so are the sizes (s_j = 2 s'_j on one side,
/// half on the other). Gold counts as one more worker, of known skill.
struct WorkerLinks {
  bool has_gold = false;
  std::vector<std::uint32_t> part;    ///< per worker (gold last, if there is any), from 0 in order of the lowest worker
  std::vector<std::uint8_t> linked;   ///< shares a task with another worker
  std::vector<std::uint8_t> settled;  ///< its part has an odd cycle or gold, so that sizes follow from the data
  std::size_t part_count = 0;         ///< parts with at least two workers
  std::size_t alone = 0;              ///< workers who answered, but share no task
  std::size_t unsettled = 0;          ///< workers in parts without an odd cycle
};

[[nodiscard]] WorkerLinks link_workers(const CategoryData& data);

/// Says what the links make doubtful.
void warn_of_links(const WorkerLinks& links, CategoryFit& result);

/// Turns the skills of each part together so that gold's is positive, or else Σ answers × skill is not negative.
void orient_parts(const WorkerLinks& links, std::span<const double> answers, std::span<double> skill);

/// Gives workers who share no task the mean skill of those who do, weighted by answers, or `otherwise` if nobody does.
void fill_alone(const WorkerLinks& links, std::span<const double> answers, std::span<double> skill, double otherwise);

/// Number of answers of each worker; with gold, one more entry for the tasks whose truth is known.
[[nodiscard]] std::vector<double> answer_counts(const CategoryData& data);

/// The end of methods whose workers have one skill s = (K w − 1)/(K − 1), w the accuracy: s is drawn back from its
/// bounds by 1/√N, then labels follow from the vote with weights log((K − 1) w / (1 − w)), an even class prior (or the
/// tasks' own) and gold pinned. Entries of `skill` beyond the workers are left out.
void conclude_one_coin(const CategoryData& data, const RunContext& context, std::span<const double> skill, TieRule ties,
                       CategoryFit& result);

}  // namespace wisecrowd
