#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "wisecrowd/category_answers.hpp"
#include "wisecrowd/category_data.hpp"
#include "wisecrowd/fit_summary.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// Workers who answer as one: copies of one another, accounts of one person, or a team that agrees on its answers.
struct CopiedGroup {
  std::vector<WorkerId> workers;   ///< in the order of their ids, two at least
  std::uint64_t common_tasks = 0;  ///< tasks that at least two of them answered
  double agreement = 0;            ///< share of pairs of their answers to a task that are alike
  double expected = 0;             ///< the same if they worked apart and were as good as they are
  std::uint64_t answers = 0;       ///< that they gave together
};

/// The groups of workers who agree with one another far more than what they know of the truth explains, the largest
/// first; nearly always none. It asks no fit, because copies deceive it: src/trust/METHOD.md says how it is done. The
/// same answers give the same groups, whatever the seed and the number of threads. At most so many pairs of answers
/// are looked at that it takes a few seconds on ten million answers.
[[nodiscard]] std::vector<CopiedGroup> copied_workers(const CategoryAnswers& answers, const RunContext& context);

/// True when so many answers come from such groups, a tenth or more, that no probability can be trusted. With fewer,
/// tasks that several members of a group answered look surer than they are.
[[nodiscard]] bool copies_cast_doubt(const CategoryAnswers& answers, std::span<const CopiedGroup> groups);

/// The warning that tells of them (code "copied_workers"), by name; nothing if there is none.
[[nodiscard]] std::optional<Warning> copied_workers_warning(const CategoryAnswers& answers,
                                                            std::span<const CopiedGroup> groups);

}  // namespace wisecrowd
