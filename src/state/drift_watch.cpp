#include "state/drift_watch.hpp"

#include <algorithm>
#include <cmath>

namespace wisecrowd {
namespace {

// As find_drift has them (src/trust/drift/METHOD.md). There is no later answer to bear an alarm out, hence more
// evidence from the start.
constexpr double kWatchDegraded = 0.6, kWatchLoss = 0.1, kWatchFalseAlarms = 0.1;

void clear_pending(DriftWatch& watch) { watch.pending = watch.pending_right = watch.agreed = watch.evidence = 0; }

/// What was pending is above suspicion.
void count_pending(DriftWatch& watch, PastTable& past) {
  watch.right += watch.pending_right;
  watch.counted += watch.pending;
  past.start_after(watch.right, watch.counted);
  clear_pending(watch);
}

}  // namespace

std::array<double, DriftWatch::kFields> DriftWatch::fields() const {
  return {answers, information, counted, right, pending, pending_right, agreed, evidence, degraded};
}

bool DriftWatch::from_fields(std::span<const double> fields, DriftWatch& watch) {
  const auto sound = [](double value) { return std::isfinite(value) && value >= 0; };
  if (fields.size() != kFields || !std::all_of(fields.begin(), fields.end(), sound)) return false;
  watch = {fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], fields[6], fields[7], fields[8]};
  return watch.degraded == 0 || watch.degraded == 1;
}

DriftFinding watch_answer(DriftWatch& watch, PastTable& past, std::span<const double> q, std::size_t said,
                          bool enough) {
  watch.answers += 1;
  watch.information += std::max(drift_information(past, q, kWatchDegraded), 0.0);
  watch.pending += 1;
  watch.pending_right += past.right(q, said);
  watch.agreed += q[said];
  if (!enough) {
    count_pending(watch, past);
    return {};
  }
  const double odds = drift_odds(past, q, said, kWatchDegraded);
  watch.evidence = std::max(watch.evidence + (watch.degraded == 0 ? odds : -odds), 0.0);
  if (watch.evidence == 0) {
    if (watch.degraded == 0) {
      count_pending(watch, past);
    } else {
      clear_pending(watch);
    }
    return {};
  }
  if (watch.evidence < drift_alarm(watch.information / watch.answers, kWatchFalseAlarms)) return {};
  const double before =
      watch.counted >= static_cast<double>(kLeastWatched) ? watch.right / watch.counted : past.accuracy();
  DriftFinding finding{DriftEvent::worse, watch.pending, watch.evidence, before, watch.agreed / watch.pending};
  if (watch.degraded != 0) {
    finding.event = DriftEvent::recovered;
    watch.degraded = 0;
    count_pending(watch, past);
    return finding;
  }
  if (finding.before - finding.since < kWatchLoss) return {};
  watch.degraded = 1;
  clear_pending(watch);
  return finding;
}

}  // namespace wisecrowd
