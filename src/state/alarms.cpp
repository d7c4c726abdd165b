// Workers who get worse while answers come in: what the file keeps of them.
#include <fmt/core.h>

#include <cstring>

#include "state/state_file.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {

std::string WorkerAlarm::text() const {
  std::string words = fmt::format("right in {:.0f} % from its answer {} on, before that in {:.0f} %; seen at answer {}",
                                  100 * accuracy_since, began, 100 * accuracy_before, raised);
  if (recovered > 0) words += fmt::format("; as before again by answer {}", recovered);
  return words;
}

WorkerAlarm alarm_of(std::string_view worker, std::uint64_t answer, const DriftFinding& finding) {
  const std::uint64_t began = answer + 1 - static_cast<std::uint64_t>(finding.answers);
  return {std::string(worker), answer, began, finding.evidence, finding.before, finding.since, 0};
}

void require_times(std::span<const CategoryAnswers> sources, std::span<const std::vector<double>> times) {
  for (std::size_t s = 0; s < times.size(); ++s) {
    if (s < sources.size() && times[s].size() == sources[s].answer_count()) continue;
    throw Error(ErrorCode::bad_input,
                fmt::format("the {} times of source {} do not fit its answers: give one for each", times[s].size(), s));
  }
}

DriftWatch StateFile::read_watch(std::string_view blob, std::int64_t worker) const {
  DriftWatch watch;
  if (blob.empty()) return watch;
  std::vector<double> fields(blob.size() / sizeof(double));
  std::memcpy(fields.data(), blob.data(), fields.size() * sizeof(double));
  if (blob.size() % sizeof(double) != 0 || !DriftWatch::from_fields(fields, watch)) {
    database_->fail_as_damaged(fmt::format("what is kept of the last answers of worker {} cannot be right", worker));
  }
  return watch;
}

std::vector<WorkerAlarm> StateFile::alarms() const {
  std::vector<WorkerAlarm> alarms;
  // A file of an older layout that may only be read has no such table.
  if (database_->integer("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'alarm')") == 0) return alarms;
  Statement all(*database_,
                "SELECT name, raised, began, evidence, accuracy_before, accuracy_since, recovered, alarm.id FROM alarm "
                "LEFT JOIN worker ON worker.id = alarm.worker ORDER BY alarm.id");
  while (all.step()) {
    const std::int64_t raised = all.integer(1), began = all.integer(2), recovered = all.integer(6);
    const bool whole = began >= 1 && raised >= began && (recovered == 0 || recovered > raised);
    const auto share = [&](int column) { return all.real(column) >= 0 && all.real(column) <= 1; };
    if (!whole || !share(4) || !share(5)) {
      database_->fail_as_damaged(fmt::format("alarm {} cannot be right", all.integer(7)));
    }
    alarms.push_back({std::string(checked_name(all.text(0), "worker")), static_cast<std::uint64_t>(raised),
                      static_cast<std::uint64_t>(began), all.real(3), all.real(4), all.real(5),
                      static_cast<std::uint64_t>(recovered)});
  }
  return alarms;
}

void StateFile::store_alarm(std::int64_t worker, const WorkerAlarm& alarm) const {
  Statement insert(*database_,
                   "INSERT INTO alarm(worker, raised, began, evidence, accuracy_before, accuracy_since, recovered) "
                   "VALUES (?, ?, ?, ?, ?, ?, 0)");
  insert.bind(1, worker).bind(2, static_cast<std::int64_t>(alarm.raised));
  insert.bind(3, static_cast<std::int64_t>(alarm.began)).bind(4, alarm.evidence);
  insert.bind(5, alarm.accuracy_before).bind(6, alarm.accuracy_since).run();
}

void StateFile::store_recovery(std::int64_t worker, std::uint64_t answer) const {
  Statement update(*database_, "UPDATE alarm SET recovered = ? WHERE worker = ? AND recovered = 0");
  update.bind(1, static_cast<std::int64_t>(answer)).bind(2, worker).run();
}

std::vector<WorkerAlarm> CrowdState::alarms() const {
  const Transaction all(inside_->file.database(), Transaction::Kind::read);
  return inside_->file.alarms();
}

}  // namespace wisecrowd
