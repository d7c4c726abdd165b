#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/drift_evidence.hpp"

namespace wisecrowd {

/// What is kept of a worker whose answers are watched as they come: sums, so that an answer costs the same whenever it
/// comes.
struct DriftWatch {
  double answers = 0;             ///< watched
  double information = 0;         ///< that these had in all
  double counted = 0, right = 0;  ///< those above suspicion, and how many of them were right
  double pending = 0;             ///< since the evidence was 0 last …
  double pending_right = 0;       ///< … how many were right, if the worker is as ever …
  double agreed = 0;              ///< … and how many by the others alone
  double evidence = 0;            ///< that it got worse, or, if it did, that it has recovered
  double degraded = 0;            ///< 1 from an alarm to the recovery

  static constexpr std::size_t kFields = 9;
  [[nodiscard]] std::array<double, kFields> fields() const;
  /// False if these cannot be the fields of a watch.
  [[nodiscard]] static bool from_fields(std::span<const double> fields, DriftWatch& watch);
};

enum class DriftEvent { none, worse, recovered };

/// A worker of whom an answer says that it got worse.
struct DriftFinding {
  DriftEvent event = DriftEvent::none;
  double answers = 0;  ///< how many back the stretch began, the last one included
  double evidence = 0, before = 0, since = 0;
};

/// The next answer of a worker. `past` must be its table with `start_after(watch.right, watch.counted)`; `q`: what
/// others say of the task. Until the worker has given enough answers, its past is learned and nothing is suspected.
DriftFinding watch_answer(DriftWatch& watch, PastTable& past, std::span<const double> q, std::size_t said, bool enough);

/// Answers of a worker from which on it may be suspected.
inline constexpr std::uint64_t kLeastWatched = 30;

}  // namespace wisecrowd
