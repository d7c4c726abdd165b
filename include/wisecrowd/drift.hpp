#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/trust.hpp"

namespace wisecrowd {

struct DriftOptions {
  double degraded = 0.6;             ///< a tired worker is so far on the way from its own table to chance
  double false_alarms = 0.15;        ///< how many to bear among 1,000 answers of steady workers
  std::uint64_t least_answers = 30;  ///< workers with fewer are not looked at
};

/// A stretch of a worker's answers, in time order.
struct DriftSegment {
  std::uint64_t first = 0;  ///< its first answer, counted from 0
  std::uint64_t answers = 0;
  double begins = 0, ends = 0;  ///< times of its first and last answer
  double accuracy = 0;          ///< by what the others say
  bool degraded = false;
};

struct DriftAlarm {
  WorkerId worker{};
  std::uint64_t raised = 0;  ///< at which of its answers, counted from 1
  std::uint64_t began = 0;   ///< the first answer of the worse stretch, counted from 1
  TaskId task{};             ///< of the answer that raised it
  double time = 0;           ///< of the same
  double evidence = 0;       ///< ln of how much better a degraded worker explains the stretch up to there
  double before = 0;         ///< accuracy outside of the stretch
  double lately = 0;         ///< accuracy within
  bool lasts = true;         ///< it was not seen to recover
};

/// The stretches of a worker who did not stay the same; at least two.
struct WorkerDrift {
  WorkerId worker{};
  std::vector<DriftSegment> segments;
};

struct Drift {
  std::vector<WorkerDrift> workers;  ///< in the order of their ids
  std::vector<DriftAlarm> alarms;    ///< the strongest loss of accuracy first
  std::uint64_t looked_at = 0;       ///< workers with answers enough
};

/// Finds workers whose answers get worse for a while, or for good: src/trust/drift/METHOD.md. The crowd must have
/// times; answers given at the same time stand in the order of their tasks. Where a worker's accuracy is .7 or less, a
/// change to guessing is mostly not found.
[[nodiscard]] Drift find_drift(const JudgedCrowd& crowd, const DriftOptions& options, const RunContext& context);

/// Brings times that belong to a list of answers into the order in which `answers` were made of them; of repeated ones
/// the last counts.
[[nodiscard]] std::vector<double> times_in_order(const CategoryAnswers& answers, std::span<const CategoryAnswer> list,
                                                 std::span<const double> times);

/// How right each of these workers was, in time order, in stretches of like length: as many as there are answers for.
[[nodiscard]] std::vector<std::vector<DriftSegment>> worker_timelines(const JudgedCrowd& crowd,
                                                                      std::span<const WorkerId> workers,
                                                                      std::size_t most_stretches,
                                                                      const RunContext& context);

}  // namespace wisecrowd
