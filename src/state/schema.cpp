#include "state/schema.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "state/state_file.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr std::int64_t kApplicationId = 0x57495345;  // "WISE", in the header of the file

// Ids are dense and start at 0. Answers lie in task order, so those of one task are neighbours. Blobs hold doubles as
// the machine has them (little-endian), row by row; those that were written when there were fewer classes are shorter.
// A new answer to a settled task writes one row of `answer` and one of `worker`, no more: hence no number of answers in
// `task`, and no index of answers by worker. Who wants the latter may make it; SQLite keeps it up to date.
constexpr const char* kTables = R"sql(
CREATE TABLE setting(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE class(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  tasks REAL NOT NULL);           -- expected number of answered tasks
CREATE TABLE worker(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  answers INTEGER NOT NULL,
  right REAL NOT NULL,            -- expected number of right answers
  counts BLOB NOT NULL);          -- truth x label: expected counts
CREATE TABLE task(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  label INTEGER NOT NULL,         -- a class
  probability REAL NOT NULL,
  entropy REAL NOT NULL,          -- in nats
  posterior BLOB NOT NULL);       -- a probability per class
CREATE TABLE answer(
  task INTEGER NOT NULL,
  worker INTEGER NOT NULL,
  turn INTEGER NOT NULL,          -- 0, or more where repeated answers count
  label INTEGER NOT NULL,
  PRIMARY KEY(task, worker, turn)) WITHOUT ROWID;
)sql";

constexpr const char* kIndices = R"sql(
CREATE UNIQUE INDEX class_by_name ON class(name);
CREATE UNIQUE INDEX worker_by_name ON worker(name);
CREATE UNIQUE INDEX task_by_name ON task(name);
)sql";

std::string uncertainty_index() {
  return fmt::format("CREATE INDEX task_by_entropy ON task(entropy) WHERE entropy >= {};", kSettledEntropy);
}

constexpr const char* kViews = R"sql(
CREATE VIEW labels AS
  SELECT task.name AS task, class.name AS label, probability, entropy,
    (SELECT count(*) FROM answer WHERE answer.task = task.id) AS answers
  FROM task LEFT JOIN class ON class.id = task.label;
CREATE VIEW workers AS
  SELECT name AS worker, answers, right / nullif(answers, 0) AS accuracy FROM worker;
CREATE VIEW answers AS
  SELECT task.name AS task, worker.name AS worker, class.name AS label
  FROM answer JOIN task ON task.id = answer.task JOIN worker ON worker.id = answer.worker
    JOIN class ON class.id = answer.label;
)sql";

// Truths that are known, by name, because they may come before any answer to the task.
constexpr const char* kGold = R"sql(
CREATE TABLE gold(
  task TEXT PRIMARY KEY,
  label INTEGER NOT NULL) WITHOUT ROWID;
)sql";

// What is kept of workers who are watched, beside their tables so that an answer writes no further page, and the
// alarms.
constexpr const char* kWatch = R"sql(
ALTER TABLE worker ADD COLUMN watch BLOB;
CREATE TABLE alarm(
  id INTEGER PRIMARY KEY,
  worker INTEGER NOT NULL,
  raised INTEGER NOT NULL,        -- at which of its answers
  began INTEGER NOT NULL,
  evidence REAL NOT NULL,
  accuracy_before REAL NOT NULL,
  accuracy_since REAL NOT NULL,
  recovered INTEGER NOT NULL);    -- at which of its answers, or 0
CREATE VIEW alarms AS
  SELECT worker.name AS worker, raised, began, evidence, accuracy_before, accuracy_since,
    nullif(recovered, 0) AS recovered
  FROM alarm JOIN worker ON worker.id = alarm.worker;
)sql";

/// Until version 2 `right` of a worker who forgets was the right part of what is remembered, and seemed small beside
/// the number of all answers.
void scale_right_answers(const Database& database) {
  Statement all(database, "SELECT id, answers, counts FROM worker ORDER BY id");
  Statement update(database, "UPDATE worker SET right = ? WHERE id = ?");
  while (all.step()) {
    const std::string_view blob = all.blob(2);
    const auto side =
        static_cast<std::size_t>(std::llround(std::sqrt(static_cast<double>(blob.size() / sizeof(double)))));
    std::vector<double> counts(side * side);
    if (side > 0 && counts.size() * sizeof(double) == blob.size()) std::memcpy(counts.data(), blob.data(), blob.size());
    const auto answers = static_cast<double>(std::max<std::int64_t>(all.integer(1), 0));
    update.bind(1, right_answers(counts, side, answers)).bind(2, all.integer(0)).run();
  }
}

/// What a database holds: "table task" and the statement that made it.
std::map<std::string, std::string> entries_of(const Database& database) {
  std::map<std::string, std::string> entries;
  Statement all(database, "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'");
  while (all.step()) {
    entries.emplace(fmt::format("{} '{}'", all.text(0), all.text(1)), all.text(2));
  }
  return entries;
}

}  // namespace

std::vector<std::string> foreign_schema(const Database& database) {
  Database fresh(":memory:", Database::Mode::memory);
  create_tables(fresh);
  migrate(fresh, 0, static_cast<int>(database.integer("PRAGMA user_version")));
  const auto ours = entries_of(fresh);
  std::vector<std::string> foreign;
  const auto found = entries_of(database);
  for (const auto& [what, sql] : found) {
    const auto known = ours.find(what);
    if (known == ours.end()) {
      if (!what.starts_with("index")) foreign.push_back(fmt::format("the {} is not of wisecrowd", what));
    } else if (known->second != sql) {
      foreign.push_back(fmt::format("the {} is not as wisecrowd makes it", what));
    }
  }
  for (const auto& [what, sql] : ours) {
    if (found.find(what) == found.end()) foreign.push_back(fmt::format("the {} is missing", what));
  }
  return foreign;
}

void create_tables(const Database& database) {
  database.run(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.run(kTables);
}

void migrate(const Database& database, int from, int to) {
  // 1: the tables and what finds names and uncertain tasks.
  if (from < 1 && to >= 1) database.run(kIndices + uncertainty_index());
  // 2: views for people.
  if (from < 2 && to >= 2) database.run(kViews);
  // 3: known truths.
  if (from < 3 && to >= 3) {
    database.run(kGold);
    if (from > 0) scale_right_answers(database);
  }
  // 4: who gets worse as answers come in.
  if (from < 4 && to >= 4) database.run(kWatch);
  database.run(fmt::format("PRAGMA user_version = {}", to));
}

int check_kind(const Database& database) {
  if (database.integer("PRAGMA application_id") != kApplicationId) {
    const bool empty = database.integer("SELECT count(*) FROM sqlite_schema") == 0;
    throw Error(ErrorCode::bad_input,
                fmt::format("{} is {}, but no state of wisecrowd: name another file, or make a state with: wisecrowd "
                            "state init",
                            database.shown(), empty ? "an empty file or database" : "a SQLite database"));
  }
  const auto version = database.integer("PRAGMA user_version");
  if (version > kSchemaVersion) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} was written by a newer wisecrowd (its layout has version {}, this program knows "
                            "versions up to {}): update wisecrowd",
                            database.shown(), version, kSchemaVersion));
  }
  if (version < 1) database.fail_as_damaged(fmt::format("its layout has version {}", version));
  return static_cast<int>(version);
}

}  // namespace wisecrowd
