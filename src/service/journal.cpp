#include "service/journal.hpp"

#include <fmt/core.h>

#include <cmath>

#include "service/log.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::service {
namespace {

constexpr std::int64_t kApplicationId = 0x5743534A;  // "WCSJ"
constexpr int kVersion = 2;
/// How long an Idempotency-Key is remembered.
constexpr std::int64_t kKeySeconds = 7 * 24 * 3600;

constexpr const char* kTables = R"sql(
CREATE TABLE IF NOT EXISTS entry(
  position INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,          -- 0 answer, 1 withdrawal, 2 gold, 3 task
  task TEXT NOT NULL,
  worker TEXT,
  label TEXT,
  time REAL NOT NULL,             -- when it was given, or came in
  seconds REAL,                   -- that the worker took
  link TEXT,
  assignment TEXT);               -- what a platform calls this piece of work
CREATE TABLE IF NOT EXISTS request(
  key TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  position INTEGER NOT NULL,
  accepted INTEGER NOT NULL,
  time INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS request_by_time ON request(time);
CREATE TABLE IF NOT EXISTS annotation(
  id INTEGER PRIMARY KEY,         -- of another program
  task TEXT NOT NULL,
  worker TEXT NOT NULL,
  label TEXT NOT NULL);           -- or nothing, where it is no answer
CREATE INDEX IF NOT EXISTS annotation_by_task ON annotation(task);
CREATE TABLE IF NOT EXISTS link(task TEXT PRIMARY KEY, link TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS revision(  -- tasks whose label a fit to all answers changed, the last time
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  task TEXT NOT NULL UNIQUE,
  position INTEGER NOT NULL);     -- of the last entry that the fit knew
CREATE TABLE IF NOT EXISTS setting(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
)sql";

Entry entry_of(const Statement& row) {
  Entry entry;
  entry.position = row.integer(0);
  entry.kind = static_cast<EntryKind>(row.integer(1));
  entry.task = row.text(2);
  entry.worker = row.text(3);
  entry.label = row.text(4);
  entry.time = row.real(5);
  if (!row.is_null(6)) entry.seconds = row.real(6);
  entry.link = row.text(7);
  entry.assignment = row.text(8);
  return entry;
}

constexpr std::string_view kEntryColumns = "position, kind, task, worker, label, time, seconds, link, assignment";

}  // namespace

Journal::Journal(std::unique_ptr<Database> database) : database_(std::move(database)) {
  const auto prepared = [&](std::string_view sql) { return std::make_unique<Statement>(*database_, sql); };
  insert_ = prepared(
      "INSERT INTO entry(kind, task, worker, label, time, seconds, link, assignment) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  find_key_ = prepared("SELECT digest, position, accepted FROM request WHERE key = ?");
  put_key_ = prepared("INSERT INTO request VALUES (?, ?, ?, ?, ?)");
  put_setting_ = prepared("INSERT OR REPLACE INTO setting VALUES (?, ?)");
  put_annotation_ = prepared("INSERT OR REPLACE INTO annotation VALUES (?, ?, ?, ?)");
  drop_annotation_ = prepared("DELETE FROM annotation WHERE id = ?");
  find_annotation_ = prepared("SELECT task, worker, label FROM annotation WHERE id = ?");
  find_other_ = prepared("SELECT label FROM annotation WHERE task = ? AND worker = ? AND label != '' ORDER BY id DESC");
  put_link_ = prepared("INSERT OR REPLACE INTO link VALUES (?, ?)");
}

Journal Journal::open(const std::string& path) {
  auto database = std::make_unique<Database>(path, Database::Mode::create);
  database->run("PRAGMA journal_mode = WAL");
  database->run("PRAGMA synchronous = FULL");
  database->run("PRAGMA wal_autocheckpoint = 0");  // see tidy()
  const auto id = database->integer("PRAGMA application_id");
  const auto version = database->integer("PRAGMA user_version");
  if ((id != 0 && id != kApplicationId) || version > kVersion) {
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{} is no journal of this wisecrowd: move it away, or use the version that wrote it", path));
  }
  if (version < kVersion) {
    Transaction all(*database, Transaction::Kind::write);
    if (version == 1) {
      database->run("ALTER TABLE entry ADD COLUMN assignment TEXT");
      database->run(fmt::format("INSERT OR REPLACE INTO setting VALUES ('{}', '1')", kRefittingSetting));
    }
    database->run(kTables);
    database->run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kVersion));
    all.commit();
  }
  return Journal(std::move(database));
}

void Journal::insert(const Entry& entry) {
  insert_->bind(1, static_cast<std::int64_t>(entry.kind)).bind(2, entry.task);
  const auto text = [&](int place, const std::string& value) {
    value.empty() ? insert_->bind_null(place) : insert_->bind(place, value);
  };
  text(3, entry.worker);
  text(4, entry.label);
  insert_->bind(5, std::isnan(entry.time) ? seconds_since_1970() : entry.time);
  std::isnan(entry.seconds) ? insert_->bind_null(6) : insert_->bind(6, entry.seconds);
  text(7, entry.link);
  text(8, entry.assignment);
  insert_->run();
  if (entry.kind == EntryKind::task && !entry.link.empty()) put_link_->bind(1, entry.task).bind(2, entry.link).run();
}

/// The answer that an annotation stood for is taken back, unless the worker has another one on the same task: then
/// that is what it says.
std::uint64_t Journal::forget(std::int64_t annotation) {
  if (!find_annotation_->bind(1, annotation).step()) return 0;
  Entry gone;
  gone.kind = EntryKind::withdrawal;
  gone.task = find_annotation_->text(0);
  gone.worker = find_annotation_->text(1);
  const bool was_answer = !find_annotation_->text(2).empty();
  find_annotation_->reset();
  drop_annotation_->bind(1, annotation).run();
  if (!was_answer) return 0;
  if (find_other_->bind(1, gone.task).bind(2, gone.worker).step()) {
    gone.kind = EntryKind::answer;
    gone.label = find_other_->text(0);
    find_other_->reset();
  }
  insert(gone);
  return 1;
}

Receipt Journal::append_one(const Batch& batch) {
  Receipt receipt;
  if (!batch.key.empty()) {
    if (find_key_->bind(1, batch.key).step()) {
      receipt.kind = find_key_->text(0) == batch.digest ? Receipt::Kind::repeated : Receipt::Kind::key_reused;
      receipt.position = find_key_->integer(1);
      receipt.accepted = static_cast<std::uint64_t>(find_key_->integer(2));
      find_key_->reset();
      return receipt;
    }
  }
  for (const Entry& entry : batch.entries) insert(entry);
  receipt.accepted = batch.entries.size();
  for (const std::int64_t id : batch.forgotten) receipt.accepted += forget(id);
  for (const Annotation& made : batch.annotations) {
    put_annotation_->bind(1, made.id).bind(2, made.task).bind(3, made.worker).bind(4, made.label).run();
  }
  for (const auto& [name, value] : batch.settings) put_setting_->bind(1, name).bind(2, value).run();
  receipt.position = last_position();
  if (!batch.key.empty()) {
    put_key_->bind(1, batch.key).bind(2, batch.digest).bind(3, receipt.position);
    put_key_->bind(4, static_cast<std::int64_t>(receipt.accepted))
        .bind(5, static_cast<std::int64_t>(seconds_since_1970()))
        .run();
  }
  return receipt;
}

std::vector<Receipt> Journal::append(const std::vector<const Batch*>& batches) {
  Transaction all(*database_, Transaction::Kind::write);
  std::vector<Receipt> receipts;
  for (const Batch* batch : batches) receipts.push_back(append_one(*batch));
  all.commit();
  return receipts;
}

std::int64_t Journal::last_position() const { return database_->integer("SELECT max(position) FROM entry"); }

std::vector<Entry> Journal::read(std::int64_t after, std::size_t limit) const {
  Statement rows(*database_,
                 fmt::format("SELECT {} FROM entry WHERE position > ? ORDER BY position LIMIT ?", kEntryColumns));
  rows.bind(1, after).bind(2, static_cast<std::int64_t>(limit));
  std::vector<Entry> entries;
  while (rows.step()) entries.push_back(entry_of(rows));
  return entries;
}

void Journal::read_all(const std::function<void(const Entry&)>& use) const {
  Statement rows(*database_, fmt::format("SELECT {} FROM entry ORDER BY position", kEntryColumns));
  while (rows.step()) use(entry_of(rows));
}

std::vector<Entry> Journal::standing(std::int64_t after, std::size_t limit) const {
  Statement rows(*database_,
                 fmt::format("SELECT {} FROM entry WHERE position IN (SELECT max(position) FROM entry WHERE kind < 2 "
                             "GROUP BY task, worker) AND kind = 0 AND position > ? ORDER BY position LIMIT ?",
                             kEntryColumns));
  rows.bind(1, after).bind(2, static_cast<std::int64_t>(limit));
  std::vector<Entry> entries;
  while (rows.step()) entries.push_back(entry_of(rows));
  return entries;
}

void Journal::store(std::string_view name, std::string_view value) { put_setting_->bind(1, name).bind(2, value).run(); }

void Journal::note_revised(std::int64_t position, const std::vector<std::string>& tasks) {
  Transaction all(*database_, Transaction::Kind::write);
  Statement put(*database_, "INSERT OR REPLACE INTO revision(task, position) VALUES (?, ?)");
  for (const std::string& task : tasks) put.bind(1, task).bind(2, position).run();
  store(kRefittingSetting, "");
  all.commit();
}

std::vector<Revision> Journal::revised(std::int64_t since, std::int64_t after, std::size_t limit) const {
  Statement rows(*database_,
                 "SELECT number, task FROM revision WHERE number > ? AND position >= ? ORDER BY number LIMIT ?");
  rows.bind(1, after).bind(2, since).bind(3, static_cast<std::int64_t>(limit));
  std::vector<Revision> found;
  while (rows.step()) found.push_back({rows.integer(0), std::string(rows.text(1))});
  return found;
}

std::optional<std::string> Journal::setting(std::string_view name) const {
  Statement find(*database_, "SELECT value FROM setting WHERE name = ?");
  if (!find.bind(1, name).step()) return std::nullopt;
  return std::string(find.text(0));
}

std::vector<std::pair<std::string, std::string>> Journal::settings(std::string_view prefix) const {
  Statement rows(*database_, "SELECT name, value FROM setting WHERE substr(name, 1, ?) = ? ORDER BY name");
  rows.bind(1, static_cast<std::int64_t>(prefix.size())).bind(2, prefix);
  std::vector<std::pair<std::string, std::string>> found;
  while (rows.step()) found.emplace_back(rows.text(0).substr(prefix.size()), rows.text(1));
  return found;
}

std::optional<Annotation> Journal::annotation(std::int64_t id) const {
  Statement find(*database_, "SELECT id, task, worker, label FROM annotation WHERE id = ?");
  if (!find.bind(1, id).step()) return std::nullopt;
  return Annotation{find.integer(0), std::string(find.text(1)), std::string(find.text(2)), std::string(find.text(3))};
}

std::vector<Annotation> Journal::annotations() const {
  Statement rows(*database_, "SELECT id, task, worker, label FROM annotation ORDER BY id");
  std::vector<Annotation> all;
  while (rows.step()) {
    all.push_back({rows.integer(0), std::string(rows.text(1)), std::string(rows.text(2)), std::string(rows.text(3))});
  }
  return all;
}

std::string Journal::link(std::string_view task) const {
  Statement find(*database_, "SELECT link FROM link WHERE task = ?");
  return find.bind(1, task).step() ? std::string(find.text(0)) : std::string();
}

void Journal::tidy() const {
  Statement old(*database_, "DELETE FROM request WHERE time < ?");
  old.bind(1, static_cast<std::int64_t>(seconds_since_1970()) - kKeySeconds).run();
  Statement checkpoint(*database_, "PRAGMA wal_checkpoint(PASSIVE)");
  checkpoint.run();
}

}  // namespace wisecrowd::service
