#include "state/schema.hpp"

#include <fmt/format.h>

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

}  // namespace

void create_tables(const Database& database) {
  database.run(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.run(kTables);
}

void migrate(const Database& database, int from, int to) {
  // 1: the tables and what finds names and uncertain tasks.
  if (from < 1 && to >= 1) database.run(kIndices + uncertainty_index());
  // 2: views for people.
  if (from < 2 && to >= 2) database.run(kViews);
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
